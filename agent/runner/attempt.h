// What the parts of the runner say to each other about one attempt.
#ifndef KERNELFLEET_AGENT_RUNNER_ATTEMPT_H_
#define KERNELFLEET_AGENT_RUNNER_ATTEMPT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json.h"

namespace kernelfleet::runner {

// What to run, and what it may take.
struct AttemptSpec {
  std::string id;
  // Absolute path of the attempt directory.
  std::string dir;
  // From the start of the attempt to TERM; KILL follows after `grace_s`.
  double run_s = 600;
  double grace_s = 1;
  // stdout and stderr together; what is beyond is read and dropped.
  int64_t output_bytes = 1 << 20;
  // Address space; 0: no limit. CUDA reserves huge ranges: for compiles only.
  int64_t memory_bytes = 0;
  // One file.
  int64_t file_bytes = 256 << 20;
  std::vector<std::pair<std::string, std::string>> environment;
};

// From a `run` command of the zygote's protocol.
AttemptSpec SpecFromCommand(const Json& command);

// From DIR/request.json; nothing if there is no such file or it is no JSON.
std::optional<AttemptSpec> SpecFromRequest(const std::string& dir);

// How it ended. Resources are the worker's own, not its children's.
struct AttemptEnd {
  // -1 when a signal ended it.
  int exit_status = -1;
  int signal = 0;
  bool timed_out = false;
  bool cancelled = false;
  bool output_truncated = false;
  // Killed for having more than kMaxProcesses at once.
  bool process_limit = false;
  int64_t peak_rss_bytes = 0;
  double wall_ms = 0;
  // Where the phase was when it ended: "ptx".
  std::string stage;
};

// Far above what a compile needs (one ptxas at a time), far below what would
// slow the node down.
inline constexpr size_t kMaxProcesses = 128;

std::string EndedEvent(const std::string& id, const AttemptEnd& end);

// Sees to it that DIR/result.json tells how the attempt ended: a result that a
// worker wrote before it ended well stays; anything else becomes `crashed`,
// `timed_out`, `limit_exceeded` or `invalid_result`, with the last words of
// stderr.txt. False: nothing could be written.
bool SettleResult(const AttemptSpec& spec, const AttemptEnd& end);

}  // namespace kernelfleet::runner

#endif  // KERNELFLEET_AGENT_RUNNER_ATTEMPT_H_
