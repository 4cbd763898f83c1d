// Who may talk to whom: the one place that makes gRPC credentials. Today there
// is only plaintext, so anything but loopback must be asked for by name.
#ifndef KERNELFLEET_COMMON_RPC_CREDENTIALS_H_
#define KERNELFLEET_COMMON_RPC_CREDENTIALS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "common/rpc/address.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/security/server_credentials.h"

namespace kernelfleet::rpc {

enum class Plaintext {
  kLoopbackOnly,
  // The user said --insecure-plaintext.
  kAnywhere,
};

// FAILED_PRECONDITION when the address is not loopback and plaintext was not
// asked for.
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> ClientCredentials(
    const Address& server, Plaintext plaintext);
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> ListenCredentials(
    const Address& listen, Plaintext plaintext);

}  // namespace kernelfleet::rpc

#endif  // KERNELFLEET_COMMON_RPC_CREDENTIALS_H_
