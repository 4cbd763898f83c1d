// Nodes: registering, heartbeats, and which waiting task goes to whom.
#include <fmt/format.h>

#include <algorithm>

#include "common/base/log.h"
#include "common/base/status.h"
#include "server/engine.h"
#include "server/probe_request.h"
#include "server/store/words.h"

namespace kernelfleet::server {
namespace {

// Added to twice the run time before the coordinator itself gives an attempt
// up: the agent enforces the run clock, this is for agents that do not.
constexpr absl::Duration kRunSlack = absl::Seconds(120);

absl::Status Superseded(const std::string& node) {
  return Error(
      absl::StatusCode::kAborted,
      fmt::format("node {} has no such session: register again", node));
}

}  // namespace

void Engine::ShowNode(const Node& node) {
  std::string state = node.state;
  if (!node.present) state = "offline";
  if (node.present && node.leaving) state = "draining";
  board_.SetNode(node.id, {.state = state,
                           .reason = node.reason,
                           .last_seen = node.last_seen_wall,
                           .held = static_cast<int>(node.fences.size())});
}

void Engine::UpdatePresence(Node& node) {
  Scheduler::Presence presence = Scheduler::Presence::kAbsent;
  if (node.present) {
    presence = node.state == "online" && !node.leaving
                   ? Scheduler::Presence::kAccepting
                   : Scheduler::Presence::kCordoned;
  }
  scheduler_.SetPresence(node.id, presence);
  nodes_changed_ = true;
  ShowNode(node);
}

void Engine::Heard(Node& node) {
  node.last_seen = clock_.Steady();
  node.last_seen_wall = clock_.Now();
  if (node.present) return ShowNode(node);
  node.present = true;
  StartTimer(node.last_seen + options_.lease, TimerKind::kNode, 0, node.id);
  UpdatePresence(node);
}

absl::Status Engine::SetNodeState(const v1::SetNodeStateRequest& request,
                                  Answer<v1::SetNodeStateResponse>* answer) {
  const auto node = nodes_.find(request.node_id());
  if (node == nodes_.end()) {
    *answer = NotFound(fmt::format("no node is called {}", request.node_id()));
    return absl::OkStatus();
  }
  node->second.state = request.state();
  node->second.reason = request.reason();
  UpdatePresence(node->second);
  *answer = v1::SetNodeStateResponse();
  return store_.SaveNodeState(node->second);
}

bool Engine::HoldsGpu(const Node& node, int gpu) const {
  return std::ranges::any_of(node.fences, [&](int64_t fence) {
    return attempts_.at(fence).gpu == gpu;
  });
}

absl::StatusOr<bool> Engine::Adopt(Node& node, const v1::HeldAttempt& held) {
  const absl::Duration until = clock_.Steady() + options_.lease;
  auto attempt = attempts_.find(held.fence());
  const auto task = tasks_.find(held.task_id());
  const bool owns = task != tasks_.end() && task->second.fence == held.fence();
  if (attempt == attempts_.end()) {
    if (!owns || task->second.state != v1::TaskState::waiting) return false;
    // Given up, but nobody has taken the task since: the work goes on.
    KF_ASSIGN_OR_RETURN(const std::optional<AttemptRow> row,
                        store_.FindAttempt(held.fence()));
    if (!row || row->node != node.id) return false;
    if (row->gpu >= 0 && HoldsGpu(node, row->gpu)) return false;
    Unqueue(task->second);
    std::erase(task->second.lost_nodes, node.id);
    KF_RETURN_IF_ERROR(store_.ReviveAttempt(task->second, node.id));
    OpenJob& job = jobs_.at(task->second.job);
    Count(job, task->second.state, -1);
    task->second.state = v1::TaskState::leased;
    Count(job, task->second.state, +1);
    KF_RETURN_IF_ERROR(Event(job, "leased", held.task_id(), node.id,
                             "the node is back and still has it"));
    attempt = attempts_
                  .emplace(held.fence(), OpenAttempt{.fence = held.fence(),
                                                     .task = held.task_id(),
                                                     .node = node.id,
                                                     .gpu = row->gpu,
                                                     .environment_hash =
                                                         row->environment_hash,
                                                     .lease_until = until})
                  .first;
    node.fences.insert(held.fence());
    StartTimer(until, TimerKind::kAttempt, held.fence());
  }
  if (attempt->second.node != node.id ||
      attempt->second.task != held.task_id()) {
    return false;
  }
  attempt->second.lease_until = until;
  if (attempt->second.orphan || !owns) return false;
  attempt->second.acknowledged = true;
  if (!held.step().empty() && task->second.step != held.step()) {
    task->second.step = held.step();
    steps_[held.fence()] = {held.task_id(), held.step()};
  }
  return true;
}

absl::Status Engine::Register(const v1::RegisterRequest& request,
                              Answer<v1::RegisterResponse>* answer) {
  const std::string& id = request.facts().node_id();
  const auto [entry, added] = nodes_.try_emplace(id);
  Node& node = entry->second;
  if (added) {
    node.id = id;
    node.state = "online";
  }
  node.session = ++last_.session;
  node.leaving = false;
  node.facts = request.facts();
  KF_RETURN_IF_ERROR(store_.SaveNode(node, clock_.Now()));
  scheduler_.SetNode(id, node.facts);
  Heard(node);
  UpdatePresence(node);
  v1::RegisterResponse response;
  response.set_session(node.session);
  response.set_heartbeat_s(absl::ToDoubleSeconds(options_.heartbeat));
  response.set_lease_s(absl::ToDoubleSeconds(options_.lease));
  std::set<int64_t> kept;
  for (const v1::HeldAttempt& held : request.held()) {
    KF_ASSIGN_OR_RETURN(const bool keep, Adopt(node, held));
    if (keep) response.add_keep_fences(held.fence());
    kept.insert(held.fence());
  }
  // What it held and no longer names died with the agent before it.
  const std::set<int64_t> fences = node.fences;
  for (const int64_t fence : fences) {
    if (kept.contains(fence)) continue;
    KF_RETURN_IF_ERROR(
        Lose(fence, Loss::kNode,
             fmt::format("node {} restarted and no longer has it", id)));
  }
  *answer = response;
  return absl::OkStatus();
}

absl::Status Engine::Heartbeat(const v1::HeartbeatRequest& request,
                               Answer<v1::HeartbeatResponse>* answer) {
  const auto entry = nodes_.find(request.node_id());
  if (entry == nodes_.end() || entry->second.session != request.session()) {
    *answer = Superseded(request.node_id());
    return absl::OkStatus();
  }
  Node& node = entry->second;
  if (node.leaving != request.draining()) {
    node.leaving = request.draining();
    UpdatePresence(node);
  }
  Heard(node);
  v1::HeartbeatResponse response;
  for (const v1::HeldAttempt& held : request.held()) {
    KF_ASSIGN_OR_RETURN(const bool keep, Adopt(node, held));
    if (!keep) response.add_cancel_fences(held.fence());
  }
  *answer = response;
  return absl::OkStatus();
}

void Engine::Park(uint64_t call, v1::LeaseRequest request, LeaseDone done) {
  absl::Duration wait = absl::Seconds(std::max(0.0, request.wait_s()));
  wait = std::min(wait, options_.longest_poll);
  const absl::Duration until = clock_.Steady() + wait;
  ParkedLease lease{.call = call,
                    .request = std::move(request),
                    .done = std::move(done),
                    .until = until,
                    .status = {},
                    .response = {}};
  const auto node = nodes_.find(lease.request.node_id());
  if (node == nodes_.end() || node->second.session != lease.request.session()) {
    lease.status = Superseded(lease.request.node_id());
    answered_.push_back(std::move(lease));
    return;
  }
  Heard(node->second);
  parked_.push_back(std::move(lease));
}

void Engine::CancelParked(uint64_t call) {
  const auto lease = std::ranges::find(parked_, call, &ParkedLease::call);
  if (lease == parked_.end()) return;
  lease->status = absl::CancelledError("the caller went away");
  answered_.splice(answered_.end(), parked_, lease);
}

void Engine::StopLeasing() { leasing_ = false; }

bool Engine::Admits(const std::string& node, int64_t id) {
  const OpenTask& task = tasks_.at(id);
  if (std::ranges::find(task.avoid, node) == task.avoid.end()) return true;
  return clock_.Steady() >= task.patience ||
         !scheduler_.FitsElsewhere(task.needs, task.avoid);
}

absl::Status Engine::PlaceWork() {
  bool granted = leasing_;
  // One task for each lease in turn, so that the first does not take all.
  while (granted && scheduler_.ready() > 0) {
    granted = false;
    for (ParkedLease& lease : parked_) {
      KF_RETURN_IF_ERROR(Serve(lease, &granted));
    }
  }
  const absl::Duration now = clock_.Steady();
  for (auto lease = parked_.begin(); lease != parked_.end();) {
    const auto each = lease++;
    if (!leasing_ || each->until <= now || !each->status.ok() ||
        !each->response.tasks().empty()) {
      answered_.splice(answered_.end(), parked_, each);
    }
  }
  return absl::OkStatus();
}

absl::Status Engine::Serve(ParkedLease& lease, bool* granted) {
  Node& node = nodes_[lease.request.node_id()];
  if (node.session != lease.request.session()) {
    lease.status = Superseded(node.id);
    return absl::OkStatus();
  }
  int slots = lease.request.slots();
  for (const v1::LeasedTask& each : lease.response.tasks()) {
    slots -= each.gpu() < 0;
  }
  std::vector<int> gpus;
  for (const int gpu : lease.request.free_gpus()) {
    if (!HoldsGpu(node, gpu)) gpus.push_back(gpu);
  }
  const auto pick =
      scheduler_.Take(node.id, slots > 0, gpus,
                      [&](int64_t task) { return Admits(node.id, task); });
  if (!pick) return absl::OkStatus();
  *granted = true;
  return Grant(lease, node, *pick);
}

absl::Status Engine::Grant(ParkedLease& lease, Node& node,
                           const Scheduler::Pick& pick) {
  OpenTask& task = tasks_.at(pick.task);
  OpenJob& job = jobs_.at(task.job);
  task.queued = false;
  const v1::Environment environment = *pick.environment;
  if (!task.content_key.empty() && !job.no_cache &&
      stored_keys_[KeyBit(task.content_key)]) {
    // The same work may have been finished since this task was planned.
    KF_ASSIGN_OR_RETURN(const std::vector<Store::CacheHit> hits,
                        store_.FindCache(task.content_key));
    for (const Store::CacheHit& hit : hits) {
      if (hit.environment_hash != environment.hash()) continue;
      return EndFromCache(task, hit);
    }
  }
  const absl::Time now = clock_.Now();
  const absl::Duration steady = clock_.Steady();
  OpenAttempt attempt{.fence = ++last_.fence,
                      .task = task.id,
                      .node = node.id,
                      .gpu = pick.gpu,
                      .environment_hash = environment.hash(),
                      .lease_until = steady + options_.lease};
  if (job.limits.run_s() > 0) {
    attempt.run_until =
        steady + 2 * absl::Seconds(job.limits.run_s()) + kRunSlack;
  }
  const v1::Gpu* gpu = nullptr;
  for (const v1::Gpu& each : node.facts.gpus()) {
    if (each.index() == pick.gpu) gpu = &each;
  }
  task.fence = attempt.fence;
  ++task.attempts;
  task.step.clear();
  Count(job, task.state, -1);
  task.state = v1::TaskState::leased;
  Count(job, task.state, +1);
  KF_RETURN_IF_ERROR(store_.SetLeased(task, node.id, now));
  KF_RETURN_IF_ERROR(
      store_.InsertAttempt(attempt, node.session, environment, gpu, now));
  KF_RETURN_IF_ERROR(Event(job, "leased", task.id, node.id,
                           fmt::format("attempt {}", task.attempts)));
  v1::LeasedTask* leased = lease.response.add_tasks();
  leased->set_fence(attempt.fence);
  leased->set_environment(environment.name());
  leased->set_gpu(pick.gpu);
  StartTimer(attempt.lease_until, TimerKind::kAttempt, attempt.fence);
  node.fences.insert(attempt.fence);
  attempts_.emplace(attempt.fence, std::move(attempt));
  ShowNode(node);
  return FillLease(leased, job, task);
}

absl::Status Engine::FillLease(v1::LeasedTask* leased, const OpenJob& job,
                               const OpenTask& task) {
  leased->set_task_id(task.id);
  leased->set_job_id(job.summary.job_id());
  KF_ASSIGN_OR_RETURN(*leased->mutable_spec(), store_.LoadTaskSpec(task.id));
  v1::KernelSpec loaded;
  if (!job.spec) {
    KF_ASSIGN_OR_RETURN(loaded, store_.LoadKernel(task.job, task.kernel));
  }
  const v1::KernelSpec& kernel =
      job.spec ? job.spec->kernels(task.kernel) : loaded;
  *leased->mutable_request() = MakeProbeRequest(kernel, leased->spec());
  *leased->mutable_request()->mutable_limits() = job.limits;
  leased->set_module_digest(kernel.module_digest());
  *leased->mutable_limits() = job.limits;
  return absl::OkStatus();
}

}  // namespace kernelfleet::server
