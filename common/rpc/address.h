// Where a server listens, as people write it: "HOST:PORT", "HOST",
// "[::1]:7411".
#ifndef KERNELFLEET_COMMON_RPC_ADDRESS_H_
#define KERNELFLEET_COMMON_RPC_ADDRESS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/rpc/limits.h"

namespace kernelfleet::rpc {

struct Address {
  // An IPv4 or IPv6 literal without brackets, or a host name.
  std::string host = "127.0.0.1";
  // 0: any free port (servers only).
  int port = kDefaultPort;
};

// INVALID_ARGUMENT with the reason. A missing port is kDefaultPort.
absl::StatusOr<Address> ParseAddress(std::string_view text);

// "HOST:PORT", IPv6 in brackets.
std::string ToString(const Address& address);

// True for 127.0.0.0/8, ::1 and "localhost": traffic stays on the machine.
bool IsLoopback(const Address& address);

// gRPC's spelling: "ipv4:127.0.0.1:7411", "dns:///host:7411".
std::string GrpcTarget(const Address& address);

}  // namespace kernelfleet::rpc

#endif  // KERNELFLEET_COMMON_RPC_ADDRESS_H_
