#include <fmt/format.h>

#include <map>

#include "common/base/strings.h"
#include "common/report/job_report.h"
#include "common/report/words.h"
#include "common/workflow/probe_facts.h"
#include "common/workflow/workflow.h"

namespace kernelfleet::report {
namespace {

// A compiler may say a lot; the artifact has the rest.
constexpr size_t kMaxWords = 1500;
constexpr size_t kMaxFailures = 40;

void AddFailure(const v1::JobDetail& job, const v1::TaskRecord& task,
                Document& out) {
  const v1::ProbeResult& probe = task.result().probe();
  const v1::Failure& failure = probe.failure();
  std::string text = OutcomeCell(task).text;
  if (!failure.stage().empty()) text += fmt::format(" in {}", failure.stage());
  if (failure.signal() > 0)
    text += fmt::format(", signal {}", failure.signal());
  if (failure.required() > 0) {
    text += fmt::format(", {} {} required, limit {}", failure.required(),
                        failure.resource(), failure.limit());
  }
  out.push_back(Heading{3, TaskLabel(job.spec(), task.spec())});
  Item item;
  item.text = text;
  item.tone = Tone::kBad;
  if (task.spec().kernel() < job.spec().kernels_size()) {
    const std::string place =
        workflow::PlaceOf(job.spec().kernels(task.spec().kernel()), failure);
    if (!place.empty()) item.text += fmt::format(" at {}", place);
  }
  item.quote = Shorten(failure.source_line(), 160);
  item.column = failure.column();
  List list;
  list.items.push_back(std::move(item));
  if (!failure.message().empty()) {
    std::string words = failure.error_class();
    words += words.empty() ? "" : ": ";
    words += Shorten(failure.message(), kMaxWords);
    for (const std::string_view line : Split(words, '\n')) {
      if (!Trim(line).empty()) list.items.push_back({std::string(line)});
    }
  }
  out.push_back(std::move(list));
}

}  // namespace

Document Why(const v1::JobDetail& job) {
  Document out;
  out.push_back(Heading{1, fmt::format("Job {}", job.summary().job_id())});
  // Tasks that share a state and a reason are one line.
  std::map<std::pair<int, std::string>, std::vector<std::string>> reasons;
  size_t failures = 0;
  size_t more = 0;
  for (const v1::TaskRecord& task : job.tasks()) {
    if (workflow::HasResult(task)) {
      if (workflow::Compiled(task)) continue;
      if (++failures > kMaxFailures) {
        ++more;
      } else {
        AddFailure(job, task, out);
      }
      continue;
    }
    reasons[{task.state(), task.reason()}].push_back(
        TaskLabel(job.spec(), task.spec()));
  }
  if (more > 0) {
    out.push_back(
        Paragraph{fmt::format("{} more failures: see the report.", more)});
  }
  List list;
  for (const auto& [key, labels] : reasons) {
    const auto state = static_cast<v1::TaskState::Name>(key.first);
    const std::string reason =
        key.second.empty() ? "no reason was given" : key.second;
    list.items.push_back(
        {fmt::format("{} {}: {} ({}{})", labels.size(),
                     v1::TaskState::Name_Name(state), reason, labels[0],
                     labels.size() > 1 ? ", …" : ""),
         workflow::IsFinal(state) ? Tone::kBad : Tone::kAdvice});
  }
  if (!list.items.empty()) out.push_back(std::move(list));
  if (failures == 0 && reasons.empty()) {
    out.push_back(Paragraph{job.tasks().empty()
                                ? "It has no task yet."
                                : "Nothing failed and nothing waits.",
                            Tone::kGood});
  }
  return out;
}

}  // namespace kernelfleet::report
