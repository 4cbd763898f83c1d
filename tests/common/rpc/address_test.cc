#include "common/rpc/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/status.h"
#include "tests/support/status_matchers.h"

namespace kernelfleet::rpc {
namespace {

using ::testing::HasSubstr;

std::string RoundTrip(std::string_view text) {
  const absl::StatusOr<Address> address = ParseAddress(text);
  return address.ok() ? ToString(*address) : Text(address.status());
}

TEST(Address, IsReadAsPeopleWriteIt) {
  EXPECT_EQ(RoundTrip("127.0.0.1:80"), "127.0.0.1:80");
  EXPECT_EQ(RoundTrip("gpu-7.lab:0"), "gpu-7.lab:0");
  EXPECT_EQ(RoundTrip("[::1]:65535"), "[::1]:65535");
}

TEST(Address, WithoutAPortMeansTheDefaultPort) {
  EXPECT_EQ(RoundTrip("localhost"), "localhost:7411");
  EXPECT_EQ(RoundTrip("::1"), "[::1]:7411");
  EXPECT_EQ(RoundTrip("[fe80::1]"), "[fe80::1]:7411");
}

TEST(Address, ThatIsNoneSaysWhyAndHowToWriteOne) {
  for (const std::string_view bad :
       {"", ":7411", "host:", "host:-1", "host:65536", "host:7411x", "a b:1",
        "http://host:1", "[::1", "[::1]7411", "[host]:1", "dns:///host:1",
        "ho\nst:1", "unix:/tmp/x", "1:2:3"}) {
    const absl::StatusOr<Address> address = ParseAddress(bad);
    EXPECT_EQ(address.status().code(), absl::StatusCode::kInvalidArgument)
        << bad;
    EXPECT_THAT(Text(address.status()), HasSubstr("write HOST:PORT"));
    EXPECT_EQ(Text(address.status()).find('\n'), std::string::npos);
  }
}

TEST(Address, IsLoopbackOnlyWhenTrafficCannotLeaveTheMachine) {
  for (const char* inside : {"127.0.0.1", "127.9.9.9", "::1", "localhost"}) {
    EXPECT_TRUE(IsLoopback({inside, 1})) << inside;
  }
  for (const char* outside : {"0.0.0.0", "::", "10.0.0.1", "127.0.0.1.evil.com",
                              "127.1", "localhost.evil.com", "128.0.0.1"}) {
    EXPECT_FALSE(IsLoopback({outside, 1})) << outside;
  }
}

TEST(Address, BecomesAGrpcTargetThatNamesItsResolver) {
  EXPECT_EQ(GrpcTarget({"127.0.0.1", 5}), "ipv4:127.0.0.1:5");
  EXPECT_EQ(GrpcTarget({"::1", 5}), "ipv6:[::1]:5");
  EXPECT_EQ(GrpcTarget({"gpu-7", 5}), "dns:///gpu-7:5");
}

}  // namespace
}  // namespace kernelfleet::rpc
