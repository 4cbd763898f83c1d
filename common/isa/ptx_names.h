// From a PTX operation with its modifiers to its meaning.
#ifndef KERNELFLEET_COMMON_ISA_PTX_NAMES_H_
#define KERNELFLEET_COMMON_ISA_PTX_NAMES_H_

#include <string_view>

#include "common/isa/meaning.h"

namespace kernelfleet::isa {

// "ld.global.nc.v4.b32". What no rule names is arithmetic: counted as an
// instruction, nothing more.
Meaning ClassifyPtx(std::string_view operation);

}  // namespace kernelfleet::isa

#endif  // KERNELFLEET_COMMON_ISA_PTX_NAMES_H_
