#include "common/kernel/tileir_support.h"

#include <string_view>

namespace kernelfleet::kernel {
namespace {

struct Gap {
  // As Operation::name and Access::operation spell it; "*" at the end stands
  // for any rest.
  std::string_view operation;
  std::string_view since;
  // The first version that takes it; empty: none yet.
  std::string_view until;
  std::string_view instead;
};

// Sources: triton-lang/Triton-to-tile-IR at commit 50ec1da0 (CUDA 13.1: the
// skip list of its tests, the converter's patterns) and its README of September
// 2026 (13.4).
constexpr Gap kGaps[] = {
    {"make_block_ptr", "13.1", "",
     "tl.make_tensor_descriptor, or plain pointers where a descriptor is not "
     "eligible"},
    {"inline_asm_elementwise", "13.1", "",
     "the tl function that computes the same"},
    {"erf", "13.1", "", "a polynomial or tanh approximation"},
    {"libdevice.erf*", "13.1", "", "a polynomial or tanh approximation"},
    {"libdevice.*", "13.1", "",
     "tl.exp, tl.log, tl.sqrt, tl.sin, tl.cos, tl.fma …; only some libdevice "
     "functions are mapped"},
    {"histogram", "13.1", "", "atomic adds to a table in memory"},
    {"gather", "13.1", "13.4",
     "a load with computed offsets; slow on large tiles even where it "
     "compiles"},
    {"dot_scaled", "13.1", "13.3",
     "scale the operands before tl.dot; mixed types and single-scale FP4 stay "
     "unsupported"},
    {"map_elementwise", "13.1", "13.4", "tl.where over both results"},
    {"atomic_cas", "13.1", "13.4",
     "32-bit atomic_cas; 16-bit floats stay unsupported"},
    {"descriptor.gather", "13.1", "13.3", "tl.load with computed pointers"},
    {"descriptor.scatter", "13.1", "13.3", "tl.store with computed pointers"},
    {"descriptor.atomic_add", "13.1", "13.3", "tl.atomic_add on pointers"},
    {"descriptor.atomic_m*", "13.1", "", "tl.atomic_max / atomic_min"},
    {"device_print", "13.1", "13.2", "remove it"},
    {"debug_barrier", "13.1", "", "remove it; tiles have no barriers"},
    {"globaltimer", "13.1", "", "remove it"},
    {"smid", "13.1", "", "remove it"},
};

bool Matches(std::string_view pattern, std::string_view name) {
  if (pattern.ends_with('*')) {
    return name.starts_with(pattern.substr(0, pattern.size() - 1));
  }
  return name == pattern;
}

void AddIfLacking(std::string_view name, int line, v1::Classification& out) {
  for (const Gap& gap : kGaps) {
    if (!Matches(gap.operation, name)) continue;
    auto* lacking = out.add_unsupported();
    lacking->set_operation(std::string(name));
    lacking->set_line(line);
    lacking->set_since(std::string(gap.since));
    lacking->set_until(std::string(gap.until));
    lacking->set_instead(std::string(gap.instead));
    return;
  }
}

}  // namespace

void AddUnsupported(const v1::JitFunction& kernel, v1::Classification& out) {
  for (const v1::Operation& operation : kernel.operations()) {
    AddIfLacking(operation.name(), operation.line(), out);
  }
  for (const v1::Access& access : kernel.accesses()) {
    AddIfLacking(access.operation(), access.line(), out);
  }
}

}  // namespace kernelfleet::kernel
