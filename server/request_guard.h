// gRPC's callback API answers a request that is no valid message with
// UNIMPLEMENTED, which sends a client looking for another version. The guard
// makes it INVALID_ARGUMENT; handlers of ours never say UNIMPLEMENTED without
// a text.
#ifndef KERNELFLEET_SERVER_REQUEST_GUARD_H_
#define KERNELFLEET_SERVER_REQUEST_GUARD_H_

#include <memory>

#include "grpcpp/support/server_interceptor.h"

namespace kernelfleet::server {

// For ServerBuilder::experimental().SetInterceptorCreators().
std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>
MakeRequestGuard();

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_SERVER_REQUEST_GUARD_H_
