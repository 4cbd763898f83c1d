// A client's connection to the coordinator.
//
//   KF_ASSIGN_OR_RETURN(Address address, ParseAddress("127.0.0.1:7411"));
//   KF_ASSIGN_OR_RETURN(auto channel,
//                       MakeChannel(address, Plaintext::kLoopbackOnly));
//   auto jobs = v1::JobService::NewStub(channel);
#ifndef KERNELFLEET_COMMON_RPC_CHANNEL_H_
#define KERNELFLEET_COMMON_RPC_CHANNEL_H_

#include <memory>

#include "absl/status/statusor.h"
#include "common/rpc/address.h"
#include "common/rpc/credentials.h"
#include "grpcpp/channel.h"

namespace kernelfleet::rpc {

// Returns at once; the first call connects. Every channel has a connection of
// its own with keepalive, and ignores http_proxy. INVALID_ARGUMENT for port 0,
// FAILED_PRECONDITION as ClientCredentials.
absl::StatusOr<std::shared_ptr<grpc::Channel>> MakeChannel(
    const Address& server, Plaintext plaintext);

}  // namespace kernelfleet::rpc

#endif  // KERNELFLEET_COMMON_RPC_CHANNEL_H_
