#include "tests/sim/world.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/base/check.h"
#include "common/base/log.h"
#include "common/base/status.h"

namespace kernelfleet::server {

World::World(uint64_t seed)
    : random_(seed), server_random_(seed ^ 0x5eed5eed5eed5eedu) {
  weather.drop = random_.Uniform() * 0.2;
  weather.duplicate = random_.Uniform() * 0.2;
  weather.slow = random_.Uniform() * 0.2;
  weather.agent_death = random_.Uniform() * 0.05;
  weather.server_life = absl::Seconds(10 + 110 * random_.Uniform());
  Open();
}

void World::After(absl::Duration delay, std::function<void()> what) {
  events_.push({now() + delay, ++order_, std::move(what)});
}

bool World::Run(absl::Duration until, const std::function<bool()>& done) {
  while (!events_.empty() && now() <= until) {
    if (done()) return true;
    Event event = events_.top();
    events_.pop();
    if (event.at > now()) clock_.Advance(event.at - now());
    event.what();
  }
  return done();
}

absl::Duration World::Delay() {
  return Chance(weather.slow)
             ? Between(absl::Milliseconds(10), absl::Seconds(20))
             : Between(absl::Microseconds(100), absl::Milliseconds(30));
}

void World::Open() {
  CoordinatorOptions options;
  options.data_dir = folder_ / std::to_string(generation_);
  options.next = [this](const v1::JobSpec& job, int kernel,
                        std::span<const v1::TaskRecord> records) {
    return Next(job, kernel, records);
  };
  options.has_blob = [this](const std::string& digest) {
    return blobs.contains(digest);
  };
  options.before_commit = [this] {
    if (std::exchange(kill_before_commit_, false)) DieHere();
  };
  options.durability = Durability::kOff;
  options.writer = WriterMode::kManual;
  options.readers = 1;
  auto opened = Coordinator::Open(options, clock_, server_random_);
  if (!opened.ok()) {
    LogError("the coordinator does not open",
             {{"error", Text(opened.status())}});
  }
  KF_CHECK(opened.ok());
  server_ = *std::move(opened);
}

void World::Pump() {
  absl::Duration wait;
  int turns = 0;
  do {
    if (!up()) return;
    KF_CHECK(++turns < 100'000);  // It never rests.
    wait = server_->Turn();
    if (died_in_transaction_) {
      ++deaths_;
      server_.reset();
      died_in_transaction_ = false;
      After(Between(absl::Milliseconds(10), absl::Seconds(20)),
            [this] { Restart(); });
      return;
    }
  } while (wait <= absl::ZeroDuration());
  // Not before a while has passed, or rounding would spin.
  const absl::Duration at = now() + std::max(wait, absl::Milliseconds(1));
  if (at >= wake_at_ && wake_at_ > now()) return;
  if (at == absl::InfiniteDuration()) return;
  wake_at_ = at;
  After(at - now(), [this, at] {
    // An earlier wake-up has taken its place.
    if (wake_at_ != at) return;
    wake_at_ = absl::InfiniteDuration();
    Pump();
  });
}

void World::CopyFolder() {
  const std::string from = folder_ / std::to_string(generation_);
  const std::string to = folder_ / std::to_string(++generation_);
  // Without the shared-memory file: it does not outlive a machine.
  std::filesystem::create_directories(to);
  for (const char* name : {"kernelfleet.db", "kernelfleet.db-wal"}) {
    std::error_code absent;
    std::filesystem::copy_file(from + "/" + name, to + "/" + name, absent);
  }
  if (std::filesystem::exists(from + "/logs")) {
    std::filesystem::copy(from + "/logs", to + "/logs",
                          std::filesystem::copy_options::recursive);
  }
}

void World::DieHere() {
  if (died_in_transaction_) return;
  died_in_transaction_ = true;
  CopyFolder();
}

void World::Kill() {
  if (!up()) return;
  // The files as they are at this moment are all that is left.
  CopyFolder();
  ++deaths_;
  server_.reset();
  After(Between(absl::Milliseconds(10), absl::Seconds(20)),
        [this] { Restart(); });
}

void World::Restart() {
  if (up()) return;
  wake_at_ = absl::InfiniteDuration();
  Open();
  Pump();
}

// Two targets first; a kernel that compiles for the first is then verified on
// a GPU; the end is a decision. "poison" kernels kill the agent that runs them.
Plan World::Next(const v1::JobSpec& job, int kernel,
                 std::span<const v1::TaskRecord> records) {
  if (std::exchange(kill_in_transaction_, false)) DieHere();
  Plan plan;
  const auto add = [&](const char* backend, const char* arch,
                       v1::Phase::Name phase) {
    v1::TaskSpec& task = plan.tasks.emplace_back();
    task.set_phase(phase);
    task.mutable_target()->set_backend(backend);
    task.mutable_target()->set_arch(arch);
    task.set_needs_gpu(phase == v1::Phase::verify);
    task.set_deterministic(phase == v1::Phase::compile_probe);
  };
  if (records.empty()) {
    add("cuda", "sm_90", v1::Phase::compile_probe);
    add("hip", "gfx942", v1::Phase::compile_probe);
    return plan;
  }
  for (const v1::TaskRecord& record : records) {
    if (record.state() < v1::TaskState::done) return plan;
  }
  if (records.size() == 2 &&
      records[0].result().probe().outcome() == v1::Outcome::compiled &&
      !job.kernels(kernel).name().starts_with("poison")) {
    add("cuda", "sm_90", v1::Phase::verify);
    return plan;
  }
  v1::Decision& decision = plan.decisions.emplace_back();
  decision.set_rule("sim.ended");
  decision.set_verdict("ended");
  decision.set_text(fmt::format("{} tasks", records.size()));
  return plan;
}

}  // namespace kernelfleet::server
