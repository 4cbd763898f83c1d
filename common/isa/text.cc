// Counts as text: names in each machine's own words, and the whole report.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "common/base/strings.h"
#include "common/isa/scan.h"
#include "common/isa/spelling.h"

namespace kernelfleet::isa {
namespace {

// gfx11 and later count bits, the others dwords.
bool NamesBits(std::string_view arch) {
  return arch.size() == 7 && arch.starts_with("gfx1") && arch[4] >= '1';
}

std::string AmdWidth(int bytes, bool bits) {
  if (bytes == 0) return "";
  if (bits) return fmt::format("_b{}", bytes * 8);
  switch (bytes) {
    case 1:
      return "_byte";
    case 2:
      return "_short";
    case 4:
      return "_dword";
    default:
      return fmt::format("_dwordx{}", bytes / 4);
  }
}

std::string AmdName(const v1::IsaKernel& kernel,
                    const v1::MemoryCount& memory) {
  const bool bits = NamesBits(kernel.arch());
  std::string_view space = memory.space();
  if (space == "shared") space = "ds";
  if (space == "kernarg") space = "s";
  if (space == "constant") space = "s";
  std::string name = fmt::format("{}_{}{}", space, memory.direction(),
                                 AmdWidth(memory.bytes(), bits));
  if (space == "ds" && memory.bytes() > 0) {
    name = fmt::format("ds_{}_b{}", memory.direction(), memory.bytes() * 8);
  }
  if (memory.d16()) name += "_d16";
  if (memory.to_lds()) name += " lds";
  if (memory.space() == "kernarg") name += " (arguments)";
  // Before gfx94x spills are buffer instructions; the word says what they do.
  if (memory.spill()) name += " (spill)";
  return name;
}

struct NvidiaName {
  std::string_view space;
  std::string_view direction;
  std::string_view sass;
  std::string_view ptx;
};
constexpr NvidiaName kNvidiaNames[] = {
    {"global", "load", "LDG", "ld.global"},
    {"global", "store", "STG", "st.global"},
    {"global", "atomic", "ATOMG", "atom.global"},
    {"global", "async_copy", "LDGSTS", "cp.async"},
    {"shared", "load", "LDS", "ld.shared"},
    {"shared", "store", "STS", "st.shared"},
    {"shared", "atomic", "ATOMS", "atom.shared"},
    {"cluster_shared", "async_copy", "STAS", "st.async"},
    {"cluster_shared", "load", "LD", "ld.shared::cluster"},
    {"cluster_shared", "store", "ST", "st.shared::cluster"},
    {"cluster_shared", "atomic", "ATOM", "atom.shared::cluster"},
    {"local", "load", "LDL", "ld.local"},
    {"local", "store", "STL", "st.local"},
    {"generic", "load", "LD", "ld"},
    {"generic", "store", "ST", "st"},
    {"generic", "atomic", "ATOM", "atom"},
    {"constant", "load", "LDC", "ld.const"},
    {"kernarg", "load", "LDC (arguments)", "ld.param"},
    {"tensor_memory", "load", "LDTM", "tcgen05.ld"},
    {"tensor_memory", "store", "STTM", "tcgen05.st"},
    {"tensor_memory", "async_copy", "UTCCP", "tcgen05.cp"},
};

std::string NvidiaSpelling(bool sass, const v1::MemoryCount& memory) {
  std::string name = fmt::format("{} {}", memory.space(), memory.direction());
  for (const NvidiaName& known : kNvidiaNames) {
    if (known.space == memory.space() &&
        known.direction == memory.direction()) {
      name = sass ? known.sass : known.ptx;
    }
  }
  if (memory.bytes() == 0) return name;
  return fmt::format("{} {} B", name, memory.bytes());
}

std::string Resources(const v1::Resources& r) {
  std::string text;
  const auto add = [&](bool has, std::string_view name, int value) {
    if (has)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
  };
  add(r.has_registers(), "registers", r.registers());
  add(r.has_agprs() && r.agprs() > 0, "accumulators", r.agprs());
  add(r.has_sgprs(), "scalar registers", r.sgprs());
  add(r.has_vgpr_spills(), "spilled registers", r.vgpr_spills());
  add(r.has_stack_bytes(), "stack bytes", r.stack_bytes());
  add(r.has_scratch_bytes(), "scratch bytes", r.scratch_bytes());
  add(r.has_shared_bytes(), "static shared bytes", r.shared_bytes());
  add(r.has_occupancy_waves(), "waves", r.occupancy_waves());
  return text;
}

void AddKernel(const v1::IsaKernel& kernel, std::string_view kind,
               std::string& text) {
  const v1::IsaSummary& s = kernel.summary();
  text += fmt::format("{} {} ({}{}{}): {} instructions, {} loops\n", kind,
                      Printable(kernel.symbol()), kernel.dialect(),
                      kernel.arch().empty() ? "" : " ",
                      Printable(kernel.arch()), s.instructions(), s.loops());
  if (const std::string words = Resources(kernel.resources()); !words.empty()) {
    text += fmt::format("  {}\n", words);
  }
  for (const v1::MemoryCount& memory : kernel.memory()) {
    text +=
        fmt::format("  {:<32} {:>6}  in loops {:>6}\n", Spell(kernel, memory),
                    memory.count(), memory.in_loops());
  }
  for (const v1::FamilyCount& family : kernel.families()) {
    text += fmt::format("  {:<32} {:>6}  in loops {:>6}\n", family.family(),
                        family.count(), family.in_loops());
  }
  for (const std::string& note : kernel.notes()) {
    text += fmt::format("  note: {}\n", note);
  }
}

}  // namespace

std::string Spell(const v1::IsaKernel& kernel, const v1::MemoryCount& memory) {
  if (kernel.dialect() == "amdgcn") return AmdName(kernel, memory);
  return NvidiaSpelling(kernel.dialect() == "sass", memory);
}

std::string ToText(const v1::IsaReport& report) {
  std::string text = fmt::format("{}\n", report.file());
  for (const v1::IsaKernel& kernel : report.kernels()) {
    AddKernel(kernel, "kernel", text);
  }
  for (const v1::IsaKernel& function : report.functions()) {
    AddKernel(function, "device function", text);
  }
  for (const std::string& problem : report.problems()) {
    text += fmt::format("problem: {}\n", problem);
  }
  return text;
}

}  // namespace kernelfleet::isa
