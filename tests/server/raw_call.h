// A unary call of any method with any bytes, by a client without manners.
#ifndef KERNELFLEET_TESTS_SERVER_RAW_CALL_H_
#define KERNELFLEET_TESTS_SERVER_RAW_CALL_H_

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

#include <future>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/rpc/address.h"
#include "common/rpc/status.h"

namespace kernelfleet::server {

// The response's bytes.
inline absl::StatusOr<std::string> RawCall(const rpc::Address& address,
                                           const std::string& method,
                                           const std::string& bytes,
                                           const std::string& metadata = "") {
  grpc::ChannelArguments unlimited;
  unlimited.SetMaxSendMessageSize(-1);
  unlimited.SetInt(GRPC_ARG_MAX_METADATA_SIZE, 1 << 20);
  grpc::GenericStub stub(grpc::CreateCustomChannel(
      rpc::GrpcTarget(address), grpc::InsecureChannelCredentials(), unlimited));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::seconds(20));
  if (!metadata.empty()) context.AddMetadata("x-large", metadata);
  grpc::Slice slice(bytes);
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer response;
  std::promise<grpc::Status> ended;
  stub.UnaryCall(&context, method, grpc::StubOptions(), &request, &response,
                 [&](grpc::Status status) { ended.set_value(status); });
  const absl::Status status = rpc::FromGrpc(ended.get_future().get());
  if (!status.ok()) return status;
  std::vector<grpc::Slice> slices;
  (void)response.Dump(&slices);
  std::string out;
  for (const grpc::Slice& part : slices) {
    out.append(reinterpret_cast<const char*>(part.begin()), part.size());
  }
  return out;
}

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_TESTS_SERVER_RAW_CALL_H_
