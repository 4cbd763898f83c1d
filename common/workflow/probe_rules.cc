// The rules of the probe workflow. Each looks at the finished builds of one
// kernel for one target and either says one sentence or nothing; the tables
// at the end give their ids, verdicts and order.
#include "common/workflow/probe_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "common/base/strings.h"
#include "common/workflow/probe_facts.h"
#include "common/workflow/target.h"

namespace kernelfleet::workflow {
namespace {

using Inputs = std::map<std::string, std::string>;

std::string Count(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

bool HasBothToggles(const Subject& s) {
  return s.arms.off != nullptr && s.arms.on != nullptr &&
         Compiled(*s.arms.off) && Compiled(*s.arms.on);
}

struct Toggle {
  GlobalAccess off;
  GlobalAccess on;
};

// Both arms compiled and their machine code was read.
std::optional<Toggle> ToggleOf(const Subject& s) {
  if (!HasBothToggles(s)) return {};
  const v1::IsaKernel* off = MachineCode(*s.arms.off);
  const v1::IsaKernel* on = MachineCode(*s.arms.on);
  if (off == nullptr || on == nullptr) return {};
  return Toggle{GlobalAccessOf(*off), GlobalAccessOf(*on)};
}

Inputs ToggleInputs(const Toggle& toggle) {
  return {{"buffer_off", std::to_string(toggle.off.buffer())},
          {"buffer_on", std::to_string(toggle.on.buffer())},
          {"global_off", std::to_string(toggle.off.global())},
          {"global_on", std::to_string(toggle.on.global())},
          {"widest_load_off", std::to_string(toggle.off.widest_load_bytes)},
          {"widest_load_on", std::to_string(toggle.on.widest_load_bytes)}};
}

// Names of the pointer arguments that lack a property.
template <typename Lacks>
std::vector<std::string> PointersThat(const v1::CompileCase& compile_case,
                                      Lacks lacks) {
  std::vector<std::string> names;
  for (const v1::KernelArg& arg : compile_case.args()) {
    if (arg.type().starts_with('*') && lacks(arg)) names.push_back(arg.name());
  }
  return names;
}

const v1::CompileCase& CaseOf(const Subject& s, const v1::TaskRecord& record) {
  if (record.spec().has_case_()) return record.spec().case_();
  const int used = record.result().probe().alternative();
  return used > 0 && used <= s.kernel.alternatives_size()
             ? s.kernel.alternatives(used - 1)
             : s.kernel.case_();
}

bool HasPointers(const Subject& s) {
  return !PointersThat(CaseOf(s, *s.arms.on), [](const v1::KernelArg&) {
            return true;
          }).empty();
}

std::vector<std::string> WithoutRange(const Subject& s) {
  return PointersThat(CaseOf(s, *s.arms.on), [](const v1::KernelArg& arg) {
    return arg.pointer_range() == 0;
  });
}

std::optional<Said> BufferOpsBreakCompile(const Subject& s) {
  if (s.arms.off == nullptr || s.arms.on == nullptr || !Compiled(*s.arms.off) ||
      !HasResult(*s.arms.on) || Compiled(*s.arms.on)) {
    return {};
  }
  return Said{fmt::format("Leave {} at 0 for this kernel on {}: it compiles "
                          "with buffer ops off and fails with them on",
                          BufferOpsVariable(s.arms.target), s.target),
              {}};
}

std::optional<Said> BufferOpsConvert(const Subject& s) {
  const std::optional<Toggle> t = ToggleOf(s);
  if (!t || t->on.buffer() <= t->off.buffer()) return {};
  std::vector<std::string> converted;
  const auto add = [&](int count, std::string_view noun) {
    if (count > 0) converted.push_back(Count(count, noun));
  };
  add(t->on.buffer_loads - t->off.buffer_loads, "load");
  add(t->on.buffer_stores - t->off.buffer_stores, "store");
  std::string text =
      fmt::format("Buffer ops turn {} into buffer instructions on {}",
                  Join(converted, " and "), s.target);
  text += t->on.global() > 0 ? fmt::format("; {} stay global", t->on.global())
                             : "; none stays global";
  if (t->on.widest_load_bytes != t->off.widest_load_bytes) {
    text += fmt::format("; the widest load goes from {} to {} bytes",
                        t->off.widest_load_bytes, t->on.widest_load_bytes);
  }
  const std::vector<std::string> without = WithoutRange(s);
  if (t->on.global() > 0 && !without.empty()) {
    text += fmt::format(
        "; {} not known to lie within 2 GiB",
        Join(without, ", ") + (without.size() == 1 ? " is" : " are"));
  }
  Inputs inputs = ToggleInputs(*t);
  inputs["without_pointer_range"] = Join(without, ",");
  return Said{std::move(text), std::move(inputs)};
}

// Measured on Triton 3.9 for gfx942 over 45 kernels, 2026-11: the toggle is
// necessary; range analysis alone converts a quarter of the accesses, a 32-bit
// pointer range nearly all.
std::optional<Said> BufferOpsNeedPointerRange(const Subject& s) {
  const std::optional<Toggle> t = ToggleOf(s);
  if (!t || t->on.global() == 0 || t->on.buffer() > t->off.buffer() ||
      t->off.buffer() > 0) {
    return {};
  }
  const std::vector<std::string> without = WithoutRange(s);
  if (without.empty()) return {};
  Inputs inputs = ToggleInputs(*t);
  inputs["without_pointer_range"] = Join(without, ",");
  return Said{
      fmt::format(
          "Buffer ops change nothing on {}: {} no 32-bit pointer range"
          ", so the compiler keeps {}; if every tensor is under 2 GiB, "
          "say so and probe again",
          s.target,
          Join(without, ", ") + (without.size() == 1 ? " has" : " have"),
          Count(t->on.global(), "global instruction")),
      std::move(inputs)};
}

std::optional<Said> BufferOpsNoEffect(const Subject& s) {
  const std::optional<Toggle> t = ToggleOf(s);
  if (!t || t->on.global() == 0 || t->on.buffer() > t->off.buffer() ||
      t->off.buffer() > 0 || !WithoutRange(s).empty()) {
    return {};
  }
  if (!HasPointers(s)) {
    return Said{
        fmt::format("Buffer ops change nothing on {}: the addresses come from "
                    "tensor descriptors, which promise no range",
                    s.target),
        ToggleInputs(*t)};
  }
  return Said{
      fmt::format("Buffer ops change nothing on {} although every pointer has "
                  "a 32-bit range: the offsets cannot be proved non-negative "
                  "and small (see tl.assume), or the addresses are loaded",
                  s.target),
      ToggleInputs(*t)};
}

std::optional<Said> ToggleIgnored(const Subject& s) {
  const std::optional<Toggle> t = ToggleOf(s);
  if (!t || t->off.buffer() == 0) return {};
  return Said{
      fmt::format("{} uses {} with {}=0 as well: the installed stack "
                  "ignores that variable",
                  s.target, Count(t->off.buffer(), "buffer instruction"),
                  BufferOpsVariable(s.arms.target)),
      ToggleInputs(*t)};
}

std::optional<Said> NothingToConvert(const Subject& s) {
  const std::optional<Toggle> t = ToggleOf(s);
  if (!t ||
      t->on.buffer() + t->on.global() + t->off.buffer() + t->off.global() > 0) {
    return {};
  }
  return Said{fmt::format("No plain load or store of global memory on {}: "
                          "buffer ops have nothing to convert",
                          s.target),
              ToggleInputs(*t)};
}

std::optional<Said> Spills(const Subject& s) {
  for (const v1::TaskRecord* arm : s.arms.all()) {
    if (!Compiled(*arm)) continue;
    const v1::Resources resources = ResourcesOf(*arm);
    const int64_t spills = SpillsOf(resources);
    if (spills == 0) continue;
    const bool bytes =
        resources.spill_store_bytes() > 0 || resources.spill_load_bytes() > 0;
    return Said{
        fmt::format("Spills {} on {}{}: a smaller tile, more warps or fewer "
                    "stages would keep them in registers",
                    Count(spills, bytes ? "byte" : "register"), s.target,
                    VariantOf(*arm)),
        {{"spills", std::to_string(spills)},
         {"unit", bytes ? "bytes" : "registers"},
         {"registers", std::to_string(resources.registers())}}};
  }
  return {};
}

const v1::TaskRecord* AnyCompiled(const Subject& s) {
  for (const v1::TaskRecord* arm : {s.arms.on, s.arms.plain, s.arms.off}) {
    if (arm != nullptr && Compiled(*arm) && MachineCode(*arm) != nullptr) {
      return arm;
    }
  }
  return nullptr;
}

std::optional<Said> DotWithoutMatrix(const Subject& s) {
  const v1::TaskRecord* arm = AnyCompiled(s);
  if (arm == nullptr || s.kernel.classification() != "dot-related" ||
      MachineCode(*arm)->summary().matrix_ops() > 0) {
    return {};
  }
  return Said{fmt::format("The kernel has a dot but {} got no matrix "
                          "instruction: element type or tile shape fell back "
                          "to plain arithmetic",
                          s.target),
              {{"matrix_ops", "0"}}};
}

std::optional<Said> CasLoop(const Subject& s) {
  const v1::TaskRecord* arm = AnyCompiled(s);
  if (arm == nullptr || MachineCode(*arm)->summary().cas_loops() == 0) {
    return {};
  }
  const int loops = MachineCode(*arm)->summary().cas_loops();
  return Said{fmt::format("{} became a compare-and-swap loop on {}, which is "
                          "slow under contention; a type with a hardware "
                          "atomic avoids it",
                          Count(loops, "atomic"), s.target),
              {{"cas_loops", std::to_string(loops)}}};
}

// A lane moves at most 16 bytes per instruction on these targets before
// sm_100; less than that with unaligned pointers is worth a second probe.
std::optional<Said> NarrowLoads(const Subject& s) {
  const v1::TaskRecord* arm = AnyCompiled(s);
  if (arm == nullptr) return {};
  const GlobalAccess access = GlobalAccessOf(*MachineCode(*arm));
  if (access.widest_load_bytes == 0 || access.widest_load_bytes >= 16) {
    return {};
  }
  const std::vector<std::string> unaligned =
      PointersThat(CaseOf(s, *arm), [](const v1::KernelArg& arg) {
        return arg.divisibility() % 16 != 0 || arg.divisibility() == 0;
      });
  if (unaligned.empty()) return {};
  return Said{
      fmt::format(
          "The widest load on {} is {}: {} not said to be divisible by "
          "16",
          s.target, Count(access.widest_load_bytes, "byte"),
          Join(unaligned, ", ") + (unaligned.size() == 1 ? " is" : " are")),
      {{"widest_load_bytes", std::to_string(access.widest_load_bytes)},
       {"without_divisibility", Join(unaligned, ",")}}};
}

std::optional<Said> LaterGuess(const Subject& s) {
  for (const v1::TaskRecord* arm : s.arms.all()) {
    const int used = arm->result().probe().alternative();
    if (!Compiled(*arm) || used <= 0) continue;
    return Said{fmt::format("The first guess at the arguments did not compile "
                            "for {}; guess {} did",
                            s.target, used + 1),
                {{"alternative", std::to_string(used)}}};
  }
  return {};
}

struct Rule {
  std::string_view id;
  std::string_view verdict;
  std::optional<Said> (*apply)(const Subject&);
};

constexpr std::array<Rule, 11> kRules = {{
    {"probe.buffer-ops-break-compile", "advice", &BufferOpsBreakCompile},
    {"probe.buffer-ops-convert", "advice", &BufferOpsConvert},
    {"probe.buffer-ops-need-pointer-range", "advice",
     &BufferOpsNeedPointerRange},
    {"probe.buffer-ops-no-effect", "advice", &BufferOpsNoEffect},
    {"probe.buffer-ops-toggle-ignored", "advice", &ToggleIgnored},
    {"probe.buffer-ops-nothing-to-convert", "advice", &NothingToConvert},
    {"probe.spills", "advice", &Spills},
    {"probe.dot-without-matrix", "advice", &DotWithoutMatrix},
    {"probe.cas-loop", "advice", &CasLoop},
    {"probe.narrow-loads", "advice", &NarrowLoads},
    {"probe.later-guess", "advice", &LaterGuess},
}};

// ---- The kernel as a whole --------------------------------------------------

enum class Reach { kAll, kSome, kNone, kUnknown };

Reach ReachOf(const ProbeArms& arms) {
  int compiled = 0;
  int known = 0;
  for (const v1::TaskRecord* arm : arms.all()) {
    known += HasResult(*arm) ? 1 : 0;
    compiled += Compiled(*arm) ? 1 : 0;
  }
  if (compiled > 0) {
    return compiled == static_cast<int>(arms.all().size()) ? Reach::kAll
                                                           : Reach::kSome;
  }
  return known > 0 ? Reach::kNone : Reach::kUnknown;
}

v1::Decision Overall(const v1::KernelSpec& kernel, int index,
                     const std::vector<ProbeArms>& targets) {
  std::map<Reach, std::vector<std::string>> by_reach;
  for (const ProbeArms& arms : targets) {
    by_reach[ReachOf(arms)].push_back(TargetName(arms.target));
  }
  std::vector<std::string> good = by_reach[Reach::kAll];
  for (const std::string& name : by_reach[Reach::kSome]) {
    good.push_back(name + " (one build of two)");
  }
  const std::vector<std::string>& bad = by_reach[Reach::kNone];
  const std::vector<std::string>& unknown = by_reach[Reach::kUnknown];
  std::vector<std::string> parts;
  if (!good.empty()) parts.push_back("compiles for " + Join(good, ", "));
  if (!bad.empty()) parts.push_back("fails for " + Join(bad, ", "));
  if (!unknown.empty()) {
    parts.push_back("nothing known for " + Join(unknown, ", "));
  }
  const bool clean = bad.empty() && by_reach[Reach::kSome].empty();
  Said said{fmt::format("{}: {}", kernel.name(), Join(parts, "; ")),
            {{"compiles", Join(by_reach[Reach::kAll], ",")},
             {"partly", Join(by_reach[Reach::kSome], ",")},
             {"fails", Join(bad, ",")},
             {"unknown", Join(unknown, ",")}}};
  const ProbeArms none;
  return Decide({kernel, index, none, ""}, "probe.reach",
                !clean            ? "fail"
                : unknown.empty() ? "pass"
                                  : "unknown",
                std::move(said));
}

}  // namespace

std::vector<v1::Decision> DecideProbe(const v1::KernelSpec& kernel,
                                      int kernel_index,
                                      const std::vector<ProbeArms>& targets) {
  std::vector<v1::Decision> out = {Overall(kernel, kernel_index, targets)};
  for (const ProbeArms& arms : targets) {
    const Subject subject{kernel, kernel_index, arms, TargetName(arms.target)};
    for (v1::Decision& failure : DecideFailures(subject)) {
      out.push_back(std::move(failure));
    }
    for (const Rule& rule : kRules) {
      if (std::optional<Said> said = rule.apply(subject)) {
        out.push_back(Decide(subject, rule.id, rule.verdict, *std::move(said)));
      }
    }
  }
  return out;
}

}  // namespace kernelfleet::workflow
