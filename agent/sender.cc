#include "agent/sender.h"

#include <fmt/format.h>

#include <set>
#include <utility>
#include <vector>

#include "agent/execute.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status.h"

namespace kernelfleet::agent {
namespace {

constexpr int64_t kLogChunk = 64 << 10;
constexpr int64_t kMaxArtifact = int64_t{1} << 30;

}  // namespace

bool MayRetry(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kCancelled:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kInternal:
      return true;
    default:
      return false;
  }
}

Sender::Sender(std::string node_id, Coordinator& coordinator)
    : node_id_(std::move(node_id)), coordinator_(coordinator) {}

absl::Status Sender::Send(Attempt& attempt, int64_t session) {
  if (attempt.stop_reason() == StopReason::kCancelled &&
      attempt.completion().has_result()) {
    attempt.mutable_completion() = InfraCompletion(
        attempt.task(), v1::InfraFailure::cancelled, "cancelled");
  }
  KF_RETURN_IF_ERROR(UploadArtifacts(attempt));
  if (const absl::Status log = SendLog(attempt); MayRetry(log)) return log;
  v1::CompleteRequest request = attempt.completion();
  request.set_node_id(node_id_);
  request.set_session(session);
  KF_ASSIGN_OR_RETURN(const v1::CompleteResponse response,
                      coordinator_.Complete(request));
  if (response.accepted()) {
    LogDebug("result accepted", {{"fence", attempt.fence()}});
  } else {
    LogInfo("result not accepted",
            {{"fence", attempt.fence()}, {"reason", response.reason()}});
  }
  return absl::OkStatus();
}

absl::Status Sender::UploadArtifacts(Attempt& attempt) {
  v1::CompleteRequest& completion = attempt.mutable_completion();
  if (!completion.has_result()) return absl::OkStatus();
  v1::ProbeResult& probe = *completion.mutable_result()->mutable_probe();
  std::set<std::string> digests;
  for (const v1::Artifact& artifact : probe.artifacts()) {
    digests.insert(artifact.digest());
  }
  if (digests.empty()) return absl::OkStatus();
  KF_ASSIGN_OR_RETURN(
      const std::vector<std::string> missing,
      coordinator_.FindMissing({digests.begin(), digests.end()}));
  const std::set<std::string> wanted(missing.begin(), missing.end());
  google::protobuf::RepeatedPtrField<v1::Artifact> kept;
  for (const v1::Artifact& artifact : probe.artifacts()) {
    if (wanted.contains(artifact.digest())) {
      KF_ASSIGN_OR_RETURN(const bool sent, UploadArtifact(attempt, artifact));
      if (!sent) {
        probe.add_warnings(
            fmt::format("artifact {} could not be stored", artifact.name()));
        continue;
      }
    }
    *kept.Add() = artifact;
  }
  probe.mutable_artifacts()->Swap(&kept);
  return absl::OkStatus();
}

// False: these bytes can never be stored.
absl::StatusOr<bool> Sender::UploadArtifact(const Attempt& attempt,
                                            const v1::Artifact& artifact) {
  const absl::StatusOr<std::string> bytes =
      ReadFileBeneath(attempt.work(), artifact.name(), kMaxArtifact);
  const absl::Status status =
      bytes.ok() ? coordinator_.Upload(artifact.digest(), *bytes)
                 : InvalidArgument(Text(bytes.status()));
  if (MayRetry(status)) return status;
  if (!status.ok()) {
    LogWarning("artifact not stored", {{"fence", attempt.fence()},
                                       {"artifact", artifact.name()},
                                       {"error", Text(status)}});
  }
  return status.ok();
}

absl::Status Sender::SendLog(Attempt& attempt) {
  for (;;) {
    const int64_t offset = attempt.log().sent();
    KF_ASSIGN_OR_RETURN(std::string bytes,
                        attempt.log().Read(offset, kLogChunk));
    if (bytes.empty()) return absl::OkStatus();
    v1::AppendLogRequest request;
    request.set_node_id(node_id_);
    request.set_task_id(attempt.task().task_id());
    request.set_fence(attempt.fence());
    request.set_offset(offset);
    request.set_data(std::move(bytes));
    KF_ASSIGN_OR_RETURN(const v1::AppendLogResponse response,
                        coordinator_.AppendLog(request));
    // The coordinator may have more than we remember (we restarted), or refuse
    // to take more (its cap).
    if (response.next_offset() <= offset) return absl::OkStatus();
    attempt.log().set_sent(response.next_offset());
  }
}

}  // namespace kernelfleet::agent
