// kernelfleet inspect: what the kernels of a file do, from its text alone.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "cli/kernel_source.h"
#include "cli/verbs.h"
#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/kernel/analyze.h"

namespace kernelfleet::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--kernel", "NAME", "Only this function"},
    {"--json", "", "Print everything as JSON"},
};

using Names = google::protobuf::RepeatedPtrField<std::string>;

std::string List(const Names& names) {
  std::string out;
  for (const std::string& name : names) {
    out += (out.empty() ? "" : ", ") + Printable(name);
  }
  return out.empty() ? "-" : out;
}

std::string ParamsOf(const v1::JitFunction& kernel) {
  std::string out;
  for (const v1::Parameter& param : kernel.params()) {
    if (!out.empty()) out += ", ";
    out += Printable(param.name());
    if (param.is_constexpr()) out += ":constexpr";
    if (param.is_pointer()) out += ":pointer";
    if (param.is_descriptor()) out += ":descriptor";
    if (!param.default_text().empty()) {
      out += "=" + Printable(param.default_text());
    }
  }
  return out.empty() ? "-" : out;
}

std::string_view NameOf(v1::Access::Contiguity contiguity) {
  return contiguity == v1::Access::contiguity_unknown
             ? std::string_view("?")
             : std::string_view(v1::Access::Contiguity_Name(contiguity));
}

std::string LinesOf(const v1::JitFunction& kernel) {
  std::string out;
  for (const v1::Access& access : kernel.accesses()) {
    out += fmt::format(
        "  {:>6}  {:<18} {:<16} {:<10} {}{}\n", access.line(),
        Printable(access.operation()),
        access.argument().empty() ? "?" : Printable(access.argument()),
        NameOf(access.last_axis()), Printable(access.address()),
        access.mask().empty() ? "" : "  mask " + Printable(access.mask()));
  }
  for (const v1::Operation& operation : kernel.operations()) {
    out += fmt::format("  {:>6}  {:<18} {}\n", operation.line(),
                       Printable(operation.name()),
                       Printable(Shorten(operation.text(), 100)));
  }
  for (const v1::Hint& hint : kernel.hints()) {
    out += fmt::format("  {:>6}  {:<18} {} {}\n", hint.line(),
                       Printable(hint.kind()), Printable(hint.subject()),
                       Printable(hint.value()));
  }
  return out;
}

std::string TuningOf(const v1::Autotune& autotune) {
  return fmt::format(
      "{} key {}\n",
      autotune.configs_size() > 0
          ? fmt::format("{} configs,", autotune.configs_size())
          : Printable(Shorten(autotune.configs_text(), 80)) + ",",
      autotune.key_size() > 0 ? List(autotune.key())
                              : Printable(autotune.key_text()));
}

std::string Describe(const v1::SourceFacts& facts) {
  std::string out;
  for (const v1::JitFunction& kernel : facts.kernels()) {
    const v1::Classification kind = kernel::Classify(kernel);
    out += fmt::format("{}:{}: {} ({}, {}, confidence {:.2f})\n",
                       Printable(facts.file()), kernel.line(),
                       Printable(kernel.name()),
                       kernel.is_entry() ? "kernel" : "helper",
                       kind.classification(), kind.confidence());
    out += fmt::format("  params   {}\n", ParamsOf(kernel));
    out += fmt::format("  reads    {}\n", List(kernel.read_args()));
    out += fmt::format("  writes   {}\n", List(kernel.written_args()));
    if (kernel.calls_size() > 0) {
      out += fmt::format("  calls    {}\n", List(kernel.calls()));
    }
    if (kernel.has_autotune()) {
      out += fmt::format("  autotune {}", TuningOf(kernel.autotune()));
    }
    out += LinesOf(kernel);
    for (const v1::Launch& launch : facts.launches()) {
      if (launch.kernel() != kernel.name()) continue;
      out +=
          fmt::format("  {:>6}  {:<18} {} [{}]\n", launch.line(), "launched by",
                      launch.function().empty() ? "the module"
                                                : Printable(launch.function()),
                      Printable(Shorten(launch.grid(), 80)));
    }
  }
  for (const v1::InductorKernel& kernel : facts.inductor()) {
    out += fmt::format(
        "{}: Inductor {}, hints {}: {} divisible by 16, {} within 32 bits\n",
        Printable(kernel.kernel()), Printable(kernel.heuristic()),
        v1::InductorKernel::HintEra_Name(kernel.era()),
        kernel.divisible_by_16_size(), kernel.pointer_range_32_size());
  }
  return out;
}

absl::StatusOr<Exit> Run(const Arguments& args, Terminal& terminal) {
  KF_ASSIGN_OR_RETURN(v1::SourceFacts facts, AnalyzeFile(args.positional()[0]));
  if (args.Has("--kernel")) {
    KF_RETURN_IF_ERROR(KeepKernel(args.Get("--kernel"), facts));
  }
  SayProblems(facts, terminal);
  if (args.Has("--json")) {
    KF_RETURN_IF_ERROR(PrintJson(facts, terminal));
  } else {
    terminal.Print(Describe(facts));
  }
  if (facts.kernels_size() > 0) return Exit::kYes;
  terminal.Say("no Triton jit function found\n");
  return Exit::kNo;
}

}  // namespace

const Verb kInspectVerb = {
    "inspect",
    "FILE",
    "Show what the kernels of a Python file do",
    kFlags,
    1,
    1,
    "Reads the text alone: no Python, no Triton, no GPU. Lists parameters,\n"
    "memory accesses with their addresses, operations, hints, autotuning and\n"
    "the host code that launches each kernel.",
    "  kernelfleet inspect softmax.py\n"
    "  kernelfleet inspect softmax.py --kernel softmax_fwd --json\n",
    &Run};

}  // namespace kernelfleet::cli
