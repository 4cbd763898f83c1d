#include "cli/client.h"
#include "cli/follow.h"
#include "cli/verbs.h"
#include "common/base/status.h"

namespace kernelfleet::cli {
namespace {

constexpr Flag kFlags[] = {KERNELFLEET_SERVER_FLAGS};

absl::StatusOr<Exit> Run(const Arguments& args, Terminal& terminal) {
  KF_ASSIGN_OR_RETURN(Client client, Client::Connect(args));
  // The full id: `last` may be another job in a moment.
  KF_ASSIGN_OR_RETURN(const v1::JobDetail job,
                      client.GetJobHead(args.positional()[0]));
  return FollowJob(client, job.summary().job_id(), terminal);
}

}  // namespace

const Verb kWatchVerb = {
    "watch",
    "JOB",
    "Follow a job from its first event to its end",
    kFlags,
    1,
    1,
    "JOB is an id, a unique prefix of one, or `last`. Exit status as submit.",
    "  kernelfleet watch last\n",
    &Run};

}  // namespace kernelfleet::cli
