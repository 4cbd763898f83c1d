// What the data flow shows about the kind of a kernel.
#ifndef KERNELFLEET_COMMON_KERNEL_EVIDENCE_H_
#define KERNELFLEET_COMMON_KERNEL_EVIDENCE_H_

#include "common/kernel/flow.h"
#include "common/kernel/lanes.h"
#include "kernelfleet/v1/kernel.pb.h"

namespace kernelfleet::kernel {

// Looks at what reaches a store, an atomic, or, in a function without either,
// a return.
//
// A *norm* is a reduction that meets its own row again: the stored value is
// made, lane by lane, both of the reduction R and of a value V such that R was
// computed from V's memory, V varies over an index that R was reduced over, and
// so does what is stored.
v1::Evidence FindEvidence(const SourceFile& source, const Flow& flow,
                          const Lanes& lanes);

}  // namespace kernelfleet::kernel

#endif  // KERNELFLEET_COMMON_KERNEL_EVIDENCE_H_
