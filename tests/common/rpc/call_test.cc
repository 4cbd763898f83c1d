#include "common/rpc/call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "common/base/status.h"
#include "common/rpc/channel.h"
#include "common/rpc/limits.h"
#include "kernelfleet/v1/service.grpc.pb.h"
#include "tests/support/status_matchers.h"

namespace kernelfleet::rpc {
namespace {

using ::testing::HasSubstr;

grpc::Status Down() {
  return grpc::Status(grpc::StatusCode::UNAVAILABLE, "down");
}

// Time passes only by waiting: each wait takes what was asked for.
class PatientClock final : public Clock {
 public:
  absl::Time Now() const override { return absl::UnixEpoch() + steady_; }
  absl::Duration Steady() const override { return steady_; }
  void Wait(std::condition_variable_any&, std::unique_lock<std::mutex>&,
            absl::Duration timeout) override {
    steady_ += timeout;
    waits.push_back(timeout);
  }
  std::vector<absl::Duration> waits;

 private:
  absl::Duration steady_;
};

TEST(Retry, StopsAtTheFirstSuccess) {
  PatientClock clock;
  int calls = 0;
  EXPECT_OK(Retry({.clock = &clock}, [&](grpc::ClientContext&) {
    return ++calls < 3 ? Down() : grpc::Status::OK;
  }));
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(clock.waits.size(), 2u);
}

TEST(Retry, GivesUpAfterItsAttemptsWithTheLastError) {
  PatientClock clock;
  int calls = 0;
  const absl::Status status =
      Retry({.attempts = 4, .clock = &clock},
            [&](grpc::ClientContext&) { return ++calls, Down(); });
  EXPECT_EQ(status, Unavailable("down"));
  EXPECT_EQ(calls, 4);
}

TEST(Retry, WaitsWithJitterBelowTheCap) {
  PatientClock clock;
  SeededRandom random(7);
  (void)Retry({.attempts = 9,
               .backoff_base = absl::Seconds(1),
               .backoff_cap = absl::Seconds(4),
               .clock = &clock,
               .random = &random},
              [](grpc::ClientContext&) { return Down(); });
  ASSERT_EQ(clock.waits.size(), 8u);
  for (size_t i = 0; i < clock.waits.size(); ++i) {
    EXPECT_LE(clock.waits[i],
              std::min(absl::Seconds(4), absl::Seconds(1 << i)));
  }
  EXPECT_NE(clock.waits[6], clock.waits[7]);
}

TEST(Retry, LeavesErrorsAloneThatWouldOnlyRepeat) {
  int calls = 0;
  EXPECT_EQ(Retry({},
                  [&](grpc::ClientContext&) {
                    ++calls;
                    return grpc::Status(grpc::StatusCode::NOT_FOUND, "no job");
                  }),
            NotFound("no job"));
  EXPECT_EQ(calls, 1);
}

TEST(Retry, GivesEveryAttemptADeadlineOfItsOwn) {
  PatientClock clock;
  std::vector<std::chrono::system_clock::time_point> deadlines;
  (void)Retry({.deadline = absl::Seconds(60), .attempts = 2, .clock = &clock},
              [&](grpc::ClientContext& context) {
                deadlines.push_back(context.deadline());
                return Down();
              });
  ASSERT_EQ(deadlines.size(), 2u);
  EXPECT_GT(deadlines[1], deadlines[0]);
  EXPECT_LE(deadlines[1],
            std::chrono::system_clock::now() + std::chrono::seconds(60));
}

TEST(CallStop, EndsTheWaitBetweenAttempts) {
  CallStop stop;
  int calls = 0;
  std::thread stopper;
  const absl::Status status = Retry({.backoff_base = absl::Hours(1),
                                     .backoff_cap = absl::Hours(1),
                                     .stop = &stop},
                                    [&](grpc::ClientContext&) {
                                      ++calls;
                                      stopper =
                                          std::thread([&] { stop.Stop(); });
                                      return Down();
                                    });
  stopper.join();
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(calls, 1);
}

TEST(CallStop, KeepsLaterCallsFromStarting) {
  CallStop stop;
  stop.Stop();
  EXPECT_EQ(Retry({.stop = &stop},
                  [](grpc::ClientContext&) -> grpc::Status {
                    ADD_FAILURE() << "called";
                    return grpc::Status::OK;
                  })
                .code(),
            absl::StatusCode::kCancelled);
}

TEST(Call, ToNobodySaysWhoDoesNotAnswer) {
  ASSERT_OK_AND_ASSIGN(auto channel,
                       MakeChannel({"127.0.0.1", 1}, Plaintext::kLoopbackOnly));
  auto jobs = v1::JobService::NewStub(channel);
  const absl::Status status =
      Call(*jobs, &v1::JobService::Stub::GetServerInfo, {}, {.attempts = 1})
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(Text(status),
              HasSubstr("cannot reach the server: ipv4:127.0.0.1:1:"));
}

TEST(Call, WithAnOversizedRequestIsNotSent) {
  ASSERT_OK_AND_ASSIGN(auto channel,
                       MakeChannel({"127.0.0.1", 1}, Plaintext::kLoopbackOnly));
  auto jobs = v1::JobService::NewStub(channel);
  v1::QueryRequest request;
  request.set_sql(std::string(kMaxRequestBytes + 1, 'x'));
  EXPECT_EQ(Call(*jobs, &v1::JobService::Stub::Query, request).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace kernelfleet::rpc
