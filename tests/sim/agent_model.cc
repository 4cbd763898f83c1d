#include "tests/sim/agent_model.h"

#include <fmt/format.h>

#include "common/base/hash.h"
#include "common/base/status.h"

namespace kernelfleet::server {
namespace {

constexpr int kSlots = 3;

v1::TaskResult ResultOf(const v1::LeasedTask& task, const std::string& blob) {
  v1::TaskResult result;
  v1::ProbeResult& probe = *result.mutable_probe();
  // The same for every attempt of the same content.
  const bool fails = task.request().entry().ends_with("3") &&
                     task.spec().target().backend() == "hip";
  probe.set_outcome(task.spec().phase() == v1::Phase::verify
                        ? v1::Outcome::completed
                    : fails ? v1::Outcome::compile_error
                            : v1::Outcome::compiled);
  probe.set_total_ms(static_cast<double>(task.fence()));
  v1::Artifact& artifact = *probe.add_artifacts();
  artifact.set_name("kernel.ptx");
  artifact.set_digest(blob);
  return result;
}

}  // namespace

AgentModel::AgentModel(World& world, int number)
    : world_(world), id_(fmt::format("node{}", number)), number_(number) {}

void AgentModel::Later(absl::Duration delay, std::function<void()> what) {
  world_.After(delay, [this, life = life_, what = std::move(what)] {
    if (life == life_) what();
  });
}

v1::NodeFacts AgentModel::Facts() const {
  v1::NodeFacts facts;
  facts.set_node_id(id_);
  facts.set_compile_slots(kSlots);
  v1::Environment& environment = *facts.add_environments();
  environment.set_name("base");
  environment.set_hash(number_ % 2 ? "odd" : "even");
  const auto add = [&](const char* backend, const char* arch, bool runs) {
    v1::TargetCapability& each = *environment.add_targets();
    each.mutable_target()->set_backend(backend);
    each.mutable_target()->set_arch(arch);
    each.set_compiles(true);
    each.set_runs(runs);
  };
  add("cuda", "sm_90", number_ < 2);
  add("hip", "gfx942", false);
  if (number_ < 2) {
    v1::Gpu& gpu = *facts.add_gpus();
    gpu.set_index(0);
    gpu.set_arch("sm_90");
  }
  return facts;
}

void AgentModel::Start() {
  Register();
  Later(world_.Between(absl::Seconds(1), absl::Seconds(6)), [this] { Beat(); });
}

void AgentModel::Die() {
  ++life_;
  held_.clear();
  registered_ = registering_ = leasing_ = false;
  world_.After(world_.Between(absl::Milliseconds(100), absl::Seconds(50)),
               [this, life = life_] {
                 if (life == life_) Start();
               });
}

std::vector<v1::HeldAttempt> AgentModel::HeldNow() const {
  std::vector<v1::HeldAttempt> held;
  for (const auto& [fence, work] : held_) {
    v1::HeldAttempt& each = held.emplace_back();
    each.set_task_id(work.task.task_id());
    each.set_fence(fence);
    each.set_step(work.finished ? "uploading" : "running");
  }
  return held;
}

void AgentModel::Register() {
  if (registering_) return;
  registering_ = true;
  registered_ = false;
  v1::RegisterRequest request;
  *request.mutable_facts() = Facts();
  const std::vector<v1::HeldAttempt> held = HeldNow();
  request.mutable_held()->Assign(held.begin(), held.end());
  world_.Send<v1::RegisterResponse>(
      absl::Seconds(10),
      [request](Coordinator& server, auto done) {
        server.Register(request, done);
      },
      Mine<v1::RegisterResponse>([this, held](const auto& answer) {
        registering_ = false;
        if (!answer.ok()) {
          Later(world_.Between(absl::Milliseconds(100), absl::Seconds(5)),
                [this] { Register(); });
          return;
        }
        registered_ = true;
        session_ = answer->session();
        const std::set<int64_t> keep(answer->keep_fences().begin(),
                                     answer->keep_fences().end());
        for (const v1::HeldAttempt& each : held) {
          if (!keep.contains(each.fence())) Cancel(each.fence());
        }
        Lease();
      }));
}

void AgentModel::Beat() {
  Later(absl::Seconds(5), [this] { Beat(); });
  if (!registered_) return;
  v1::HeartbeatRequest request;
  request.set_node_id(id_);
  request.set_session(session_);
  const std::vector<v1::HeldAttempt> held = HeldNow();
  request.mutable_held()->Assign(held.begin(), held.end());
  world_.Send<v1::HeartbeatResponse>(
      absl::Seconds(5),
      [request](Coordinator& server, auto done) {
        server.Heartbeat(request, done);
      },
      Mine<v1::HeartbeatResponse>([this](const auto& answer) {
        if (answer.ok()) {
          for (const int64_t fence : answer->cancel_fences()) Cancel(fence);
        } else if (answer.status().code() == absl::StatusCode::kAborted) {
          Register();
        }
      }));
}

void AgentModel::Lease() {
  if (leasing_ || !registered_) return;
  int compiling = 0;
  bool gpu = number_ < 2;
  for (const auto& [fence, work] : held_) {
    compiling += work.task.gpu() < 0;
    gpu = gpu && work.task.gpu() < 0;
  }
  v1::LeaseRequest request;
  request.set_node_id(id_);
  request.set_session(session_);
  request.set_slots(kSlots - compiling);
  if (gpu) request.add_free_gpus(0);
  if (request.slots() == 0 && !gpu) return;
  request.set_wait_s(10);
  leasing_ = true;
  world_.Send<v1::LeaseResponse>(
      absl::Seconds(15),
      [request](Coordinator& server, auto done) {
        server.Lease(request, done);
      },
      Mine<v1::LeaseResponse>([this](const auto& answer) {
        leasing_ = false;
        if (answer.ok()) {
          for (const v1::LeasedTask& each : answer->tasks()) Begin(each);
          Lease();
        } else if (answer.status().code() == absl::StatusCode::kAborted) {
          Register();
        } else {
          Later(world_.Between(absl::Milliseconds(100), absl::Seconds(3)),
                [this] { Lease(); });
        }
      }));
}

void AgentModel::Begin(const v1::LeasedTask& task) {
  const int64_t fence = task.fence();
  held_[fence].task = task;
  const std::string holder = fmt::format("{} task {}", id_, task.task_id());
  const auto [entry, first] = world_.fence_holders.try_emplace(fence, holder);
  if (!first) {
    world_.trouble.push_back(fmt::format("I4: fence {} was given to {} and {}",
                                         fence, entry->second, holder));
  }
  if (task.gpu() >= 0) {
    int users = 0;
    for (const auto& [other, work] : held_) users += work.task.gpu() >= 0;
    if (users > 1) {
      world_.trouble.push_back(
          fmt::format("I4: {} runs two tasks on its GPU", id_));
    }
  }
  const bool poison = task.request().entry().starts_with("poison");
  if (poison || world_.Chance(world_.weather.agent_death)) {
    Later(world_.Between(absl::Milliseconds(1), absl::Seconds(8)),
          [this] { Die(); });
    return;
  }
  if (world_.Chance(0.03)) {
    held_[fence].infra = v1::InfraFailure::runner_unavailable;
  }
  Later(world_.Between(absl::Milliseconds(5), absl::Seconds(15)),
        [this, fence] { Finish(fence); });
}

void AgentModel::Finish(int64_t fence) {
  const auto work = held_.find(fence);
  if (work == held_.end()) return;
  work->second.finished = true;
  Report(fence);
}

void AgentModel::Cancel(int64_t fence) {
  const auto work = held_.find(fence);
  // A finished one is on its way already: its answer settles it.
  if (work == held_.end() || work->second.finished) return;
  work->second.infra = v1::InfraFailure::cancelled;
  Finish(fence);
}

void AgentModel::Report(int64_t fence) {
  const auto work = held_.find(fence);
  if (work == held_.end()) return;
  v1::CompleteRequest request;
  request.set_node_id(id_);
  request.set_session(session_);
  request.set_task_id(work->second.task.task_id());
  request.set_fence(fence);
  request.set_infra(work->second.infra);
  if (work->second.infra == v1::InfraFailure::none) {
    const std::string blob = DigestOf(fmt::format("ptx of {}", fence));
    world_.blobs.insert(blob);
    *request.mutable_result() = ResultOf(work->second.task, blob);
  }
  world_.Send<v1::CompleteResponse>(
      absl::Seconds(10),
      [request](Coordinator& server, auto done) {
        server.Complete(request, done);
      },
      Mine<v1::CompleteResponse>([this, fence, request](const auto& answer) {
        const bool settled = answer.ok() || answer.status().code() ==
                                                absl::StatusCode::kNotFound;
        if (!settled) {
          Later(world_.Between(absl::Milliseconds(100), absl::Seconds(4)),
                [this, fence] { Report(fence); });
          return;
        }
        if (answer.ok() && answer->accepted() &&
            request.infra() == v1::InfraFailure::none) {
          accepted_[fence] = request.task_id();
        }
        held_.erase(fence);
        Lease();
      }));
}

}  // namespace kernelfleet::server
