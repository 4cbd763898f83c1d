// Whether a target really runs here: a tiny kernel is compiled by the runner,
// launched by the meter in a process of its own, and its output compared.
#ifndef KERNELFLEET_AGENT_RUN_PROOF_H_
#define KERNELFLEET_AGENT_RUN_PROOF_H_

#include <string>

#include "absl/status/status.h"
#include "agent/process_runner.h"
#include "kernelfleet/v1/node.pb.h"

namespace kernelfleet::agent {

struct RunProof {
  std::string python;
  v1::Target target;
  v1::Gpu gpu;
  // kernelfleet-meter.
  std::string meter;
  // Made, used and removed.
  std::string directory;
};

// OK: the kernel ran and copied its input. Else why not, in the tools' own
// words. Blocking, a few seconds; a driver that hangs costs a minute.
absl::Status ProveRuns(const RunProof& proof, ProcessRunner& runner);

// What the process may see so that it uses this GPU and no other; for null,
// none. UUIDs keep their meaning where indexes do not.
std::map<std::string, std::string> VisibleDevices(const v1::Gpu* gpu);

}  // namespace kernelfleet::agent

#endif  // KERNELFLEET_AGENT_RUN_PROOF_H_
