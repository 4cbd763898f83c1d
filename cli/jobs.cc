#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "cli/client.h"
#include "cli/verbs.h"
#include "common/base/clock.h"
#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/report/document.h"
#include "common/report/job_report.h"
#include "common/report/words.h"

namespace kernelfleet::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--state", "STATE", "Only jobs in this state", Repeat::kYes, "",
     "active done failed cancelled"},
    {"--kernel", "NAME", "Only jobs with this kernel"},
    {"--target", "TARGET", "Only jobs for this target"},
    {"--label", "KEY=VALUE", "Only jobs with this label", Repeat::kYes},
    {"--user", "NAME", "Only this user's jobs"},
    {"--workflow", "NAME", "Only this workflow"},
    {"--since", "AGE", "Only jobs younger than this: 90m, 12h, 7d"},
    {"--limit", "N", "Jobs to show (20)", Repeat::kNo, "-n"},
    {"--page", "TOKEN", "Continue where an earlier list ended"},
    {"--json", "", "Print JSON"},
    KERNELFLEET_SERVER_FLAGS,
};

absl::StatusOr<double> AgeSeconds(const std::string& text) {
  struct Unit {
    char letter;
    double seconds;
  };
  constexpr Unit kUnits[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.letter)) continue;
    const auto number = ParseDouble(text.substr(0, text.size() - 1));
    if (number && std::isfinite(*number) && *number > 0) {
      return *number * unit.seconds;
    }
  }
  return InvalidArgument(
      fmt::format("--since is '{}': expected an age such as 90m, 12h or 7d",
                  Shorten(Printable(text), 40)));
}

absl::StatusOr<v1::ListJobsRequest> RequestOf(const Arguments& args) {
  v1::ListJobsRequest request;
  for (const std::string& state : args.All("--state")) {
    request.add_states(state);
  }
  request.set_kernel(args.Get("--kernel"));
  request.set_target(args.Get("--target"));
  request.set_user(args.Get("--user"));
  request.set_workflow(args.Get("--workflow"));
  request.set_page_token(args.Get("--page"));
  for (const std::string& label : args.All("--label")) {
    const size_t equals = label.find('=');
    if (equals == std::string::npos) {
      return InvalidArgument(fmt::format("--label '{}': expected KEY=VALUE",
                                         Shorten(Printable(label), 80)));
    }
    (*request.mutable_labels())[label.substr(0, equals)] =
        label.substr(equals + 1);
  }
  if (args.Has("--since")) {
    KF_ASSIGN_OR_RETURN(const double age, AgeSeconds(args.Get("--since")));
    request.set_since_unix_s(
        absl::ToDoubleSeconds(RealClock().Now() - absl::UnixEpoch()) - age);
  }
  KF_ASSIGN_OR_RETURN(const int64_t limit,
                      IntFlag(args, "--limit", 20, 1, 1000));
  request.set_page_size(static_cast<int32_t>(limit));
  return request;
}

report::Tone ToneOf(const v1::JobSummary& job) {
  if (job.state() == v1::JobState::failed || job.findings() > 0) {
    return report::Tone::kBad;
  }
  return job.state() == v1::JobState::done ? report::Tone::kGood
                                           : report::Tone::kPlain;
}

report::Table TableOf(const v1::ListJobsResponse& response) {
  const double now =
      absl::ToDoubleSeconds(RealClock().Now() - absl::UnixEpoch());
  report::Table table;
  table.columns = {{"job"},
                   {"kernel"},
                   {"state"},
                   {"done", report::Align::kRight},
                   {"findings", report::Align::kRight},
                   {"failed", report::Align::kRight},
                   {"user"},
                   {"age", report::Align::kRight}};
  for (const v1::JobSummary& job : response.jobs()) {
    std::string title = job.title();
    if (job.kernels() > 1) title += fmt::format(" +{}", job.kernels() - 1);
    const auto number = [](int n) { return n == 0 ? "" : std::to_string(n); };
    table.rows.push_back({job.job_id(),
                          title,
                          {v1::JobState::Name_Name(job.state()), ToneOf(job)},
                          fmt::format("{}/{}", job.done(), job.tasks()),
                          number(job.findings()),
                          number(job.failed()),
                          job.user(),
                          report::DurationText(std::max(
                              0.0, now - report::Seconds(job.created())))});
  }
  return table;
}

absl::StatusOr<Exit> Run(const Arguments& args, Terminal& terminal) {
  KF_ASSIGN_OR_RETURN(const v1::ListJobsRequest request, RequestOf(args));
  KF_ASSIGN_OR_RETURN(Client client, Client::Connect(args));
  KF_ASSIGN_OR_RETURN(const v1::ListJobsResponse response,
                      client.ListJobs(request));
  if (args.Has("--json")) {
    KF_ASSIGN_OR_RETURN(const std::string json, report::ToJson(response));
    terminal.Print(json);
    return Exit::kYes;
  }
  if (response.jobs().empty()) {
    terminal.Print("No job matches.\n");
    return Exit::kYes;
  }
  terminal.Print(report::ToTerminal(TableOf(response),
                                    {terminal.width(), terminal.color()}));
  if (!response.next_page_token().empty()) {
    terminal.Print(fmt::format("More: --page {}\n",
                               Printable(response.next_page_token())));
  }
  return Exit::kYes;
}

}  // namespace

const Verb kJobsVerb = {
    "jobs",
    "",
    "List jobs, newest first",
    kFlags,
    0,
    0,
    "",
    "  kernelfleet jobs --state active\n"
    "  kernelfleet jobs --kernel softmax_kernel --since 7d --json\n",
    &Run};

}  // namespace kernelfleet::cli
