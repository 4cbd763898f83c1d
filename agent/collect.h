// What an attempt left behind, read as the work of an untrusted process: names,
// sizes, counts and numbers are checked, links are refused, text is cut to
// size. Whatever the folder holds, a well-formed result comes out.
#ifndef KERNELFLEET_AGENT_COLLECT_H_
#define KERNELFLEET_AGENT_COLLECT_H_

#include <cstdint>
#include <string>

#include "agent/phase_runner.h"
#include "kernelfleet/v1/job.pb.h"

namespace kernelfleet::agent {

struct CollectLimits {
  int64_t artifact_bytes = 64 << 20;
  int64_t total_bytes = 256 << 20;
  int artifacts = 64;
  // Of result.json.
  int64_t result_bytes = 4 << 20;
  // Of the message that is sent; the server takes 1 MiB a call.
  int64_t message_bytes = 900 << 10;
};

// Reads `work`/result.json and the artifacts that it names, gives each its
// digest, and counts instructions in the texts of machine code. A missing or
// broken result.json becomes the finding that fits `end`; `last_words` (the
// end of the log) goes with it. Blocking: reads every artifact once.
v1::TaskResult CollectResult(const std::string& work, const PhaseEnd& end,
                             const std::string& last_words,
                             const CollectLimits& limits);

// A file name that an artifact may have: one component of letters, digits,
// '.', '_' and '-', not hidden, not a file of the contract itself.
bool IsArtifactName(const std::string& name);

}  // namespace kernelfleet::agent

#endif  // KERNELFLEET_AGENT_COLLECT_H_
