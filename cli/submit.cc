#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <cmath>

#include "cli/client.h"
#include "cli/follow.h"
#include "cli/plan_submission.h"
#include "cli/verbs.h"
#include "common/base/random.h"
#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/report/job_report.h"

namespace kernelfleet::cli {
namespace {

constexpr size_t kMaxShownSkipped = 20;
// A chain of jobs with the same content that all failed or were cancelled.
constexpr int kMaxRepeats = 64;

constexpr Flag kFlags[] = {
    {"--kernel", "NAME", "Only this jit function"},
    {"--target", "TARGET", "Compile for this target, such as cuda:sm_100",
     Repeat::kYes, "-t"},
    {"--workflow", "NAME", "What to do with the kernels (probe)"},
    {"--case", "FILE", "Argument types and constexprs; else NAME.case.toml"},
    {"--arg", "NAME=TYPE", "Type of one argument: x_ptr=*fp16:16",
     Repeat::kYes},
    {"--const", "NAME=VALUE", "Value of one constexpr: BLOCK=1024",
     Repeat::kYes},
    {"--label", "KEY=VALUE", "Kept with the job, for finding it", Repeat::kYes},
    {"--no-cache", "", "Compile again even where the result is known"},
    {"--queue-timeout", "SECONDS", "Give up on what no node took in time"},
    {"--detach", "", "Print the job's id and return at once"},
    {"--json", "", "Print JSON: the response, or the whole job when it ended"},
    KERNELFLEET_SERVER_FLAGS,
};

std::string UserName() {
  const struct passwd* entry = ::getpwuid(::geteuid());
  const std::string name = entry == nullptr ? "" : entry->pw_name;
  return Printable(name) == name ? name : "";
}

absl::StatusOr<SubmissionRequest> RequestOf(const Arguments& args) {
  SubmissionRequest request;
  request.paths = args.positional();
  request.kernel = args.Get("--kernel");
  request.targets = args.All("--target");
  request.case_file = args.Get("--case");
  request.args = args.All("--arg");
  request.constexprs = args.All("--const");
  v1::JobSpec& base = request.base;
  base.set_workflow(args.Get("--workflow", "probe"));
  base.set_user(UserName());
  base.set_no_cache(args.Has("--no-cache"));
  for (const std::string& label : args.All("--label")) {
    const size_t equals = label.find('=');
    if (equals == std::string::npos || equals == 0) {
      return InvalidArgument(fmt::format("--label '{}': expected KEY=VALUE",
                                         Shorten(Printable(label), 80)));
    }
    (*base.mutable_labels())[label.substr(0, equals)] =
        label.substr(equals + 1);
  }
  if (args.Has("--queue-timeout")) {
    const std::string text = args.Get("--queue-timeout");
    const std::optional<double> seconds = ParseDouble(text);
    if (!seconds || !std::isfinite(*seconds) || *seconds <= 0) {
      return InvalidArgument(
          fmt::format("--queue-timeout is '{}': expected seconds",
                      Shorten(Printable(text), 40)));
    }
    base.set_queue_timeout_s(*seconds);
  }
  return request;
}

void SayWhatWasLeftOut(const Submission& submission, Terminal& terminal) {
  for (const std::string& note : submission.notes) {
    terminal.Say(fmt::format("kernelfleet: {}\n", note));
  }
  size_t shown = 0;
  for (const Skipped& skipped : submission.skipped) {
    if (++shown > kMaxShownSkipped) {
      terminal.Say(fmt::format("kernelfleet: {} more left out\n",
                               submission.skipped.size() - kMaxShownSkipped));
      break;
    }
    terminal.Say(fmt::format("kernelfleet: left out: {}: {}\n", skipped.subject,
                             skipped.reason));
  }
}

struct Submitted {
  std::string job_id;
  bool created = false;
};

// The same content is the same job, unless that one did not finish or must not
// be reused: then the next one is named after it.
absl::StatusOr<Submitted> SubmitOnce(Client& client,
                                     const Submission& submission) {
  std::string key = submission.key;
  if (submission.spec.no_cache()) {
    key = SubmissionKey(submission.spec, SystemRandom().Id(16));
  }
  for (int i = 0; i < kMaxRepeats; ++i) {
    KF_ASSIGN_OR_RETURN(
        const v1::SubmitResponse response,
        client.Submit(submission.spec, key, submission.modules));
    if (response.created()) return Submitted{response.job_id(), true};
    KF_ASSIGN_OR_RETURN(const v1::JobDetail earlier,
                        client.GetJobHead(response.job_id()));
    const v1::JobState::Name state = earlier.summary().state();
    if (state != v1::JobState::failed && state != v1::JobState::cancelled) {
      return Submitted{response.job_id(), false};
    }
    key = SubmissionKey(submission.spec, response.job_id());
  }
  return FailedPrecondition(
      "this submission failed too often; --no-cache starts afresh");
}

absl::StatusOr<Exit> Run(const Arguments& args, Terminal& terminal) {
  KF_ASSIGN_OR_RETURN(const SubmissionRequest request, RequestOf(args));
  KF_ASSIGN_OR_RETURN(const Submission submission, PlanSubmission(request));
  KF_ASSIGN_OR_RETURN(Client client, Client::Connect(args));
  SayWhatWasLeftOut(submission, terminal);
  KF_ASSIGN_OR_RETURN(const Submitted job, SubmitOnce(client, submission));
  if (args.Has("--detach")) {
    terminal.Print(
        args.Has("--json")
            ? fmt::format("{{\"job_id\": \"{}\", \"created\": {}}}\n",
                          Printable(job.job_id), job.created)
            : Printable(job.job_id) + "\n");
    return Exit::kYes;
  }
  const std::string about = fmt::format(
      "Job {}: {} kernel{}{}\n", Printable(job.job_id),
      submission.spec.kernels_size(),
      submission.spec.kernels_size() == 1 ? "" : "s",
      job.created ? ""
                  : ", submitted before with the same content (--no-cache "
                    "compiles again)");
  if (!args.Has("--json")) {
    terminal.Print(about);
    return FollowJob(client, job.job_id, terminal);
  }
  KF_RETURN_IF_ERROR(client.Watch(job.job_id, [](const v1::JobEvent&) {}));
  KF_ASSIGN_OR_RETURN(const v1::JobDetail detail, client.GetJob(job.job_id));
  KF_ASSIGN_OR_RETURN(const std::string json, report::ToJson(detail));
  terminal.Print(json);
  return ExitOfJob(detail.summary());
}

}  // namespace

const Verb kSubmitVerb = {
    "submit",
    "FILE…",
    "Submit kernels and follow what becomes of them",
    kFlags,
    1,
    kAnyNumber,
    "Files are checked here first; what cannot be compiled is said with line "
    "and\ncolumn before any server is asked. Several files or a folder make "
    "one job.\nThe same content twice is the same job. Ctrl-C detaches.\n"
    "Exit status: 0 all compiled, 1 a finding against a kernel, 2 usage, 3 "
    "server.",
    "  kernelfleet submit examples/vector_add.py\n"
    "  kernelfleet submit k.py --kernel softmax -t cuda:sm_100 -t hip:gfx942 "
    "\\\n    --arg 'x_ptr=*fp16:16' --arg n=i32 --const BLOCK=1024\n"
    "  kernelfleet submit kernels/ --label branch=main --detach\n",
    &Run};

}  // namespace kernelfleet::cli
