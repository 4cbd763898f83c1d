// Counts back into the words that a reader of that machine's code knows.
#ifndef KERNELFLEET_COMMON_ISA_SPELLING_H_
#define KERNELFLEET_COMMON_ISA_SPELLING_H_

#include <string>

#include "kernelfleet/v1/isa.pb.h"

namespace kernelfleet::isa {

// "buffer_load_dwordx4" (GFX9), "buffer_load_b128" (gfx11 and later),
// "LDG.128", "ld.global 16 B": what such an instruction is called there, not
// how any one of them was spelled.
std::string Spell(const v1::IsaKernel& kernel, const v1::MemoryCount& memory);

}  // namespace kernelfleet::isa

#endif  // KERNELFLEET_COMMON_ISA_SPELLING_H_
