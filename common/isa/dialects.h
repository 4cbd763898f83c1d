// The three readers behind Scan(). Each appends the kernels of `text` and what
// stood in the way of reading them.
#ifndef KERNELFLEET_COMMON_ISA_DIALECTS_H_
#define KERNELFLEET_COMMON_ISA_DIALECTS_H_

#include <string_view>

#include "kernelfleet/v1/isa.pb.h"

namespace kernelfleet::isa {

void ReadPtx(std::string_view text, v1::IsaReport& report);
void ReadSass(std::string_view text, v1::IsaReport& report);
void ReadAmdgcn(std::string_view text, v1::IsaReport& report);

}  // namespace kernelfleet::isa

#endif  // KERNELFLEET_COMMON_ISA_DIALECTS_H_
