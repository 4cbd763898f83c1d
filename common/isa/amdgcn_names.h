// From an AMD mnemonic to its meaning; operands are the reader's business.
#ifndef KERNELFLEET_COMMON_ISA_AMDGCN_NAMES_H_
#define KERNELFLEET_COMMON_ISA_AMDGCN_NAMES_H_

#include <string_view>

#include "common/isa/meaning.h"

namespace kernelfleet::isa {

// kUnknownInstruction for what no rule of amdgcn_table.h fits.
Meaning ClassifyAmdgcn(std::string_view mnemonic);

}  // namespace kernelfleet::isa

#endif  // KERNELFLEET_COMMON_ISA_AMDGCN_NAMES_H_
