#include "agent/grpc_coordinator.h"

#include <utility>

#include "common/base/status.h"

namespace kernelfleet::agent {
namespace {

using Stub = v1::NodeService::Stub;

// Heartbeats must fail well within a lease, so that one more fits.
constexpr absl::Duration kHeartbeatDeadline = absl::Seconds(8);
constexpr absl::Duration kDeadline = absl::Seconds(20);
constexpr absl::Duration kRegisterDeadline = absl::Seconds(5);
// A long poll's answer may be on its way when the wait is over.
constexpr absl::Duration kPollSlack = absl::Seconds(10);

rpc::CallOptions Once(absl::Duration deadline) {
  rpc::CallOptions options;
  options.deadline = deadline;
  options.attempts = 1;
  return options;
}

}  // namespace

GrpcCoordinator::GrpcCoordinator(std::shared_ptr<grpc::Channel> channel)
    : nodes_(v1::NodeService::NewStub(channel)),
      blobs_(channel, Once(kDeadline)) {}

absl::StatusOr<v1::RegisterResponse> GrpcCoordinator::Register(
    const v1::RegisterRequest& request) {
  KF_RETURN_IF_ERROR(rpc::CheckRequestSize(request.ByteSizeLong()));
  v1::RegisterResponse response;
  // Waits for the channel to connect: failing at once instead would put the
  // worker's pauses on top of the channel's, and a server that was away for a
  // moment would be missed for half a minute.
  KF_RETURN_IF_ERROR(
      rpc::Retry(Once(kRegisterDeadline), [&](grpc::ClientContext& context) {
        context.set_wait_for_ready(true);
        return nodes_->Register(&context, request, &response);
      }));
  return response;
}

absl::StatusOr<v1::LeaseResponse> GrpcCoordinator::Lease(
    const v1::LeaseRequest& request) {
  rpc::CallOptions options = Once(absl::Seconds(request.wait_s()) + kPollSlack);
  options.stop = &stop_leasing_;
  return rpc::Call(*nodes_, &Stub::Lease, request, options);
}

absl::StatusOr<v1::HeartbeatResponse> GrpcCoordinator::Heartbeat(
    const v1::HeartbeatRequest& request) {
  return rpc::Call(*nodes_, &Stub::Heartbeat, request,
                   Once(kHeartbeatDeadline));
}

absl::StatusOr<v1::CompleteResponse> GrpcCoordinator::Complete(
    const v1::CompleteRequest& request) {
  return rpc::Call(*nodes_, &Stub::Complete, request, Once(kDeadline));
}

absl::StatusOr<v1::AppendLogResponse> GrpcCoordinator::AppendLog(
    const v1::AppendLogRequest& request) {
  return rpc::Call(*nodes_, &Stub::AppendLog, request, Once(kDeadline));
}

absl::StatusOr<std::vector<std::string>> GrpcCoordinator::FindMissing(
    const std::vector<std::string>& digests) {
  return blobs_.FindMissing(digests);
}

absl::Status GrpcCoordinator::Upload(const std::string& digest,
                                     std::string_view bytes) {
  KF_ASSIGN_OR_RETURN(const std::string stored, blobs_.Upload(bytes));
  if (stored == digest) return absl::OkStatus();
  return Error(absl::StatusCode::kDataLoss,
               digest + ": the bytes do not have this digest");
}

absl::StatusOr<std::string> GrpcCoordinator::Download(
    const std::string& digest) {
  return blobs_.Download(digest);
}

void GrpcCoordinator::StopLeasing() { stop_leasing_.Stop(); }

}  // namespace kernelfleet::agent
