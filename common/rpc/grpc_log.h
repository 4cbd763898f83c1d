// gRPC's own log lines, put where ours go.
#ifndef KERNELFLEET_COMMON_RPC_GRPC_LOG_H_
#define KERNELFLEET_COMMON_RPC_GRPC_LOG_H_

namespace kernelfleet::rpc {

// For main(), before the first channel or server. gRPC reports to us what it
// logs, so its lines are for debugging: they become LogDebug.
void RouteGrpcLog();

}  // namespace kernelfleet::rpc

#endif  // KERNELFLEET_COMMON_RPC_GRPC_LOG_H_
