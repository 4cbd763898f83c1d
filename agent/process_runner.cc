#include "agent/process_runner.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/log.h"
#include "common/base/status.h"
#include "common/base/subprocess.h"

namespace kernelfleet::agent {
namespace {

constexpr absl::Duration kPoll = absl::Milliseconds(50);
// What the runner needs beyond the attempt's own limit: its start.
constexpr absl::Duration kOverrun = absl::Seconds(30);

constexpr std::string_view kNames[] = {
    "PATH",        "HOME",          "USER",
    "LANG",        "TMPDIR",        "TZ",
    "CC",          "CXX",           "LD_LIBRARY_PATH",
    "VIRTUAL_ENV", "XDG_CACHE_HOME"};
constexpr std::string_view kPrefixes[] = {
    "LC_",  "CUDA", "NVIDIA_", "TRITON_", "ROCM_", "ROCR_", "HIP_",
    "HSA_", "AMD",  "DTK",     "HYHAL",   "GPU_",  "TORCH_"};

bool MayKnow(std::string_view name) {
  return std::find(std::begin(kNames), std::end(kNames), name) !=
             std::end(kNames) ||
         std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view p) { return name.starts_with(p); });
}

// One warm process per Python, backend and set of toggles. Architectures share
// one: what is warmed up belongs to the backend.
std::string KeyOf(const PhaseRun& run) {
  std::string key = run.python;
  key += '\0' + run.target.substr(0, run.target.find(':'));
  for (const auto& [name, value] : run.toggles) {
    key += '\0' + name + '=' + value;
  }
  return key;
}

ProcessOptions ProcessFor(const RunnerOptions& options, const PhaseRun& run) {
  ProcessOptions process;
  process.argv = {options.program};
  process.clear_environment = true;
  process.environment = RunnerEnvironment();
  for (const auto& [name, value] : run.toggles) {
    process.environment[name] = value;
  }
  return process;
}

}  // namespace

std::map<std::string, std::string> RunnerEnvironment() {
  std::map<std::string, std::string> out;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = text.substr(0, equals);
    if (MayKnow(name)) out[std::string(name)] = text.substr(equals + 1);
  }
  return out;
}

ProcessRunner::ProcessRunner(RunnerOptions options)
    : options_(std::move(options)) {}

ProcessRunner::~ProcessRunner() = default;

absl::StatusOr<PhaseEnd> ProcessRunner::Run(const PhaseRun& run,
                                            std::stop_token stop) {
  // A process may stop for idleness just as we choose it: choose again.
  for (int tries = 0; tries < 3; ++tries) {
    const std::shared_ptr<Zygote> zygote = ZygoteFor(run);
    if (!zygote) break;
    absl::StatusOr<PhaseEnd> end = zygote->Run(run, stop);
    if (absl::IsAborted(end.status())) continue;
    if (!absl::IsFailedPrecondition(end.status())) return end;
    LogWarning("no warm runner", {{"error", Text(end.status())}});
    MutexLock lock(mutex_);
    cold_until_[KeyOf(run)] = RealClock().Steady() + options_.retry_warm_after;
    break;
  }
  return RunAlone(run, stop);
}

std::shared_ptr<Zygote> ProcessRunner::ZygoteFor(const PhaseRun& run) {
  const std::string key = KeyOf(run);
  // Ended outside the lock: that may take a while.
  std::vector<std::shared_ptr<Zygote>> ended;
  MutexLock lock(mutex_);
  const auto cold = cold_until_.find(key);
  if (cold != cold_until_.end()) {
    if (RealClock().Steady() < cold->second) return nullptr;
    cold_until_.erase(cold);
  }
  Warm& warm = warm_[key];
  warm.used = ++uses_;
  if (warm.zygote && warm.zygote->alive()) return warm.zygote;
  if (warm.zygote) ended.push_back(std::move(warm.zygote));
  ZygoteOptions options;
  options.process = ProcessFor(options_, run);
  for (const char* argument : {"--zygote", "--python"}) {
    options.process.argv.push_back(argument);
  }
  options.process.argv.push_back(run.python);
  if (!run.target.empty()) {
    options.process.argv.push_back("--warm");
    options.process.argv.push_back(run.target);
  }
  options.start_limit = options_.start_limit;
  options.idle_limit = options_.idle_limit;
  options.grace = options_.grace;
  warm.zygote = std::make_shared<Zygote>(std::move(options));
  std::shared_ptr<Zygote> chosen = warm.zygote;
  Evict(ended);
  return chosen;
}

// Drops the least recently used idle processes beyond the limit, and the dead.
void ProcessRunner::Evict(std::vector<std::shared_ptr<Zygote>>& out) {
  for (auto it = warm_.begin(); it != warm_.end();) {
    if (it->second.zygote->alive()) {
      ++it;
      continue;
    }
    out.push_back(std::move(it->second.zygote));
    it = warm_.erase(it);
  }
  while (static_cast<int>(warm_.size()) > options_.warm_processes) {
    auto oldest = warm_.end();
    for (auto it = warm_.begin(); it != warm_.end(); ++it) {
      // The one just made has no run yet; it is the newest anyway.
      if (it->second.used == uses_ || it->second.zygote->running() > 0) {
        continue;
      }
      if (oldest == warm_.end() || it->second.used < oldest->second.used) {
        oldest = it;
      }
    }
    if (oldest == warm_.end()) return;
    out.push_back(std::move(oldest->second.zygote));
    warm_.erase(oldest);
  }
}

absl::StatusOr<PhaseEnd> ProcessRunner::RunAlone(const PhaseRun& run,
                                                 std::stop_token stop) {
  ProcessOptions options = ProcessFor(options_, run);
  for (const auto& [name, value] : run.environment) {
    options.environment[name] = value;
  }
  options.argv = {options_.program, "--attempt", run.directory, "--python",
                  run.python};
  absl::StatusOr<Process> process = Process::Start(options, Process::Streams());
  if (!process.ok()) return Unavailable(Text(process.status()));
  const absl::Duration began = RealClock().Steady();
  const absl::Duration deadline = began + run.timeout + kOverrun;
  PhaseEnd end;
  std::optional<ProcessResult> result;
  while (!result && !stop.stop_requested() && RealClock().Steady() < deadline) {
    result = process->Wait(kPoll);
  }
  if (!result) {
    end.cancelled = stop.stop_requested();
    end.timed_out = !end.cancelled;
    process->Signal(SIGTERM);
    result = process->Wait(options_.grace);
  }
  if (!result) {
    process->Signal(SIGKILL);
    result = process->Wait(absl::InfiniteDuration());
  }
  end.exit_status = result->exit_status;
  end.signal = result->signal;
  end.wall = RealClock().Steady() - began;
  return end;
}

}  // namespace kernelfleet::agent
