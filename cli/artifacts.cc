#include "cli/artifacts.h"

#include <fmt/format.h>

#include "cli/client.h"
#include "cli/verbs.h"
#include "common/base/status.h"
#include "common/report/document.h"
#include "common/report/job_report.h"
#include "common/report/words.h"
#include "common/workflow/target.h"

namespace kernelfleet::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--json", "", "Print JSON, one object a line"},
    KERNELFLEET_SERVER_FLAGS,
};

absl::StatusOr<Exit> Run(const Arguments& args, Terminal& terminal) {
  KF_ASSIGN_OR_RETURN(Client client, Client::Connect(args));
  KF_ASSIGN_OR_RETURN(const v1::JobDetail job,
                      client.GetJob(args.positional()[0]));
  report::Table table;
  table.columns = {
      {"artifact"}, {"kind"}, {"size", report::Align::kRight}, {"digest"}};
  for (const NamedArtifact& one : ArtifactsOf(job)) {
    if (args.Has("--json")) {
      v1::Artifact artifact = one.artifact;
      artifact.set_name(one.name);
      KF_ASSIGN_OR_RETURN(const std::string json, report::ToJsonLine(artifact));
      terminal.Print(json + "\n");
      continue;
    }
    table.rows.push_back({one.name, one.artifact.kind(),
                          report::BytesText(one.artifact.size_bytes()) +
                              (one.artifact.truncated() ? " (cut)" : ""),
                          one.artifact.digest().substr(0, 19)});
  }
  if (args.Has("--json")) return Exit::kYes;
  terminal.Print(
      table.rows.empty()
          ? "No artifact yet.\n"
          : report::ToTerminal(table, {terminal.width(), terminal.color()}));
  return Exit::kYes;
}

}  // namespace

std::vector<NamedArtifact> ArtifactsOf(const v1::JobDetail& job) {
  std::vector<NamedArtifact> out;
  for (const v1::TaskRecord& task : job.tasks()) {
    std::string folder;
    if (task.spec().kernel() < job.spec().kernels_size()) {
      folder = job.spec().kernels(task.spec().kernel()).name();
    }
    folder += "/" + workflow::TargetName(task.spec().target());
    if (!task.spec().variant().empty()) folder += "/" + task.spec().variant();
    for (const v1::Artifact& artifact : task.result().probe().artifacts()) {
      out.push_back({fmt::format("{}/{}", folder, artifact.name()), artifact});
    }
  }
  return out;
}

const Verb kArtifactsVerb = {
    "artifacts",
    "JOB",
    "List the files that a job's builds left",
    kFlags,
    1,
    1,
    "IR, machine code and logs, by kernel, target and variant. JOB is an id, "
    "a unique\nprefix of one, or `last`.",
    "  kernelfleet artifacts last\n",
    &Run};

}  // namespace kernelfleet::cli
