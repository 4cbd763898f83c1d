// The coordinator over gRPC.
#ifndef KERNELFLEET_AGENT_GRPC_COORDINATOR_H_
#define KERNELFLEET_AGENT_GRPC_COORDINATOR_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/coordinator.h"
#include "common/rpc/blob_client.h"
#include "common/rpc/call.h"
#include "grpcpp/channel.h"
#include "kernelfleet/v1/service.grpc.pb.h"

namespace kernelfleet::agent {

// Thread-safe. No call is retried here: the worker decides what to try again,
// and when.
class GrpcCoordinator final : public Coordinator {
 public:
  explicit GrpcCoordinator(std::shared_ptr<grpc::Channel> channel);

  absl::StatusOr<v1::RegisterResponse> Register(
      const v1::RegisterRequest& request) override;
  absl::StatusOr<v1::LeaseResponse> Lease(
      const v1::LeaseRequest& request) override;
  absl::StatusOr<v1::HeartbeatResponse> Heartbeat(
      const v1::HeartbeatRequest& request) override;
  absl::StatusOr<v1::CompleteResponse> Complete(
      const v1::CompleteRequest& request) override;
  absl::StatusOr<v1::AppendLogResponse> AppendLog(
      const v1::AppendLogRequest& request) override;
  absl::StatusOr<std::vector<std::string>> FindMissing(
      const std::vector<std::string>& digests) override;
  absl::Status Upload(const std::string& digest,
                      std::string_view bytes) override;
  absl::StatusOr<std::string> Download(const std::string& digest) override;
  void StopLeasing() override;

 private:
  rpc::CallStop stop_leasing_;
  std::unique_ptr<v1::NodeService::Stub> nodes_;
  rpc::BlobClient blobs_;
};

}  // namespace kernelfleet::agent

#endif  // KERNELFLEET_AGENT_GRPC_COORDINATOR_H_
