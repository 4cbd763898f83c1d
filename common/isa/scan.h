// What machine code does, from its text: PTX, SASS (as nvdisasm or cuobjdump
// print it) and AMD assembly (compiler output or a disassembler's, with
// Hygon's own instructions). Every instruction is reduced to one vocabulary
// (common/isa/meaning.h), counted per kernel symbol, once in all and once
// inside the natural loops of the control-flow graph. Counts are static: how
// often an instruction stands in the code, not how often it runs.
//
// Pure and thread-safe: no state outlives a call. Time is linear in the text
// (n log n in its labels), whatever the text is.
//
//   v1::IsaReport report = isa::Scan("k.amdgcn", text);
//   for (const v1::IsaKernel& kernel : report.kernels()) …
#ifndef KERNELFLEET_COMMON_ISA_SCAN_H_
#define KERNELFLEET_COMMON_ISA_SCAN_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "kernelfleet/v1/isa.pb.h"

namespace kernelfleet::isa {

enum class Dialect { kUnknown, kPtx, kSass, kAmdgcn };

// The dialect by the first line that only one of them writes.
Dialect DetectDialect(std::string_view text);

// Never fails: text that is empty, binary, cut off or not machine code gives a
// report whose `problems` say so. `file_name` only labels the report.
v1::IsaReport Scan(std::string_view file_name, std::string_view text);

// The report with that kernel alone. NOT_FOUND names the symbols there are.
absl::StatusOr<v1::IsaReport> OnlyKernel(v1::IsaReport report,
                                         std::string_view symbol);

// Resources in the tools' own words; fields that the text does not state stay
// absent, and nothing is set when it does not speak of `symbol`. An empty
// symbol takes the first kernel.
// `ptxas -v`: registers, spills, stack, shared, barriers.
v1::Resources ReadPtxasLog(std::string_view text, std::string_view symbol);
// `cuobjdump -res-usage`: registers, stack, shared, local.
v1::Resources ReadResUsage(std::string_view text, std::string_view symbol);
// AMD metadata, `.amdhsa_` directives and the compiler's closing comments,
// from assembly text or from the notes that `readelf -n` prints.
v1::Resources ReadAmdMetadata(std::string_view text, std::string_view symbol);

// What changed between two builds of a kernel: matrix and memory families,
// spills, registers.
v1::IsaDifference Compare(const v1::IsaKernel& before,
                          const v1::IsaKernel& after);

// The report for a terminal or a log; every symbol is printable.
std::string ToText(const v1::IsaReport& report);

}  // namespace kernelfleet::isa

#endif  // KERNELFLEET_COMMON_ISA_SCAN_H_
