#include "cli/client.h"
#include "cli/verbs.h"
#include "common/base/status.h"
#include "common/report/job_report.h"

namespace kernelfleet::cli {
namespace {

constexpr Flag kFlags[] = {KERNELFLEET_SERVER_FLAGS};

absl::StatusOr<Exit> Run(const Arguments& args, Terminal& terminal) {
  KF_ASSIGN_OR_RETURN(Client client, Client::Connect(args));
  KF_ASSIGN_OR_RETURN(const v1::JobDetail job,
                      client.GetJob(args.positional()[0]));
  terminal.Print(report::ToTerminal(report::Why(job),
                                    {terminal.width(), terminal.color()}));
  return Exit::kYes;
}

}  // namespace

const Verb kWhyVerb = {
    "why",
    "JOB",
    "Say why a job waits or what failed, in the compiler's own words",
    kFlags,
    1,
    1,
    "JOB is an id, a unique prefix of one, or `last`.",
    "  kernelfleet why last\n",
    &Run};

}  // namespace kernelfleet::cli
