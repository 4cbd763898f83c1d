// What an agent needs of the coordinator: a seam, so that the worker runs in
// tests and simulations without a network.
#ifndef KERNELFLEET_AGENT_COORDINATOR_H_
#define KERNELFLEET_AGENT_COORDINATOR_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernelfleet/v1/service.pb.h"

namespace kernelfleet::agent {

// Thread-safe. Every call blocks for a bounded time. Errors keep the meaning
// that service.proto gives them: UNAVAILABLE and DEADLINE_EXCEEDED say nothing
// about whether the call took effect.
class Coordinator {
 public:
  virtual ~Coordinator() = default;

  virtual absl::StatusOr<v1::RegisterResponse> Register(
      const v1::RegisterRequest& request) = 0;

  // Waits up to `request.wait_s` for tasks; an empty response is normal.
  virtual absl::StatusOr<v1::LeaseResponse> Lease(
      const v1::LeaseRequest& request) = 0;

  virtual absl::StatusOr<v1::HeartbeatResponse> Heartbeat(
      const v1::HeartbeatRequest& request) = 0;

  virtual absl::StatusOr<v1::CompleteResponse> Complete(
      const v1::CompleteRequest& request) = 0;

  virtual absl::StatusOr<v1::AppendLogResponse> AppendLog(
      const v1::AppendLogRequest& request) = 0;

  // Those of `digests` that the coordinator does not hold.
  virtual absl::StatusOr<std::vector<std::string>> FindMissing(
      const std::vector<std::string>& digests) = 0;

  // DATA_LOSS: the bytes do not have this digest.
  virtual absl::Status Upload(const std::string& digest,
                              std::string_view bytes) = 0;

  // The blob's bytes, checked against its digest.
  virtual absl::StatusOr<std::string> Download(const std::string& digest) = 0;

  // Makes the Lease call in flight, and every later one, end with CANCELLED.
  virtual void StopLeasing() = 0;
};

}  // namespace kernelfleet::agent

#endif  // KERNELFLEET_AGENT_COORDINATOR_H_
