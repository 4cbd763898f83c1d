// kernelfleet lower-tileir: stock Triton's TTIR to CUDA Tile IR, on a laptop.
#include <fmt/format.h>

#include <optional>
#include <string>

#include "cli/verbs.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/tileir/lower.h"
#include "google/protobuf/util/json_util.h"

namespace kernelfleet::cli {
namespace {

constexpr int64_t kMaxTtirBytes = int64_t{64} << 20;

constexpr Flag kFlags[] = {
    {"--arch", "ARCH", "Architecture of the hints: sm_90, sm_100 …"},
    {"--bytecode", "VERSION", "Bytecode version to write, 13.1 to 13.5"},
    {"--order",
     "ORDER",
     "Whether buffers of different arguments may overlap",
     Repeat::kNo,
     {},
     "distinct may-overlap"},
    {"--num-warps", "N", "Worker warps, as Triton's num_warps"},
    {"--num-ctas", "N", "Thread blocks in a cluster, as Triton's num_ctas"},
    {"--num-stages", "N", "Latency hint of loads in loops"},
    {"--occupancy", "N", "Thread blocks on one multiprocessor, 1 to 32"},
    {"--output", "FILE", "Write the bytecode here", Repeat::kNo, "-o"},
    {"--text", "", "Print the Tile IR as text"},
    {"--json", "", "Print the whole result as JSON"},
};

absl::Status ReadNumber(const Arguments& args, std::string_view flag,
                        int* value) {
  if (!args.Has(flag)) return absl::OkStatus();
  const std::string text = args.Get(flag);
  const std::optional<int64_t> number = ParseInt(text);
  if (!number.has_value() || *number < 1 || *number > 1024) {
    return InvalidArgument(fmt::format("{} '{}' is not a number from 1 to 1024",
                                       flag, Printable(text)));
  }
  *value = static_cast<int>(*number);
  return absl::OkStatus();
}

absl::StatusOr<tileir::LowerOptions> OptionsFrom(const Arguments& args) {
  tileir::LowerOptions options;
  options.arch = args.Get("--arch");
  const std::string version = args.Get("--bytecode", "13.5");
  const std::optional<int64_t> minor =
      version.starts_with("13.") ? ParseInt(version.substr(3)) : std::nullopt;
  if (!minor.has_value() || *minor < 1 || *minor > 99) {
    return InvalidArgument(fmt::format(
        "--bytecode '{}' is no version like 13.5", Printable(version)));
  }
  options.version_minor = static_cast<int>(*minor);
  if (args.Get("--order") == "may-overlap") {
    options.order = tileir::BufferOrder::kMayOverlap;
  }
  KF_RETURN_IF_ERROR(
      ReadNumber(args, "--num-warps", &options.num_worker_warps));
  KF_RETURN_IF_ERROR(ReadNumber(args, "--num-ctas", &options.num_ctas));
  KF_RETURN_IF_ERROR(ReadNumber(args, "--num-stages", &options.num_stages));
  KF_RETURN_IF_ERROR(ReadNumber(args, "--occupancy", &options.occupancy));
  return options;
}

std::string Summary(const v1::TileIrKernel& kernel) {
  std::string out;
  for (const v1::TileIrUnsupported& finding : kernel.unsupported()) {
    const std::string place =
        finding.line() == 0
            ? std::string()
            : fmt::format(" at {}:{}", Printable(finding.file()),
                          finding.line());
    out += fmt::format("unsupported: {}{}: {}\n", Printable(finding.op()),
                       place, Printable(finding.reason()));
  }
  if (!out.empty()) return out;
  out = fmt::format("{}: {} bytes of bytecode {}, {} of {} accesses ordered\n",
                    Printable(kernel.entry()), kernel.bytecode().size(),
                    kernel.bytecode_version(), kernel.ordered_accesses(),
                    kernel.accesses());
  return out;
}

absl::StatusOr<Exit> Run(const Arguments& args, Terminal& terminal) {
  KF_ASSIGN_OR_RETURN(const tileir::LowerOptions options, OptionsFrom(args));
  KF_ASSIGN_OR_RETURN(const std::string text,
                      ReadFile(args.positional()[0], kMaxTtirBytes));
  KF_ASSIGN_OR_RETURN(const v1::TileIrKernel kernel,
                      tileir::Lower(text, options));
  if (args.Has("--json")) {
    std::string json;
    const auto status =
        google::protobuf::util::MessageToJsonString(kernel, &json);
    if (!status.ok()) return Internal("the result does not print as JSON");
    terminal.Print(json + "\n");
  } else if (args.Has("--text") && kernel.unsupported_size() == 0) {
    terminal.Print(kernel.text());
  } else {
    terminal.Print(Summary(kernel));
  }
  if (kernel.unsupported_size() > 0) return Exit::kNo;
  if (args.Has("--output")) {
    KF_RETURN_IF_ERROR(
        WriteFileAtomic(args.Get("--output"), kernel.bytecode()));
  }
  return Exit::kYes;
}

}  // namespace

const Verb kLowerTileIrVerb = {
    "lower-tileir",
    "FILE.ttir",
    "Lower TTIR of stock Triton to CUDA Tile IR bytecode",
    kFlags,
    1,
    1,
    "Assemble the bytecode with `tileiras --gpu-name=sm_90 -o K.cubin FILE`.\n"
    "Exit 1 when an operation has no exact counterpart; each is named with\n"
    "its source line.",
    "  kernelfleet lower-tileir add.ttir --arch sm_90 -o add.tileirbc\n"
    "  kernelfleet lower-tileir add.ttir --text\n",
    &Run};

}  // namespace kernelfleet::cli
