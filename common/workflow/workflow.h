// What a job does next: pure functions from everything known so far to the
// next tasks or the decisions. The coordinator asks after each accepted result
// and keeps no rule of its own.
//
//   Plan first = Next(job, 0, {});        // the tasks to start with
//   Plan later = Next(job, 0, records);   // more tasks, decisions, or nothing
//
// Deterministic: the same job and records give the same plan, so a coordinator
// that crashed between storing a result and storing its plan asks again.
#ifndef KERNELFLEET_COMMON_WORKFLOW_WORKFLOW_H_
#define KERNELFLEET_COMMON_WORKFLOW_WORKFLOW_H_

#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kernelfleet/v1/job.pb.h"

namespace kernelfleet::workflow {

// A kernel has one decision for each rule and target at most.
struct Plan {
  std::vector<v1::TaskSpec> tasks;
  std::vector<v1::Decision> decisions;
};

// What to do next for one kernel of a valid job, given all tasks of that
// kernel so far (empty at first). An empty plan means: wait for open tasks, or,
// when none is open and decisions were given before, finished.
Plan Next(const v1::JobSpec& job, int kernel,
          std::span<const v1::TaskRecord> records);

// INVALID_ARGUMENT with one sentence for a job that no coordinator should
// store: unknown workflow or target, impossible types or options, names that
// are no identifiers, text that is not UTF-8, sizes past the limits.
absl::Status ValidateJob(const v1::JobSpec& job);

// The same for one kernel's case, for the CLI's own messages.
absl::Status ValidateCase(const v1::CompileCase& compile_case);

// INVALID_ARGUMENT unless `type` is one of Triton's: "*fp16", "i32", "fp32",
// "tensordesc<fp16[64,64]>".
absl::Status ValidateType(std::string_view type);

// True for a Triton element type by Triton's short name: "fp16", "i32".
bool IsElementType(std::string_view name);

// Names of the workflows, for help and completion.
std::vector<std::string> WorkflowNames();

// True when nothing more will happen to the task.
bool IsFinal(v1::TaskState::Name state);

// Targets that a kernel is compiled for: its own, else the job's.
const google::protobuf::RepeatedPtrField<v1::Target>& TargetsOf(
    const v1::JobSpec& job, const v1::KernelSpec& kernel);

}  // namespace kernelfleet::workflow

#endif  // KERNELFLEET_COMMON_WORKFLOW_WORKFLOW_H_
