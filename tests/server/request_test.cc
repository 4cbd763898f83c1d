// Requests that are no messages, too large, or for methods we lack.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/rpc/limits.h"
#include "tests/server/raw_call.h"
#include "tests/server/server_fixture.h"

namespace kernelfleet::server {
namespace {

using ::testing::HasSubstr;

class RequestTest : public ServerTest {
 protected:
  absl::Status SendRaw(const std::string& method, const std::string& bytes,
                       const std::string& metadata = "") {
    return RawCall(server_->address(), method, bytes, metadata).status();
  }

  void ExpectAlive() {
    EXPECT_OK(rpc::Call(*jobs_, &Jobs::GetServerInfo, {}, kOnce));
  }
};

constexpr char kSubmit[] = "/kernelfleet.v1.JobService/Submit";

TEST_F(RequestTest, ThatIsNoMessageIsInvalid) {
  std::string nested = "x";
  // Field 3 of ConstantTuple in Constant, over and over.
  for (int i = 0; i < 200'000; ++i) nested = "\x3a\x7f" + nested;
  for (const std::string& bytes :
       {std::string("\xff\xff\xff"), std::string("\x0a\x7fshort"),
        std::string("\x1a\x02\xc3\x28"), nested}) {
    const absl::Status status = SendRaw(kSubmit, bytes);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument)
        << kernelfleet::Text(status);
    EXPECT_THAT(kernelfleet::Text(status), HasSubstr("not a valid message"));
  }
  ExpectAlive();
}

TEST_F(RequestTest, PastTheSizeLimitIsResourceExhausted) {
  EXPECT_EQ(
      SendRaw(kSubmit, std::string(rpc::kMaxRequestBytes + 1, 'x')).code(),
      absl::StatusCode::kResourceExhausted);
  ExpectAlive();
}

TEST_F(RequestTest, WithHugeMetadataIsRefused) {
  EXPECT_EQ(SendRaw(kSubmit, "", std::string(64 << 10, 'm')).code(),
            absl::StatusCode::kResourceExhausted);
  ExpectAlive();
}

TEST_F(RequestTest, ForAMethodWeLackIsUnimplemented) {
  EXPECT_EQ(SendRaw("/kernelfleet.v1.JobService/Fly", "").code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(SendRaw("/other.Service/Submit", "").code(),
            absl::StatusCode::kUnimplemented);
}

TEST_F(RequestTest, WithAJobThatMakesNoSenseSaysWhyAndStoresNothing) {
  v1::SubmitRequest request;
  *request.mutable_spec() = kernelfleet::testing::SampleJob();
  request.mutable_spec()->set_workflow("sing");
  const absl::Status status =
      rpc::Call(*jobs_, &Jobs::Submit, request, kOnce).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(kernelfleet::Text(status), HasSubstr("sing"));
  ASSERT_OK_AND_ASSIGN(const v1::ListJobsResponse jobs,
                       rpc::Call(*jobs_, &Jobs::ListJobs, {}, kOnce));
  EXPECT_EQ(jobs.jobs_size(), 0);
}

}  // namespace
}  // namespace kernelfleet::server
