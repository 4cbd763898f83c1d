#include "common/rpc/channel.h"

#include <fmt/format.h>

#include "common/base/status.h"
#include "common/rpc/limits.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/support/channel_arguments.h"

namespace kernelfleet::rpc {
namespace {

int Ms(absl::Duration duration) {
  return static_cast<int>(absl::ToInt64Milliseconds(duration));
}

grpc::ChannelArguments Arguments() {
  grpc::ChannelArguments args;
  args.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, Ms(kClientPing));
  args.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, Ms(kClientPingTimeout));
  args.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  args.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  args.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, Ms(kReconnectMin));
  args.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, Ms(kReconnectMax));
  args.SetInt(GRPC_ARG_MAX_METADATA_SIZE, kMaxMetadataBytes);
  args.SetMaxReceiveMessageSize(kMaxResponseBytes);
  args.SetMaxSendMessageSize(kMaxRequestBytes);
  // Retries are Retry's in call.h; a second layer would multiply them.
  args.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  args.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  // A lab's http_proxy is for the web, not for its own nodes.
  args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return args;
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::Channel>> MakeChannel(
    const Address& server, Plaintext plaintext) {
  if (server.port == 0) {
    return InvalidArgument(
        fmt::format("address {}: port 0 cannot be called", ToString(server)));
  }
  KF_ASSIGN_OR_RETURN(auto credentials, ClientCredentials(server, plaintext));
  return grpc::CreateCustomChannel(GrpcTarget(server), credentials,
                                   Arguments());
}

}  // namespace kernelfleet::rpc
