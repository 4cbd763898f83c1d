// From files, cases and flags to a job: everything that can be said about a
// submission without a server, in one place. Bad input ends here.
#ifndef KERNELFLEET_CLI_PLAN_SUBMISSION_H_
#define KERNELFLEET_CLI_PLAN_SUBMISSION_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/case_file.h"
#include "kernelfleet/v1/job.pb.h"

namespace kernelfleet::cli {

struct SubmissionRequest {
  // Files and folders.
  std::vector<std::string> paths;
  // Empty: every kernel that can be launched.
  std::string kernel;
  std::vector<std::string> targets;
  // Empty: NAME.case.toml beside NAME.py, where there is one.
  std::string case_file;
  std::vector<std::string> args;
  std::vector<std::string> constexprs;
  // Workflow, labels, limits and so on; kernels and targets are filled in.
  v1::JobSpec base;
};

// A kernel or file that is left out, and why, in one sentence.
struct Skipped {
  std::string subject;
  std::string reason;
};

struct Submission {
  v1::JobSpec spec;
  // Digest to bytes of each module.
  std::map<std::string, std::string> modules;
  // Derived from the content: a repeated submission is the same job.
  std::string key;
  std::vector<Skipped> skipped;
  // Things worth knowing, such as targets that were assumed.
  std::vector<std::string> notes;
};

// INVALID_ARGUMENT or NOT_FOUND with one sentence when nothing can be
// submitted, and when the one file or kernel that was asked for cannot. In a
// batch what cannot be submitted is skipped. Reads files; stores nothing.
absl::StatusOr<Submission> PlanSubmission(const SubmissionRequest& request);

// The key for `spec` when the job `after` had the same content but did not
// finish; empty for the first.
std::string SubmissionKey(const v1::JobSpec& spec, std::string_view after);

}  // namespace kernelfleet::cli

#endif  // KERNELFLEET_CLI_PLAN_SUBMISSION_H_
