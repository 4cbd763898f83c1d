#include <fmt/format.h>

#include "cli/verbs.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/isa/scan.h"
#include "common/report/job_report.h"

namespace kernelfleet::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--kernel", "NAME", "Only this kernel symbol"},
    {"--json", "", "Print JSON: one report, or an array for several files"},
};

constexpr int64_t kMaxIsaBytes = int64_t{1} << 30;

// With --kernel: that kernel alone, or every symbol there is in the error.
absl::StatusOr<v1::IsaReport> ScanFile(const std::string& path,
                                       const Arguments& args) {
  KF_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxIsaBytes));
  v1::IsaReport report = isa::Scan(Printable(path), text);
  if (!args.Has("--kernel")) return report;
  return isa::OnlyKernel(std::move(report), args.Get("--kernel"));
}

absl::StatusOr<Exit> Run(const Arguments& args, Terminal& terminal) {
  const std::vector<std::string>& paths = args.positional();
  bool clean = true;
  std::string out;
  for (const std::string& path : paths) {
    absl::StatusOr<v1::IsaReport> report = ScanFile(path, args);
    if (!report.ok()) {
      return Error(report.status().code() == absl::StatusCode::kNotFound
                       ? absl::StatusCode::kNotFound
                       : absl::StatusCode::kInvalidArgument,
                   Text(report.status()));
    }
    clean = clean && report->problems().empty();
    if (!args.Has("--json")) {
      out += isa::ToText(*report);
      continue;
    }
    KF_ASSIGN_OR_RETURN(const std::string json,
                        paths.size() == 1 ? report::ToJson(*report)
                                          : report::ToJsonLine(*report));
    out += paths.size() == 1 ? json : (out.empty() ? "[\n" : ",\n") + json;
  }
  if (args.Has("--json") && paths.size() > 1) out += "\n]\n";
  terminal.Print(out);
  return clean ? Exit::kYes : Exit::kNo;
}

}  // namespace

const Verb kScanIsaVerb = {
    "scan-isa",
    "FILE…",
    "Count what machine code does: PTX, SASS or AMD assembly",
    kFlags,
    1,
    kAnyNumber,
    "Works on text alone: no server, no GPU, no Python. Exit status 1 when a "
    "file could\nnot be read whole.",
    "  kernelfleet scan-isa kernel.amdgcn\n"
    "  kernelfleet scan-isa dump/*.sass --kernel softmax_kernel --json\n",
    &Run};

}  // namespace kernelfleet::cli
