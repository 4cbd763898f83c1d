#include "common/rpc/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/status.h"
#include "common/rpc/channel.h"
#include "tests/support/status_matchers.h"

namespace kernelfleet::rpc {
namespace {

using ::testing::HasSubstr;

TEST(Credentials, AreGivenForLoopback) {
  EXPECT_OK(ClientCredentials({"127.0.0.1", 1}, Plaintext::kLoopbackOnly));
  EXPECT_OK(ListenCredentials({"::1", 0}, Plaintext::kLoopbackOnly));
}

TEST(Credentials, AreRefusedElsewhereUnlessPlaintextWasAskedFor) {
  const Address lab = {"10.0.0.5", 7411};
  const absl::Status client =
      ClientCredentials(lab, Plaintext::kLoopbackOnly).status();
  EXPECT_EQ(client.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Text(client), HasSubstr("10.0.0.5:7411"));
  EXPECT_THAT(Text(client), HasSubstr("--insecure-plaintext"));
  EXPECT_EQ(ListenCredentials({"0.0.0.0", 1}, Plaintext::kLoopbackOnly)
                .status()
                .code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_OK(ClientCredentials(lab, Plaintext::kAnywhere));
  EXPECT_OK(ListenCredentials({"0.0.0.0", 1}, Plaintext::kAnywhere));
}

TEST(Channel, ToPortZeroIsRefused) {
  EXPECT_EQ(
      MakeChannel({"127.0.0.1", 0}, Plaintext::kLoopbackOnly).status().code(),
      absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace kernelfleet::rpc
