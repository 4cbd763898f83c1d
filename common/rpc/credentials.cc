#include "common/rpc/credentials.h"

#include <fmt/format.h>

#include "common/base/status.h"

namespace kernelfleet::rpc {
namespace {

absl::Status CheckPlaintext(const Address& address, Plaintext plaintext) {
  if (plaintext == Plaintext::kAnywhere || IsLoopback(address)) {
    return absl::OkStatus();
  }
  return FailedPrecondition(fmt::format(
      "{} is not a loopback address, and what is sent would be neither "
      "encrypted nor authenticated; say --insecure-plaintext if everyone on "
      "that network may run code on your nodes",
      ToString(address)));
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> ClientCredentials(
    const Address& server, Plaintext plaintext) {
  KF_RETURN_IF_ERROR(CheckPlaintext(server, plaintext));
  return grpc::InsecureChannelCredentials();
}

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> ListenCredentials(
    const Address& listen, Plaintext plaintext) {
  KF_RETURN_IF_ERROR(CheckPlaintext(listen, plaintext));
  return grpc::InsecureServerCredentials();
}

}  // namespace kernelfleet::rpc
