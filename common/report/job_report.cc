#include "common/report/job_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/base/strings.h"
#include "common/report/kernel_report.h"
#include "common/report/next_steps.h"
#include "common/report/words.h"
#include "common/workflow/probe_facts.h"
#include "common/workflow/target.h"
#include "common/workflow/workflow.h"

namespace kernelfleet::report {
namespace {

// A batch past this many kernels is told by its exceptions on a terminal.
constexpr int kLargeBatch = 12;
constexpr size_t kMaxCauses = 20;

std::string StateText(const v1::JobSummary& summary) {
  std::string text = v1::JobState::Name_Name(summary.state());
  if (summary.state() == v1::JobState::active) {
    return fmt::format("active: {} of {} builds finished", summary.done(),
                       summary.tasks());
  }
  const double took = Seconds(summary.finished()) - Seconds(summary.created());
  if (summary.has_finished() && took >= 0) {
    text += fmt::format(" in {}", DurationText(took));
  }
  return text;
}

std::string AboutText(const v1::JobDetail& job) {
  const v1::JobSummary& summary = job.summary();
  std::string text = fmt::format("Job {}, {}, {}.", summary.job_id(),
                                 summary.workflow(), StateText(summary));
  if (summary.from_cache() > 0) {
    text += fmt::format(" {} of {} results were known from earlier jobs.",
                        summary.from_cache(), summary.tasks());
  }
  for (const std::string& node : NodesOf(job)) {
    text += fmt::format(" {}.", node);
  }
  std::map<std::string, std::string> labels(summary.labels().begin(),
                                            summary.labels().end());
  for (const auto& [key, value] : labels) {
    text += fmt::format(" {}={}.", key, value);
  }
  return text;
}

// Outcomes by target: the first thing a reader of a batch wants.
Table OutcomeTable(const v1::JobDetail& job) {
  std::vector<std::string> targets;
  std::map<std::string, std::map<std::string, int>> counts;
  for (const v1::TaskRecord& task : job.tasks()) {
    std::string target = workflow::TargetName(task.spec().target());
    if (!task.spec().variant().empty()) target += " " + task.spec().variant();
    if (std::find(targets.begin(), targets.end(), target) == targets.end()) {
      targets.push_back(target);
    }
    ++counts[OutcomeCell(task).text][target];
  }
  Table table;
  table.columns.push_back({"outcome"});
  for (const std::string& target : targets) {
    table.columns.push_back({target, Align::kRight});
  }
  for (const auto& [outcome, by_target] : counts) {
    std::vector<Cell>& row = table.rows.emplace_back();
    row.emplace_back(outcome, outcome == "compiled" ? Tone::kGood : Tone::kBad);
    for (const std::string& target : targets) {
      const auto at = by_target.find(target);
      row.emplace_back(at == by_target.end() ? "" : std::to_string(at->second));
    }
  }
  return table;
}

// Failures that share a cause, most frequent first.
Table CauseTable(const v1::JobDetail& job) {
  struct Cause {
    int builds = 0;
    std::set<int> kernels;
    std::string example;
  };
  std::map<std::pair<std::string, std::string>, Cause> causes;
  for (const v1::TaskRecord& task : job.tasks()) {
    if (!workflow::HasResult(task) || workflow::Compiled(task)) continue;
    const v1::Failure& failure = task.result().probe().failure();
    std::string what = OutcomeCell(task).text;
    if (!failure.stage().empty()) what += " in " + failure.stage();
    Cause& cause = causes[{what, Shorten(workflow::CauseOf(failure), 120)}];
    ++cause.builds;
    cause.kernels.insert(task.spec().kernel());
    if (cause.example.empty()) {
      cause.example = TaskLabel(job.spec(), task.spec());
    }
  }
  std::vector<std::pair<std::pair<std::string, std::string>, Cause>> sorted(
      causes.begin(), causes.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](auto& a, auto& b) {
    return a.second.builds > b.second.builds;
  });
  if (sorted.size() > kMaxCauses) sorted.resize(kMaxCauses);
  Table table;
  table.columns = {{"builds", Align::kRight},
                   {"kernels", Align::kRight},
                   {"what"},
                   {"cause"},
                   {"for example"}};
  for (const auto& [key, cause] : sorted) {
    table.rows.push_back({std::to_string(cause.builds),
                          std::to_string(cause.kernels.size()),
                          {key.first, Tone::kBad},
                          key.second,
                          cause.example});
  }
  return table;
}

void AddBatchSummary(const v1::JobDetail& job, Document& out) {
  const int kernels = job.spec().kernels_size();
  std::map<int, bool> clean;
  for (const v1::TaskRecord& task : job.tasks()) {
    const auto at = clean.emplace(task.spec().kernel(), true).first;
    at->second = at->second && workflow::Compiled(task);
  }
  const auto good = std::count_if(clean.begin(), clean.end(),
                                  [](const auto& k) { return k.second; });
  out.push_back(Paragraph{
      fmt::format("{} of {} kernels compile for every target they were built "
                  "for.",
                  good, kernels),
      good == kernels ? Tone::kGood : Tone::kAdvice});
  out.push_back(OutcomeTable(job));
  Table causes = CauseTable(job);
  if (!causes.rows.empty()) {
    out.push_back(Heading{2, "Causes of failure"});
    out.push_back(std::move(causes));
  }
}

}  // namespace

Document Describe(const v1::JobDetail& job, Extent extent) {
  const int kernels = job.spec().kernels_size();
  const bool batch = kernels > 1;
  Document out;
  out.push_back(Heading{
      1, batch ? fmt::format("{} kernels", kernels)
               : fmt::format("{}", kernels == 1 ? job.spec().kernels(0).name()
                                                : "No kernel")});
  out.push_back(Paragraph{AboutText(job), Tone::kFaint});
  if (batch) AddBatchSummary(job, out);
  const bool few = extent == Extent::kAll || kernels <= kLargeBatch;
  const std::map<int, KernelFindings> findings = GroupByKernel(job);
  int left_out = 0;
  for (const auto& [index, one] : findings) {
    if (!few && !IsNotable(one)) {
      ++left_out;
      continue;
    }
    if (batch) {
      out.push_back(Heading{2, job.spec().kernels(index).name()});
    }
    AddKernel(job, index, one, out);
  }
  if (left_out > 0) {
    out.push_back(Paragraph{
        fmt::format("{} kernels that compile everywhere are not shown; "
                    "--format md shows all.",
                    left_out),
        Tone::kFaint});
  }
  AddNextSteps(job, out);
  return out;
}

}  // namespace kernelfleet::report
