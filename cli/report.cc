#include "cli/client.h"
#include "cli/follow.h"
#include "cli/verbs.h"
#include "common/base/status.h"
#include "common/report/job_report.h"

namespace kernelfleet::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--format", "FORMAT", "How to print it (term)", Repeat::kNo, "-f",
     "term md json"},
    {"--all", "", "Every kernel of a large batch, on a terminal too"},
    KERNELFLEET_SERVER_FLAGS,
};

absl::StatusOr<Exit> Run(const Arguments& args, Terminal& terminal) {
  KF_ASSIGN_OR_RETURN(Client client, Client::Connect(args));
  KF_ASSIGN_OR_RETURN(const v1::JobDetail job,
                      client.GetJob(args.positional()[0]));
  const std::string format = args.Get("--format", "term");
  if (format == "json") {
    KF_ASSIGN_OR_RETURN(const std::string json, report::ToJson(job));
    terminal.Print(json);
  } else if (format == "md") {
    terminal.Print(report::ToMarkdown(report::Describe(job)));
  } else {
    const report::Extent extent =
        args.Has("--all") ? report::Extent::kAll : report::Extent::kNotable;
    terminal.Print(report::ToTerminal(report::Describe(job, extent),
                                      {terminal.width(), terminal.color()}));
  }
  return ExitOfJob(job.summary());
}

}  // namespace

const Verb kReportVerb = {
    "report",
    "JOB",
    "Explain what a job found",
    kFlags,
    1,
    1,
    "JOB is an id, a unique prefix of one, or `last`. Exit status as submit.",
    "  kernelfleet report last\n"
    "  kernelfleet report last --format md > report.md\n",
    &Run};

}  // namespace kernelfleet::cli
