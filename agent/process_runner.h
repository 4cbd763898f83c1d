// Runs phases in kernelfleet-runner processes: warm ones where that works, one
// process per attempt where it does not.
#ifndef KERNELFLEET_AGENT_PROCESS_RUNNER_H_
#define KERNELFLEET_AGENT_PROCESS_RUNNER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "agent/phase_runner.h"
#include "agent/zygote.h"
#include "common/base/mutex.h"

namespace kernelfleet::agent {

struct RunnerOptions {
  // kernelfleet-runner.
  std::string program;
  // Warm processes kept at once, unless more are busy. Each holds an imported
  // Triton: 140 MB resident, 24 MB of it its own (Triton 3.9, one backend).
  int warm_processes = 4;
  absl::Duration idle_limit = absl::Minutes(5);
  absl::Duration grace = absl::Seconds(2);
  absl::Duration start_limit = absl::Seconds(120);
  // Where a warm process could not start, attempts run alone for this long
  // before it is tried again.
  absl::Duration retry_warm_after = absl::Minutes(2);
};

class ProcessRunner final : public PhaseRunner {
 public:
  explicit ProcessRunner(RunnerOptions options);
  ~ProcessRunner() override;

  absl::StatusOr<PhaseEnd> Run(const PhaseRun& run,
                               std::stop_token stop) override;

  // Without a warm process: `kernelfleet-runner --attempt`.
  absl::StatusOr<PhaseEnd> RunAlone(const PhaseRun& run, std::stop_token stop);

 private:
  struct Warm {
    std::shared_ptr<Zygote> zygote;
    int64_t used = 0;
  };
  // Null: run alone.
  std::shared_ptr<Zygote> ZygoteFor(const PhaseRun& run);
  void Evict(std::vector<std::shared_ptr<Zygote>>& out)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const RunnerOptions options_;
  Mutex mutex_;
  std::map<std::string, Warm> warm_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, absl::Duration> cold_until_ ABSL_GUARDED_BY(mutex_);
  int64_t uses_ ABSL_GUARDED_BY(mutex_) = 0;
};

// What a runner may know of the agent's environment: where programs, libraries
// and devices are, not what else the agent was told.
std::map<std::string, std::string> RunnerEnvironment();

}  // namespace kernelfleet::agent

#endif  // KERNELFLEET_AGENT_PROCESS_RUNNER_H_
