#include "common/report/next_steps.h"

#include <fmt/format.h>

#include <array>
#include <set>

#include "common/base/strings.h"
#include "common/workflow/probe_facts.h"

namespace kernelfleet::report {
namespace {

constexpr size_t kMaxSteps = 6;

// A word of a shell command; names from outside never end it early.
std::string Quoted(std::string_view text) {
  const bool plain =
      !text.empty() && text.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV"
                           "WXYZ0123456789_./:=,-") == std::string_view::npos;
  if (plain) return std::string(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

std::string InputOf(const v1::Decision& decision, const std::string& key) {
  const auto at = decision.inputs().find(key);
  return at == decision.inputs().end() ? std::string() : at->second;
}

// The same kernel again with one more promise on the named arguments.
std::string Resubmit(const v1::KernelSpec& kernel, const v1::Decision& decision,
                     std::string_view names, int divisibility, int range) {
  std::string command =
      fmt::format("kernelfleet submit {} --kernel {} --target {}",
                  Quoted(kernel.source_file()), Quoted(kernel.name()),
                  Quoted(decision.target()));
  for (const std::string_view name : Split(names, ',')) {
    for (const v1::KernelArg& arg : kernel.case_().args()) {
      if (arg.name() != name) continue;
      const int by = divisibility > 0 ? divisibility : arg.divisibility();
      const int within = range > 0 ? range : arg.pointer_range();
      std::string type = arg.type();
      if (by > 0) type += fmt::format(":{}", by);
      if (within > 0) type += fmt::format(":range={}", within);
      command +=
          fmt::format(" --arg {}", Quoted(fmt::format("{}={}", name, type)));
    }
  }
  return command;
}

struct Step {
  std::string text;
  std::string command;
};

struct Suggestion {
  std::string_view rule;
  Step (*make)(const v1::KernelSpec&, const v1::Decision&);
};

Step PromiseRange(const v1::KernelSpec& kernel, const v1::Decision& decision) {
  return {
      "If these tensors are smaller than 2 GiB, promise it and see whether "
      "buffer instructions appear:",
      Resubmit(kernel, decision, InputOf(decision, "without_pointer_range"), 0,
               32)};
}

Step PromiseAlignment(const v1::KernelSpec& kernel,
                      const v1::Decision& decision) {
  return {
      "If these pointers are aligned to 16 bytes, promise it and see "
      "whether the loads widen:",
      Resubmit(kernel, decision, InputOf(decision, "without_divisibility"), 16,
               0)};
}

constexpr std::array<Suggestion, 2> kSuggestions = {{
    {"probe.buffer-ops-need-pointer-range", &PromiseRange},
    {"probe.narrow-loads", &PromiseAlignment},
}};

}  // namespace

void AddNextSteps(const v1::JobDetail& job, Document& out) {
  std::vector<Step> steps;
  std::set<std::string> seen;
  const std::string id = Quoted(job.summary().job_id());
  bool failed = false;
  bool waiting = false;
  for (const v1::TaskRecord& task : job.tasks()) {
    failed = failed ||
             (workflow::HasResult(task) && !workflow::Compiled(task)) ||
             task.state() == v1::TaskState::failed ||
             task.state() == v1::TaskState::dead;
    waiting = waiting || task.state() == v1::TaskState::waiting;
  }
  if (failed || waiting) {
    steps.push_back({failed ? "The compiler's own words for each failure:"
                            : "Why tasks wait:",
                     fmt::format("kernelfleet why {}", id)});
  }
  for (const v1::Decision& decision : job.decisions()) {
    if (decision.kernel() < 0 ||
        decision.kernel() >= job.spec().kernels_size()) {
      continue;
    }
    for (const Suggestion& suggestion : kSuggestions) {
      if (suggestion.rule != decision.rule()) continue;
      Step step =
          suggestion.make(job.spec().kernels(decision.kernel()), decision);
      if (seen.insert(step.command).second && steps.size() < kMaxSteps) {
        steps.push_back(std::move(step));
      }
    }
  }
  steps.push_back({"IR and machine code of every build, by name:",
                   fmt::format("kernelfleet artifacts {}", id)});
  out.push_back(Heading{2, "What to try next"});
  for (Step& step : steps) {
    out.push_back(Paragraph{std::move(step.text)});
    out.push_back(Command{std::move(step.command)});
  }
}

}  // namespace kernelfleet::report
