#include "common/report/kernel_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/base/strings.h"
#include "common/report/words.h"
#include "common/workflow/probe_facts.h"
#include "common/workflow/target.h"

namespace kernelfleet::report {
namespace {

Tone ToneOf(const v1::Decision& decision) {
  if (decision.verdict() == "pass") return Tone::kGood;
  if (decision.verdict() == "fail") return Tone::kBad;
  if (decision.verdict() == "advice") return Tone::kAdvice;
  return Tone::kFaint;
}

// "buffer_ops=1" is "on" under a column of that name.
std::string ToggleText(const v1::TaskSpec& spec) {
  if (spec.variant() == "buffer_ops=1") return "on";
  if (spec.variant() == "buffer_ops=0") return "off";
  return spec.variant();
}

Table BuildTable(const KernelFindings& findings) {
  Table table;
  table.columns = {{"target"},
                   {"buffer ops"},
                   {"outcome"},
                   {"registers", Align::kRight},
                   {"spills", Align::kRight},
                   {"shared", Align::kRight},
                   {"loads"},
                   {"stores"},
                   {"async copies"},
                   {"matrix"},
                   {"atomics"},
                   {"time", Align::kRight}};
  for (const v1::TaskRecord* task : findings.tasks) {
    std::vector<Cell>& row = table.rows.emplace_back();
    row.emplace_back(workflow::TargetName(task->spec().target()));
    row.emplace_back(ToggleText(task->spec()));
    row.push_back(OutcomeCell(*task));
    if (!workflow::Compiled(*task)) {
      row.resize(table.columns.size());
      continue;
    }
    const v1::Resources resources = workflow::ResourcesOf(*task);
    row.emplace_back(RegistersText(resources));
    row.emplace_back(SpillsText(resources), workflow::SpillsOf(resources) > 0
                                                ? Tone::kAdvice
                                                : Tone::kPlain);
    row.emplace_back(resources.has_shared_bytes()
                         ? BytesText(resources.shared_bytes())
                         : "");
    const v1::IsaKernel* code = workflow::MachineCode(*task);
    const v1::IsaKernel none;
    const v1::IsaKernel& shown = code == nullptr ? none : *code;
    row.emplace_back(MemoryText(shown, "load"));
    row.emplace_back(MemoryText(shown, "store"));
    row.emplace_back(AsyncText(shown));
    row.emplace_back(MatrixText(shown));
    row.emplace_back(AtomicsText(shown));
    row.emplace_back(
        task->from_cache()
            ? "known"
            : DurationText(task->result().probe().total_ms() / 1e3));
  }
  return table;
}

// Failures with the user's own line; each distinct one once.
List FailureList(const v1::KernelSpec& kernel, const KernelFindings& findings) {
  List list;
  std::set<std::string> seen;
  for (const v1::TaskRecord* task : findings.tasks) {
    const v1::Failure& failure = task->result().probe().failure();
    if (!workflow::HasResult(*task) || workflow::Compiled(*task) ||
        failure.source_line().empty()) {
      continue;
    }
    const std::string place = workflow::PlaceOf(kernel, failure);
    if (!seen.insert(fmt::format("{} {}", place, failure.message())).second) {
      continue;
    }
    // Tabs would move the caret.
    std::string quote = Shorten(failure.source_line(), 160);
    std::replace(quote.begin(), quote.end(), '\t', ' ');
    list.items.push_back(
        {fmt::format("{}: {}", place, workflow::CauseOf(failure)), Tone::kPlain,
         quote, failure.column()});
  }
  return list;
}

std::string ConstantText(const v1::Constant& constant) {
  switch (constant.value_case()) {
    case v1::Constant::kIntValue:
      return std::to_string(constant.int_value());
    case v1::Constant::kFloatValue:
      return fmt::format("{}", constant.float_value());
    case v1::Constant::kBoolValue:
      return constant.bool_value() ? "True" : "False";
    case v1::Constant::kStringValue:
      return fmt::format("'{}'", constant.string_value());
    case v1::Constant::kDtypeValue:
      return constant.dtype_value();
    case v1::Constant::kFunctionValue:
      return constant.function_value();
    case v1::Constant::kNone:
      return "None";
    case v1::Constant::kTuple:
      return fmt::format("a tuple of {}", constant.tuple().items_size());
    case v1::Constant::VALUE_NOT_SET:
      return "?";
  }
  return "?";
}

List GuessList(const v1::KernelSpec& kernel) {
  List list;
  for (const v1::KernelArg& arg : kernel.case_().args()) {
    if (arg.guessed_from().empty()) continue;
    const std::string what =
        arg.type().empty() ? ConstantText(arg.constant()) : arg.type();
    list.items.push_back({fmt::format("{} = {} (from the {})", arg.name(), what,
                                      arg.guessed_from())});
  }
  return list;
}

// The overall decision opens a kernel's part and is not repeated.
bool IsOverall(const v1::Decision& decision) {
  return decision.target().empty();
}

}  // namespace

std::map<int, KernelFindings> GroupByKernel(const v1::JobDetail& job) {
  std::map<int, KernelFindings> out;
  for (int i = 0; i < job.spec().kernels_size(); ++i) out[i];
  for (const v1::TaskRecord& task : job.tasks()) {
    const auto at = out.find(task.spec().kernel());
    if (at != out.end()) at->second.tasks.push_back(&task);
  }
  for (const v1::Decision& decision : job.decisions()) {
    const auto at = out.find(decision.kernel());
    if (at != out.end()) at->second.decisions.push_back(&decision);
  }
  for (auto& [index, findings] : out) {
    std::stable_sort(
        findings.tasks.begin(), findings.tasks.end(),
        [](auto* a, auto* b) { return a->task_id() < b->task_id(); });
    // As the tasks: the kernel as a whole, then target by target.
    const auto rank = [&](const v1::Decision* decision) {
      const auto at = std::find_if(
          findings.tasks.begin(), findings.tasks.end(), [&](const auto* task) {
            return workflow::TargetName(task->spec().target()) ==
                   decision->target();
          });
      return decision->target().empty() ? -1 : at - findings.tasks.begin();
    };
    std::stable_sort(findings.decisions.begin(), findings.decisions.end(),
                     [&](auto* a, auto* b) { return rank(a) < rank(b); });
  }
  return out;
}

bool IsNotable(const KernelFindings& findings) {
  return std::any_of(
      findings.tasks.begin(), findings.tasks.end(), [](const auto* task) {
        return !workflow::Compiled(*task) ||
               workflow::SpillsOf(workflow::ResourcesOf(*task)) > 0;
      });
}

void AddKernel(const v1::JobDetail& job, int kernel,
               const KernelFindings& findings, Document& out) {
  const v1::KernelSpec& spec = job.spec().kernels(kernel);
  std::string about = spec.source_file();
  if (!spec.classification().empty()) {
    about += fmt::format(", {}", spec.classification());
  }
  out.push_back(Paragraph{about, Tone::kFaint});
  for (const v1::Decision* decision : findings.decisions) {
    if (IsOverall(*decision)) {
      out.push_back(Paragraph{decision->text(), ToneOf(*decision)});
    }
  }
  if (!findings.tasks.empty()) out.push_back(BuildTable(findings));
  List failures = FailureList(spec, findings);
  if (!failures.items.empty()) {
    out.push_back(Heading{3, "Where it fails"});
    out.push_back(std::move(failures));
  }
  List conclusions;
  for (const v1::Decision* decision : findings.decisions) {
    if (!IsOverall(*decision)) {
      conclusions.items.push_back({decision->text(), ToneOf(*decision)});
    }
  }
  if (!conclusions.items.empty()) {
    out.push_back(Heading{3, "What it means"});
    out.push_back(std::move(conclusions));
  }
  List guesses = GuessList(spec);
  if (!guesses.items.empty()) {
    out.push_back(Heading{3, "What was guessed"});
    out.push_back(std::move(guesses));
  }
}

std::vector<std::string> NodesOf(const v1::JobDetail& job) {
  std::set<std::string> seen;
  std::vector<std::string> out;
  for (const v1::TaskRecord& task : job.tasks()) {
    if (!workflow::HasResult(task)) continue;
    const auto& environment = task.result().probe().environment();
    const auto triton = environment.find("triton");
    std::string text = fmt::format("Built on {}", task.result().node_id());
    if (triton != environment.end()) {
      text += fmt::format(" with Triton {}", triton->second);
    }
    if (out.size() < 8 && seen.insert(text).second) out.push_back(text);
  }
  return out;
}

}  // namespace kernelfleet::report
