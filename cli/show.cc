#include <fmt/format.h>

#include "cli/client.h"
#include "cli/follow.h"
#include "cli/verbs.h"
#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/report/document.h"
#include "common/report/job_report.h"
#include "common/report/words.h"

namespace kernelfleet::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--json", "", "Print the whole job as JSON"},
    KERNELFLEET_SERVER_FLAGS,
};

report::Table TableOf(const v1::JobDetail& job) {
  report::Table table;
  table.columns = {
      {"task", report::Align::kRight},     {"build"}, {"state"}, {"outcome"},
      {"attempts", report::Align::kRight}, {"node"},  {"reason"}};
  for (const v1::TaskRecord& task : job.tasks()) {
    table.rows.push_back(
        {std::to_string(task.task_id()),
         report::TaskLabel(job.spec(), task.spec()),
         task.from_cache() ? "known" : v1::TaskState::Name_Name(task.state()),
         report::OutcomeCell(task), std::to_string(task.attempts()),
         task.result().node_id().empty() ? task.node_id()
                                         : task.result().node_id(),
         task.reason()});
  }
  return table;
}

absl::StatusOr<Exit> Run(const Arguments& args, Terminal& terminal) {
  KF_ASSIGN_OR_RETURN(Client client, Client::Connect(args));
  KF_ASSIGN_OR_RETURN(const v1::JobDetail job,
                      client.GetJob(args.positional()[0]));
  if (args.Has("--json")) {
    KF_ASSIGN_OR_RETURN(const std::string json, report::ToJson(job));
    terminal.Print(json);
    return Exit::kYes;
  }
  const v1::JobSummary& summary = job.summary();
  terminal.Print(fmt::format(
      "Job {}  {}  {}  {}/{} done\n\n", Printable(summary.job_id()),
      Printable(summary.workflow()), v1::JobState::Name_Name(summary.state()),
      summary.done(), summary.tasks()));
  terminal.Print(
      report::ToTerminal(TableOf(job), {terminal.width(), terminal.color()}));
  return Exit::kYes;
}

}  // namespace

const Verb kShowVerb = {"show",
                        "JOB",
                        "Show a job's tasks, where they ran and what came out",
                        kFlags,
                        1,
                        1,
                        "JOB is an id, a unique prefix of one, or `last`.",
                        "  kernelfleet show last\n"
                        "  kernelfleet show 3k7 --json\n",
                        &Run};

}  // namespace kernelfleet::cli
