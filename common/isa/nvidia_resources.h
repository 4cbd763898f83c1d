// One line of cuobjdump's resource usage.
#ifndef KERNELFLEET_COMMON_ISA_NVIDIA_RESOURCES_H_
#define KERNELFLEET_COMMON_ISA_NVIDIA_RESOURCES_H_

#include <string_view>

#include "kernelfleet/v1/probe.pb.h"

namespace kernelfleet::isa {

// "REG:26 STACK:0 SHARED:0 LOCAL:0 CONSTANT[0]:576 TEXTURE:0 …"
v1::Resources ReadUsageLine(std::string_view line);

}  // namespace kernelfleet::isa

#endif  // KERNELFLEET_COMMON_ISA_NVIDIA_RESOURCES_H_
