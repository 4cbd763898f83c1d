#include "agent/collect.h"

#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/isa/scan.h"

namespace kernelfleet::agent {
namespace {

constexpr size_t kMaxMessage = 16 << 10;
constexpr size_t kMaxWarning = 1 << 10;
constexpr int kMaxWarnings = 32;
constexpr int kMaxStages = 64;
constexpr size_t kMaxEnvironment = 256;
constexpr size_t kMaxDetail = 256 << 10;
constexpr int kMaxIsaKernels = 64;

// Files of the contract; an artifact may not bear their names.
constexpr std::string_view kReserved[] = {
    "request.json", "module.py", "result.json", "stdout.txt", "stderr.txt"};

// Texts of machine code that common/isa reads.
constexpr std::string_view kScanned[] = {"ptx", "sass", "amdgcn"};

void Warn(v1::ProbeResult& probe, std::string_view text) {
  if (probe.warnings_size() < kMaxWarnings) {
    probe.add_warnings(Shorten(text, kMaxWarning));
  }
}

void Cut(std::string& text, size_t max_bytes) {
  if (text.size() > max_bytes) text = Shorten(text, max_bytes);
}

// Reads result.json. The status says why the text is no result.
absl::StatusOr<v1::ProbeResult> ReadResult(const std::string& work,
                                           int64_t max_bytes) {
  KF_ASSIGN_OR_RETURN(std::string text,
                      ReadFileBeneath(work, "result.json", max_bytes));
  if (!IsValidUtf8(text)) return InvalidArgument("result.json is not UTF-8");
  v1::ProbeResult probe;
  google::protobuf::util::JsonParseOptions options;
  // A newer runner may say more than we know.
  options.ignore_unknown_fields = true;
  const auto parsed =
      google::protobuf::util::JsonStringToMessage(text, &probe, options);
  if (!parsed.ok()) {
    return InvalidArgument(fmt::format("result.json cannot be read: {}",
                                       parsed.message().ToString()));
  }
  const auto sane = [](double ms) { return std::isfinite(ms) && ms >= 0; };
  bool numbers = sane(probe.total_ms()) && probe.peak_rss_bytes() >= 0 &&
                 probe.alternative() >= 0;
  for (const v1::StageTime& stage : probe.stages()) {
    numbers = numbers && sane(stage.ms());
  }
  if (!numbers) {
    return InvalidArgument("result.json holds an impossible number");
  }
  if (probe.outcome() == v1::Outcome::outcome_unspecified ||
      !v1::Outcome::Code_IsValid(probe.outcome())) {
    return InvalidArgument("result.json names no known outcome");
  }
  return probe;
}

// The finding for an attempt without a readable result.
v1::ProbeResult FindingOf(const PhaseEnd& end, const absl::Status& why,
                          const std::string& last_words) {
  v1::ProbeResult probe;
  v1::Failure& failure = *probe.mutable_failure();
  failure.set_error_class("kernelfleet-runner");
  std::string text;
  if (end.timed_out) {
    probe.set_outcome(v1::Outcome::timed_out);
    text =
        fmt::format("stopped after {:.1f} s", absl::ToDoubleSeconds(end.wall));
  } else if (end.signal == SIGXFSZ || end.signal == SIGXCPU) {
    probe.set_outcome(v1::Outcome::limit_exceeded);
    failure.set_signal(end.signal);
    text = "a file grew past the attempt's limit";
  } else if (end.signal != 0) {
    probe.set_outcome(v1::Outcome::crashed);
    failure.set_signal(end.signal);
    text = fmt::format("killed by signal {} ({})", end.signal,
                       ::strsignal(end.signal));
  } else {
    probe.set_outcome(v1::Outcome::invalid_result);
    failure.set_exit_status(end.exit_status);
    text =
        absl::IsNotFound(why)
            ? fmt::format("ended with status {} and no result", end.exit_status)
            : Text(why);
  }
  if (!last_words.empty()) text += "\n" + last_words;
  failure.set_message(Shorten(text, kMaxMessage));
  probe.set_total_ms(absl::ToDoubleMilliseconds(end.wall));
  return probe;
}

void CutToSize(v1::ProbeResult& probe) {
  if (probe.has_failure()) {
    Cut(*probe.mutable_failure()->mutable_message(), kMaxMessage);
    Cut(*probe.mutable_failure()->mutable_source_line(), kMaxWarning);
    Cut(*probe.mutable_failure()->mutable_error_class(), kMaxWarning);
    Cut(*probe.mutable_failure()->mutable_resource(), kMaxWarning);
    Cut(*probe.mutable_failure()->mutable_stage(), kMaxWarning);
  }
  Cut(*probe.mutable_symbol(), kMaxWarning);
  if (probe.detail_json().size() > kMaxDetail) {
    probe.clear_detail_json();
    Warn(probe, "detail dropped: too large");
  }
  while (probe.stages_size() > kMaxStages) probe.mutable_stages()->RemoveLast();
  while (probe.warnings_size() > kMaxWarnings) {
    probe.mutable_warnings()->RemoveLast();
  }
  for (std::string& warning : *probe.mutable_warnings()) {
    Cut(warning, kMaxWarning);
  }
  if (probe.environment().size() > kMaxEnvironment) {
    probe.clear_environment();
    Warn(probe, "environment dropped: too many entries");
  }
  for (auto& [name, value] : *probe.mutable_environment()) {
    Cut(value, kMaxWarning);
  }
}

void CountInstructions(const v1::Artifact& artifact, const std::string& bytes,
                       v1::TaskResult& result) {
  if (std::find(std::begin(kScanned), std::end(kScanned), artifact.kind()) ==
      std::end(kScanned)) {
    return;
  }
  v1::IsaReport report = isa::Scan(artifact.name(), bytes);
  for (const std::string& problem : report.problems()) {
    Warn(*result.mutable_probe(),
         fmt::format("{}: {}", artifact.name(), Printable(problem)));
  }
  for (v1::IsaKernel& kernel : *report.mutable_kernels()) {
    if (result.isa_size() >= kMaxIsaKernels) {
      Warn(*result.mutable_probe(), "machine code of more kernels not shown");
      return;
    }
    *result.add_isa() = std::move(kernel);
  }
}

// Replaces the runner's list by the artifacts that stand up to a look.
void CollectArtifacts(const std::string& work, const CollectLimits& limits,
                      v1::TaskResult& result) {
  v1::ProbeResult& probe = *result.mutable_probe();
  google::protobuf::RepeatedPtrField<v1::Artifact> listed;
  listed.Swap(probe.mutable_artifacts());
  std::set<std::string> seen;
  int64_t total = 0;
  for (v1::Artifact& artifact : listed) {
    const std::string shown = Shorten(Printable(artifact.name()), 100);
    if (!IsArtifactName(artifact.name()) || artifact.kind().size() > 32) {
      Warn(probe, fmt::format("artifact {} refused: not a name", shown));
      continue;
    }
    if (!seen.insert(artifact.name()).second) continue;
    if (probe.artifacts_size() >= limits.artifacts) {
      Warn(probe, fmt::format("artifacts beyond {} dropped", limits.artifacts));
      break;
    }
    const int64_t room =
        std::min(limits.artifact_bytes, limits.total_bytes - total);
    const absl::StatusOr<std::string> bytes =
        ReadFileBeneath(work, artifact.name(), room);
    if (!bytes.ok()) {
      Warn(probe,
           fmt::format("artifact {} dropped: {}", shown, Text(bytes.status())));
      continue;
    }
    total += static_cast<int64_t>(bytes->size());
    artifact.set_size_bytes(static_cast<int64_t>(bytes->size()));
    artifact.set_digest(DigestOf(*bytes));
    CountInstructions(artifact, *bytes, result);
    *probe.add_artifacts() = std::move(artifact);
  }
}

}  // namespace

bool IsArtifactName(const std::string& name) {
  if (name.empty() || name.size() > 128 || name[0] == '.') return false;
  for (const char c : name) {
    const bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      (c >= '0' && c <= '9') || c == '.' || c == '_' ||
                      c == '-';
    if (!fine) return false;
  }
  return std::find(std::begin(kReserved), std::end(kReserved), name) ==
         std::end(kReserved);
}

v1::TaskResult CollectResult(const std::string& work, const PhaseEnd& end,
                             const std::string& last_words,
                             const CollectLimits& limits) {
  v1::TaskResult result;
  v1::ProbeResult& probe = *result.mutable_probe();
  absl::StatusOr<v1::ProbeResult> read = ReadResult(work, limits.result_bytes);
  if (read.ok()) {
    probe = *std::move(read);
    if (end.signal != 0 && probe.outcome() == v1::Outcome::compiled) {
      Warn(probe, fmt::format("the runner died of signal {} after its result",
                              end.signal));
    }
  } else {
    probe = FindingOf(end, read.status(), last_words);
  }
  CutToSize(probe);
  if (end.output_truncated) Warn(probe, "output of the attempt was cut");
  if (probe.peak_rss_bytes() == 0) probe.set_peak_rss_bytes(end.peak_rss_bytes);
  CollectArtifacts(work, limits, result);
  while (result.isa_size() > 0 &&
         result.ByteSizeLong() > static_cast<size_t>(limits.message_bytes)) {
    result.mutable_isa()->RemoveLast();
    if (result.isa_size() == 0) Warn(probe, "machine code counts too large");
  }
  if (result.ByteSizeLong() > static_cast<size_t>(limits.message_bytes)) {
    probe = FindingOf(end, InvalidArgument("the result is too large"), "");
    probe.set_outcome(v1::Outcome::invalid_result);
  }
  return result;
}

}  // namespace kernelfleet::agent
