// Which operations CUDA Tile IR lacks, by toolchain version.
#ifndef KERNELFLEET_COMMON_KERNEL_TILEIR_SUPPORT_H_
#define KERNELFLEET_COMMON_KERNEL_TILEIR_SUPPORT_H_

#include "kernelfleet/v1/kernel.pb.h"

namespace kernelfleet::kernel {

// Lists the operations of `kernel` that some toolchain version refuses.
void AddUnsupported(const v1::JitFunction& kernel, v1::Classification& out);

}  // namespace kernelfleet::kernel

#endif  // KERNELFLEET_COMMON_KERNEL_TILEIR_SUPPORT_H_
