// What gRPC and protobuf would print to standard error, put where ours goes.
#ifndef KERNELFLEET_COMMON_RPC_LIBRARY_LOG_H_
#define KERNELFLEET_COMMON_RPC_LIBRARY_LOG_H_

namespace kernelfleet::rpc {

// For main(), before the first channel or server. Both libraries also return
// what they log, and a hostile peer can make them log at will, so that their
// lines become LogDebug.
void RouteLibraryLogs();

}  // namespace kernelfleet::rpc

#endif  // KERNELFLEET_COMMON_RPC_LIBRARY_LOG_H_
