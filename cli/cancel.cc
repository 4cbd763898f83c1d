#include <fmt/format.h>

#include "cli/client.h"
#include "cli/verbs.h"
#include "common/base/status.h"
#include "common/base/strings.h"

namespace kernelfleet::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--reason", "TEXT", "Kept with the job"},
    KERNELFLEET_SERVER_FLAGS,
};

absl::StatusOr<Exit> Run(const Arguments& args, Terminal& terminal) {
  KF_ASSIGN_OR_RETURN(Client client, Client::Connect(args));
  KF_ASSIGN_OR_RETURN(const v1::JobDetail job,
                      client.GetJobHead(args.positional()[0]));
  const std::string& id = job.summary().job_id();
  KF_ASSIGN_OR_RETURN(const v1::CancelJobResponse response,
                      client.CancelJob(id, args.Get("--reason")));
  terminal.Print(fmt::format("Job {}: {} task{} cancelled\n", Printable(id),
                             response.cancelled_tasks(),
                             response.cancelled_tasks() == 1 ? "" : "s"));
  return Exit::kYes;
}

}  // namespace

const Verb kCancelVerb = {
    "cancel",
    "JOB",
    "Stop what a job still has to do",
    kFlags,
    1,
    1,
    "Finished tasks keep their results. JOB is an id, a unique prefix of one, "
    "or\n`last`.",
    "  kernelfleet cancel last --reason 'wrong branch'\n",
    &Run};

}  // namespace kernelfleet::cli
