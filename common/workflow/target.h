// Targets by name: `cuda:sm_100`, `hip:gfx942`, `hcu:gfx938`, `tileir:sm_100`.
//
// The table behind this only tells a possible name from a typing error. Which
// targets a node compiles or runs is proved by that node's probes.
#ifndef KERNELFLEET_COMMON_WORKFLOW_TARGET_H_
#define KERNELFLEET_COMMON_WORKFLOW_TARGET_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernelfleet/v1/case.pb.h"

namespace kernelfleet::workflow {

// "cuda:sm_100".
std::string TargetName(const v1::Target& target);

// INVALID_ARGUMENT for anything that no Triton backend could mean, with the
// nearest known name where there is one.
absl::StatusOr<v1::Target> ParseTarget(std::string_view name);

// Architectures worth offering in help and completion, newest first.
std::vector<std::string> WellKnownTargets();

// True for backends whose compiler has the buffer-operation toggle.
bool HasBufferOps(const v1::Target& target);

// The variable that the backend reads for it, in `0` or `1`.
std::string_view BufferOpsVariable(const v1::Target& target);

}  // namespace kernelfleet::workflow

#endif  // KERNELFLEET_COMMON_WORKFLOW_TARGET_H_
