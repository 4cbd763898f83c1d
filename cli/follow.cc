#include "cli/follow.h"

#include <fmt/format.h>

#include <atomic>
#include <map>

#include "cli/interrupt.h"
#include "common/base/clock.h"
#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/report/words.h"

namespace kernelfleet::cli {
namespace {

// Beyond this many tasks, single successes are only counted.
constexpr int kFewTasks = 200;

std::string CountsText(const v1::JobSummary& summary) {
  std::string text = fmt::format("{}/{} done", summary.done(), summary.tasks());
  const auto add = [&](int count, std::string_view word) {
    if (count > 0) text += fmt::format(", {} {}", count, word);
  };
  add(summary.active(), "running");
  add(summary.waiting(), "waiting");
  add(summary.findings(), summary.findings() == 1 ? "finding" : "findings");
  add(summary.failed(), "failed");
  add(summary.cancelled(), "cancelled");
  return text;
}

class Progress {
 public:
  Progress(Client& client, std::string job_id, Terminal& terminal)
      : client_(client), job_id_(std::move(job_id)), terminal_(terminal) {}

  void Show(const v1::JobEvent& event);
  // Removes the live line.
  void End() {
    if (live_shown_) terminal_.Print("\r\x1b[2K");
    live_shown_ = false;
  }
  const v1::JobSummary& summary() const { return summary_; }

 private:
  const std::string& LabelOf(int64_t task_id);
  void Line(const std::string& text, std::string_view color);
  void Live();

  Client& client_;
  const std::string job_id_;
  Terminal& terminal_;
  std::map<int64_t, std::string> labels_;
  v1::JobSummary summary_;
  std::string doing_;
  bool live_shown_ = false;
  const absl::Duration start_ = RealClock().Steady();
};

// Asks for the tasks when an event names one that is not known yet.
const std::string& Progress::LabelOf(int64_t task_id) {
  auto at = labels_.find(task_id);
  if (at != labels_.end()) return at->second;
  const absl::StatusOr<v1::JobDetail> job = client_.GetJob(job_id_);
  if (job.ok()) {
    for (const v1::TaskRecord& task : job->tasks()) {
      labels_[task.task_id()] = report::TaskLabel(job->spec(), task.spec());
    }
  }
  std::string& label = labels_[task_id];
  if (label.empty()) label = fmt::format("task {}", task_id);
  return label;
}

void Progress::Line(const std::string& text, std::string_view color) {
  End();
  terminal_.Print(terminal_.color() && !color.empty()
                      ? fmt::format("{}{}\x1b[0m\n", color, Printable(text))
                      : Printable(text) + "\n");
}

void Progress::Live() {
  if (!terminal_.live()) {
    (void)terminal_.Flush();
    return;
  }
  std::string text = fmt::format("  {}, {}", CountsText(summary_),
                                 report::DurationText(absl::ToDoubleSeconds(
                                     RealClock().Steady() - start_)));
  if (!doing_.empty()) text += fmt::format("  {}", doing_);
  text = Printable(text);
  if (text.size() > static_cast<size_t>(terminal_.width() - 1)) {
    text.resize(static_cast<size_t>(terminal_.width() - 1));
    while (!IsValidUtf8(text)) text.pop_back();
  }
  terminal_.Print(fmt::format("\r\x1b[2K{}", text));
  (void)terminal_.Flush();
  live_shown_ = true;
}

void Progress::Show(const v1::JobEvent& event) {
  if (event.has_summary()) summary_ = event.summary();
  const std::string& kind = event.kind();
  if (kind == "leased" || kind == "running") {
    doing_ = fmt::format("{} {}", LabelOf(event.task_id()), event.text());
  } else if (kind == "done") {
    const bool fine = event.text().empty() || event.text() == "compiled";
    if (!fine || summary_.tasks() <= kFewTasks) {
      Line(fmt::format("  {}: {}", LabelOf(event.task_id()),
                       fine ? "compiled" : event.text()),
           fine ? "" : "\x1b[31m");
    }
    doing_.clear();
  } else if (kind == "failed" || kind == "dead" || kind == "cancelled") {
    if (event.task_id() != 0) {
      Line(fmt::format("  {}: {}{}{}", LabelOf(event.task_id()), kind,
                       event.text().empty() ? "" : ", ", event.text()),
           "\x1b[31m");
    }
  } else if (kind == "waiting" && !event.text().empty()) {
    doing_ =
        fmt::format("{} waits: {}", LabelOf(event.task_id()), event.text());
    // Elsewhere there is no line that would show it.
    if (!terminal_.live()) Line("  " + doing_, "\x1b[33m");
  }
  Live();
}

}  // namespace

Exit ExitOfJob(const v1::JobSummary& summary) {
  if (summary.state() == v1::JobState::failed) return Exit::kServer;
  if (summary.state() == v1::JobState::cancelled || summary.findings() > 0) {
    return Exit::kNo;
  }
  return Exit::kYes;
}

absl::StatusOr<Exit> FollowJob(Client& client, const std::string& job_id,
                               Terminal& terminal) {
  std::atomic<bool> interrupted = false;
  Progress progress(client, job_id, terminal);
  absl::Status status;
  {
    const Interrupt interrupt([&] {
      interrupted = true;
      client.Stop();
    });
    status = client.Watch(
        job_id, [&](const v1::JobEvent& event) { progress.Show(event); });
  }
  progress.End();
  if (interrupted) {
    terminal.Print(fmt::format(
        "\nDetached; job {} goes on. Come back with:\n  kernelfleet watch {}\n",
        job_id, job_id));
    return Exit::kYes;
  }
  KF_RETURN_IF_ERROR(status);
  KF_ASSIGN_OR_RETURN(const v1::JobDetail job, client.GetJobHead(job_id));
  terminal.Print(
      fmt::format("Job {} {}: {}\nSee it with: kernelfleet report {}\n", job_id,
                  v1::JobState::Name_Name(job.summary().state()),
                  CountsText(job.summary()), job_id));
  return ExitOfJob(job.summary());
}

}  // namespace kernelfleet::cli
