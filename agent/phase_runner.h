// Runs one phase in a process of its own: a seam, so that the worker is tested
// without Python.
#ifndef KERNELFLEET_AGENT_PHASE_RUNNER_H_
#define KERNELFLEET_AGENT_PHASE_RUNNER_H_

#include <cstdint>
#include <map>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace kernelfleet::agent {

struct PhaseRun {
  // Unique among the runs in flight.
  std::string id;
  // Holds request.json and module.py; the runner leaves result.json,
  // artifacts, stdout.txt and stderr.txt there.
  std::string directory;
  // The Python interpreter whose packages the phase sees.
  std::string python;
  // "cuda:sm_90": what the runner warms up for.
  std::string target;
  // Set before Triton is imported; one warm process serves one set of them.
  std::map<std::string, std::string> toggles;
  // For this run only: which devices it sees.
  std::map<std::string, std::string> environment;
  absl::Duration timeout = absl::Seconds(60);
  // 0: no limit.
  int64_t output_bytes = 0;
  int64_t memory_bytes = 0;
  int64_t file_bytes = 0;
};

// How the process ended. Nothing here is an error of ours.
struct PhaseEnd {
  // -1 when a signal ended it.
  int exit_status = -1;
  int signal = 0;
  bool timed_out = false;
  bool cancelled = false;
  bool output_truncated = false;
  int64_t peak_rss_bytes = 0;
  absl::Duration wall;
};

// Thread-safe; runs in flight do not disturb each other.
class PhaseRunner {
 public:
  virtual ~PhaseRunner() = default;

  // Blocks until the process and everything that it started is gone. A stop
  // request ends it early: TERM, a grace time, KILL. Errors: UNAVAILABLE, no
  // process could be started or its supervisor died.
  virtual absl::StatusOr<PhaseEnd> Run(const PhaseRun& run,
                                       std::stop_token stop) = 0;
};

}  // namespace kernelfleet::agent

#endif  // KERNELFLEET_AGENT_PHASE_RUNNER_H_
