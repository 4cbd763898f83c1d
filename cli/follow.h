// Follows a job to its end: live on a terminal, plain lines elsewhere.
#ifndef KERNELFLEET_CLI_FOLLOW_H_
#define KERNELFLEET_CLI_FOLLOW_H_

#include <string>

#include "absl/status/statusor.h"
#include "cli/client.h"
#include "cli/terminal.h"
#include "cli/verb.h"

namespace kernelfleet::cli {

// kYes: everything compiled; kNo: a finding against a kernel, or cancelled;
// kServer: a task failed for reasons of ours. Ctrl-C leaves the job alone,
// prints how to come back and returns kYes.
absl::StatusOr<Exit> FollowJob(Client& client, const std::string& job_id,
                               Terminal& terminal);

// What a finished job's summary means for the exit code.
Exit ExitOfJob(const v1::JobSummary& summary);

}  // namespace kernelfleet::cli

#endif  // KERNELFLEET_CLI_FOLLOW_H_
