#include "common/isa/scan.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/isa/dialects.h"
#include "common/isa/meaning.h"
#include "common/isa/text_lines.h"

namespace kernelfleet::isa {
namespace {

enum class Marker { kNothing, kPtx, kSass, kAmdgcn, kLlvm, kMlir };

struct MarkerText {
  std::string_view text;
  Marker marker;
  // Must the line begin with it, or may it stand anywhere?
  bool anywhere = false;
};

// What the first telling line of each kind of file looks like: LLVM's NVPTX
// and AMDGPU back ends, nvdisasm 13, cuobjdump 13, llvm-objdump 14; LLVM IR
// and MLIR, which stand beside them in a Triton cache.
constexpr MarkerText kMarkers[] = {
    {"; ModuleID", Marker::kLlvm},
    {"source_filename =", Marker::kLlvm},
    {"target triple =", Marker::kLlvm},
    {"target datalayout =", Marker::kLlvm},
    {"define ", Marker::kLlvm},
    {"module {", Marker::kMlir},
    {"module attributes", Marker::kMlir},
    {"tt.func", Marker::kMlir},
    {"#loc", Marker::kMlir},
    {".amdgcn_target", Marker::kAmdgcn},
    {".amdhsa_", Marker::kAmdgcn},
    {".amdgpu_", Marker::kAmdgcn},
    {"amdhsa.", Marker::kAmdgcn},
    {"file format elf64-amdgpu", Marker::kAmdgcn, true},
    {"code for sm_", Marker::kSass},
    {"Function :", Marker::kSass},
    {".headerflags", Marker::kSass},
    {".elftype", Marker::kSass},
    {".section\t.text.", Marker::kSass},
    {"arch = sm_", Marker::kSass},
    {".address_size", Marker::kPtx},
    {".visible .entry", Marker::kPtx},
    {".entry", Marker::kPtx},
    {".visible .func", Marker::kPtx},
    {".reg .", Marker::kPtx},
    {"ld.param.", Marker::kPtx},
};

Marker MarkerOf(std::string_view line) {
  for (const MarkerText& marker : kMarkers) {
    if (line.starts_with(marker.text) ||
        (marker.anywhere && line.find(marker.text) != line.npos)) {
      return marker.marker;
    }
  }
  return Marker::kNothing;
}

// "/*0010*/  LDC …": an address, then an instruction in capitals.
bool LooksLikeSass(std::string_view line) {
  if (!line.starts_with("/*") || line.size() < 8) return false;
  const size_t end = line.find("*/");
  if (end == line.npos || end > 20) return false;
  line = SkipBlanks(line.substr(end + 2));
  return !line.empty() &&
         (line[0] == '@' || (line[0] >= 'A' && line[0] <= 'Z'));
}

// A bare listing without any header.
Marker InstructionMarker(std::string_view line) {
  if (LooksLikeSass(line)) return Marker::kSass;
  for (std::string_view prefix :
       {"s_waitcnt", "s_load_", "s_endpgm", "s_mov_b", "v_mov_b32", "buffer_",
        "global_load_", "global_store_", "ds_read", "ds_write"}) {
    if (line.starts_with(prefix)) return Marker::kAmdgcn;
  }
  return Marker::kNothing;
}

// A header may stand behind a log; past this many bytes there is none.
constexpr size_t kHeaderBytes = size_t{1} << 20;

Marker FirstMarker(std::string_view text) {
  text = text.substr(0, kHeaderBytes);
  Marker bare = Marker::kNothing;
  while (!text.empty()) {
    const std::string_view line = SkipBlanks(TakeLine(text));
    const Marker marker = MarkerOf(line);
    if (marker != Marker::kNothing) return marker;
    if (bare == Marker::kNothing) bare = InstructionMarker(line);
  }
  return bare;
}

// Why the text is no machine code, in one sentence; empty: it may be.
std::string NotText(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == text.npos) {
    return "the file is empty";
  }
  if (text.starts_with("\x7f"
                       "ELF")) {
    return "this is an object file, not its text: disassemble it first "
           "(cuobjdump -sass, nvdisasm, llvm-objdump -d)";
  }
  if (text.find('\0') != text.npos) {
    return "the file is binary: expected PTX, SASS or AMD assembly as text";
  }
  return "";
}

bool Calls(const v1::IsaKernel& kernel) {
  for (const v1::FamilyCount& family : kernel.families()) {
    if (family.family() == NameOf(Family::kCall)) return true;
  }
  return false;
}

// Whose instructions are counted where.
void NoteCalls(v1::IsaReport& report) {
  for (v1::IsaKernel& kernel : *report.mutable_kernels()) {
    if (!Calls(kernel)) continue;
    kernel.add_notes(
        report.functions().empty()
            ? "calls routines: those inside its own section are counted with "
              "it"
            : "calls device functions: they are counted apart, not here");
  }
}

}  // namespace

Dialect DetectDialect(std::string_view text) {
  switch (FirstMarker(text)) {
    case Marker::kPtx:
      return Dialect::kPtx;
    case Marker::kSass:
      return Dialect::kSass;
    case Marker::kAmdgcn:
      return Dialect::kAmdgcn;
    case Marker::kLlvm:
    case Marker::kMlir:
    case Marker::kNothing:
      return Dialect::kUnknown;
  }
  return Dialect::kUnknown;
}

v1::IsaReport Scan(std::string_view file_name, std::string_view text) {
  v1::IsaReport report;
  report.set_file(Printable(file_name));
  if (const std::string problem = NotText(text); !problem.empty()) {
    report.add_problems(problem);
    return report;
  }
  switch (FirstMarker(text)) {
    case Marker::kPtx:
      ReadPtx(text, report);
      break;
    case Marker::kSass:
      ReadSass(text, report);
      break;
    case Marker::kAmdgcn:
      ReadAmdgcn(text, report);
      break;
    case Marker::kLlvm:
      report.add_problems("this is LLVM IR, not machine code: nothing counted");
      return report;
    case Marker::kMlir:
      report.add_problems("this is MLIR, not machine code: nothing counted");
      return report;
    case Marker::kNothing:
      report.add_problems(
          "this is neither PTX, SASS nor AMD assembly: nothing counted");
      return report;
  }
  NoteCalls(report);
  if (report.kernels().empty() && report.problems().empty()) {
    report.add_problems("the text holds no kernel");
  }
  return report;
}

absl::StatusOr<v1::IsaReport> OnlyKernel(v1::IsaReport report,
                                         std::string_view symbol) {
  std::vector<std::string> found;
  google::protobuf::RepeatedPtrField<v1::IsaKernel> kept;
  for (v1::IsaKernel& kernel : *report.mutable_kernels()) {
    if (kernel.symbol() == symbol) {
      kept.Add(std::move(kernel));
    } else {
      found.push_back(Printable(kernel.symbol()));
    }
  }
  if (kept.empty()) {
    return NotFound(fmt::format(
        "no kernel '{}' in {}; it holds {}", Printable(symbol), report.file(),
        found.empty() ? "none" : Shorten(Join(found, ", "), 400)));
  }
  report.mutable_kernels()->Swap(&kept);
  return report;
}

}  // namespace kernelfleet::isa
