// What a finished compile probe says, read in one place for rules and reports.
#ifndef KERNELFLEET_COMMON_WORKFLOW_PROBE_FACTS_H_
#define KERNELFLEET_COMMON_WORKFLOW_PROBE_FACTS_H_

#include <string>

#include "kernelfleet/v1/job.pb.h"

namespace kernelfleet::workflow {

// True when the attempt ended and its result says what happened.
bool HasResult(const v1::TaskRecord& record);

bool Compiled(const v1::TaskRecord& record);

// The code nearest to the hardware for the kernel's own symbol: SASS or AMDGCN
// before PTX. Null when none was read.
const v1::IsaKernel* MachineCode(const v1::TaskRecord& record);

// What the probe reported, completed by what the machine code's text states.
v1::Resources ResourcesOf(const v1::TaskRecord& record);

// Bytes spilled, or on AMD registers spilled; 0 when the tools say none or
// nothing.
int64_t SpillsOf(const v1::Resources& resources);

// Tensor traffic to and from global memory by instruction family; spills and
// kernel-argument loads are not counted.
struct GlobalAccess {
  int buffer_loads = 0;
  int buffer_stores = 0;
  // Global and flat instructions.
  int global_loads = 0;
  int global_stores = 0;
  int widest_load_bytes = 0;
  int widest_store_bytes = 0;

  int buffer() const { return buffer_loads + buffer_stores; }
  int global() const { return global_loads + global_stores; }
  bool operator==(const GlobalAccess&) const = default;
};
GlobalAccess GlobalAccessOf(const v1::IsaKernel& code);

// "vector_add.py:12:5", or empty when the tools named no line.
std::string PlaceOf(const v1::KernelSpec& kernel, const v1::Failure& failure);

// First line of the tool's message, printable and short.
std::string CauseOf(const v1::Failure& failure);

}  // namespace kernelfleet::workflow

#endif  // KERNELFLEET_COMMON_WORKFLOW_PROBE_FACTS_H_
