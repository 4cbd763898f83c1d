// absl::Status and grpc::Status carry the same seventeen codes; this is the
// only place that translates.
#ifndef KERNELFLEET_COMMON_RPC_STATUS_H_
#define KERNELFLEET_COMMON_RPC_STATUS_H_

#include "absl/status/status.h"
#include "grpcpp/support/status.h"

namespace kernelfleet::rpc {

// Text beyond kMaxErrorBytes is cut with a visible mark.
grpc::Status ToGrpc(const absl::Status& status);

// gRPC's own sentence for a dead server becomes one that names the address.
absl::Status FromGrpc(const grpc::Status& status);

}  // namespace kernelfleet::rpc

#endif  // KERNELFLEET_COMMON_RPC_STATUS_H_
