#include "server/check_request.h"

#include <fmt/format.h>

#include <cmath>

#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/base/strings.h"

namespace kernelfleet::server {
namespace {

// A kernel's row is job << 20 | index.
constexpr int kMostKernels = (1 << 20) - 1;
constexpr int kMostLabels = 64;
constexpr size_t kLongestName = 256;
constexpr size_t kLongestText = 1024;
constexpr int kMostEnvironments = 64;
constexpr int kMostPriority = 1000;

// Short, not empty when `needed`, and nothing a terminal would act on.
enum class Needed { kNo, kYes };
absl::Status CheckName(std::string_view what, const std::string& text,
                       size_t longest, Needed needed) {
  if (needed == Needed::kYes && text.empty()) {
    return InvalidArgument(fmt::format("{} is empty", what));
  }
  if (text.size() > longest) {
    return InvalidArgument(fmt::format("{} is {} bytes long; {} are allowed",
                                       what, text.size(), longest));
  }
  if (Printable(text) != text) {
    return InvalidArgument(
        fmt::format("{} holds control characters: {}", what, Printable(text)));
  }
  return absl::OkStatus();
}

absl::Status CheckSeconds(std::string_view what, double seconds) {
  if (std::isfinite(seconds) && seconds >= 0 && seconds <= 1e9) {
    return absl::OkStatus();
  }
  return InvalidArgument(
      fmt::format("{} is {}: it must be between 0 and 1e9", what, seconds));
}

absl::Status CheckTarget(const v1::Target& target) {
  KF_RETURN_IF_ERROR(
      CheckName("a target's backend", target.backend(), 64, Needed::kYes));
  return CheckName("a target's architecture", target.arch(), 64, Needed::kYes);
}

absl::Status CheckKernel(const v1::KernelSpec& kernel) {
  KF_RETURN_IF_ERROR(
      CheckName("a kernel's name", kernel.name(), kLongestName, Needed::kYes));
  KF_RETURN_IF_ERROR(
      CheckName("a kernel's file", kernel.source_file(), 4096, Needed::kNo));
  if (!IsDigest(kernel.module_digest())) {
    return InvalidArgument(fmt::format(
        "kernel {} does not name its module's blob: \"{}\" is no digest",
        kernel.name(), Printable(Shorten(kernel.module_digest(), 80))));
  }
  for (const v1::Target& target : kernel.targets()) {
    KF_RETURN_IF_ERROR(CheckTarget(target));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSpec(const v1::JobSpec& spec) {
  KF_RETURN_IF_ERROR(
      CheckName("the workflow", spec.workflow(), 64, Needed::kYes));
  if (spec.kernels().empty()) {
    return InvalidArgument("the job has no kernel");
  }
  if (spec.kernels_size() > kMostKernels) {
    return InvalidArgument(fmt::format("the job has {} kernels; {} are allowed",
                                       spec.kernels_size(), kMostKernels));
  }
  for (const v1::KernelSpec& kernel : spec.kernels()) {
    KF_RETURN_IF_ERROR(CheckKernel(kernel));
  }
  for (const v1::Target& target : spec.targets()) {
    KF_RETURN_IF_ERROR(CheckTarget(target));
  }
  if (spec.labels_size() > kMostLabels) {
    return InvalidArgument(fmt::format("the job has {} labels; {} are allowed",
                                       spec.labels_size(), kMostLabels));
  }
  for (const auto& [key, value] : spec.labels()) {
    KF_RETURN_IF_ERROR(CheckName("a label", key, 64, Needed::kYes));
    KF_RETURN_IF_ERROR(
        CheckName("a label's value", value, kLongestName, Needed::kNo));
  }
  KF_RETURN_IF_ERROR(
      CheckName("the user", spec.user(), kLongestName, Needed::kNo));
  KF_RETURN_IF_ERROR(
      CheckName("the node", spec.node(), kLongestName, Needed::kNo));
  KF_RETURN_IF_ERROR(CheckName("the environment", spec.environment(),
                               kLongestName, Needed::kNo));
  if (std::abs(spec.priority()) > kMostPriority) {
    return InvalidArgument(fmt::format("priority {} is outside -{}…{}",
                                       spec.priority(), kMostPriority,
                                       kMostPriority));
  }
  KF_RETURN_IF_ERROR(CheckSeconds("run_s", spec.limits().run_s()));
  KF_RETURN_IF_ERROR(CheckSeconds("queue_timeout_s", spec.queue_timeout_s()));
  return CheckSeconds("total_timeout_s", spec.total_timeout_s());
}

absl::Status CheckFacts(const v1::NodeFacts& facts) {
  KF_RETURN_IF_ERROR(
      CheckName("the node's id", facts.node_id(), kLongestName, Needed::kYes));
  if (facts.environments_size() > kMostEnvironments) {
    return InvalidArgument(
        fmt::format("the node has {} environments; {} are allowed",
                    facts.environments_size(), kMostEnvironments));
  }
  for (const v1::Environment& each : facts.environments()) {
    KF_RETURN_IF_ERROR(CheckName("an environment's name", each.name(),
                                 kLongestName, Needed::kYes));
  }
  return absl::OkStatus();
}

absl::Status CheckNodeState(const v1::SetNodeStateRequest& request) {
  const std::string& state = request.state();
  if (state != "online" && state != "cordoned" && state != "draining") {
    return InvalidArgument(
        fmt::format("no node state is called {}: online, cordoned, draining",
                    Printable(Shorten(state, 80))));
  }
  return CheckName("the reason", request.reason(), kLongestText, Needed::kNo);
}

absl::Status CheckKey(const std::string& idempotency_key) {
  return CheckName("the idempotency key", idempotency_key, kLongestName,
                   Needed::kNo);
}

}  // namespace kernelfleet::server
