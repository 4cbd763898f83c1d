// From a SASS mnemonic with its modifiers to its meaning.
#ifndef KERNELFLEET_COMMON_ISA_SASS_NAMES_H_
#define KERNELFLEET_COMMON_ISA_SASS_NAMES_H_

#include <string_view>

#include "common/isa/meaning.h"

namespace kernelfleet::isa {

// "LDG.E.128.CONSTANT". What no rule names is arithmetic.
Meaning ClassifySass(std::string_view mnemonic);

}  // namespace kernelfleet::isa

#endif  // KERNELFLEET_COMMON_ISA_SASS_NAMES_H_
