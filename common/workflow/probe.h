// The probe workflow: compile each kernel for each target, read what came out,
// and say what it means. Private to this folder.
#ifndef KERNELFLEET_COMMON_WORKFLOW_PROBE_H_
#define KERNELFLEET_COMMON_WORKFLOW_PROBE_H_

#include <span>
#include <string>
#include <vector>

#include "common/workflow/workflow.h"

namespace kernelfleet::workflow {

Plan NextProbe(const v1::JobSpec& job, int kernel,
               std::span<const v1::TaskRecord> records);

// The builds of one kernel for one target. Without a toggle there is one arm,
// `plain`; with it, `off` and `on`. Absent arms are null.
struct ProbeArms {
  v1::Target target;
  const v1::TaskRecord* plain = nullptr;
  const v1::TaskRecord* off = nullptr;
  const v1::TaskRecord* on = nullptr;

  std::vector<const v1::TaskRecord*> all() const;
};

// Applies the table of rules to finished arms, in the order of the table.
std::vector<v1::Decision> DecideProbe(const v1::KernelSpec& kernel,
                                      int kernel_index,
                                      const std::vector<ProbeArms>& targets);

}  // namespace kernelfleet::workflow

#endif  // KERNELFLEET_COMMON_WORKFLOW_PROBE_H_
