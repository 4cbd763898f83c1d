#include "common/rpc/status.h"

#include <gtest/gtest.h>

#include "common/base/status.h"
#include "common/rpc/limits.h"

namespace kernelfleet::rpc {
namespace {

TEST(Status, KeepsItsCodeBothWays) {
  for (int code = 0; code <= 16; ++code) {
    const absl::Status ours = Error(static_cast<absl::StatusCode>(code), "why");
    const grpc::Status wire = ToGrpc(ours);
    // Both lists are numbered as the wire is.
    EXPECT_EQ(static_cast<int>(wire.error_code()), code);
    EXPECT_EQ(FromGrpc(wire), ours);
  }
}

TEST(Status, OfAnUnknownNumberIsUnknown) {
  EXPECT_EQ(
      FromGrpc(grpc::Status(static_cast<grpc::StatusCode>(31), "")).code(),
      absl::StatusCode::kUnknown);
}

TEST(Status, WithAHugeTextIsCutToFitTheMetadata) {
  const grpc::Status wire = ToGrpc(InvalidArgument(std::string(1 << 20, 'x')));
  EXPECT_LE(wire.error_message().size(), kMaxErrorBytes + 64u);
  EXPECT_NE(wire.error_message().find("bytes more"), std::string::npos);
}

TEST(Status, OfADeadServerNamesItsAddress) {
  const grpc::Status wire(
      grpc::StatusCode::UNAVAILABLE,
      "failed to connect to all addresses; last error: UNKNOWN: "
      "ipv4:127.0.0.1:7411: Failed to connect to remote host: Connection "
      "refused");
  EXPECT_EQ(Text(FromGrpc(wire)),
            "cannot reach the server: ipv4:127.0.0.1:7411: Failed to connect "
            "to remote host: Connection refused");
}

}  // namespace
}  // namespace kernelfleet::rpc
