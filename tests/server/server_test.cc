#include "server/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "common/base/status.h"
#include "common/rpc/status.h"
#include "tests/server/raw_call.h"
#include "tests/server/server_fixture.h"

namespace kernelfleet::server {
namespace {

using ::testing::HasSubstr;

class RunningServer : public ServerTest {
 protected:
  // grpc.health.v1: field 1 of the request is the service, field 1 of the
  // response is 1 for SERVING.
  absl::StatusOr<std::string> Health(const std::string& service) {
    std::string request;
    if (!service.empty()) {
      request =
          "\x0a" + std::string(1, static_cast<char>(service.size())) + service;
    }
    return RawCall(server_->address(), "/grpc.health.v1.Health/Check", request);
  }
};

TEST_F(RunningServer, ReportsItsHealth) {
  for (const char* service : {"", "coordinator.write", "coordinator.read"}) {
    ASSERT_OK_AND_ASSIGN(const std::string answer, Health(service));
    EXPECT_EQ(answer, "\x08\x01") << service;
  }
  EXPECT_EQ(Health("other").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(RunningServer, HidesItsMethodsUnlessReflectionIsAskedFor) {
  constexpr char kReflect[] =
      "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
  EXPECT_EQ(RawCall(server_->address(), kReflect, "").status().code(),
            absl::StatusCode::kUnimplemented);
  ServerOptions options = Options();
  options.data_dir = dir_ / "other";
  options.reflection = Reflection::kOn;
  ASSERT_OK_AND_ASSIGN(auto open, Server::Start(options));
  EXPECT_OK(RawCall(open->address(), kReflect, ""));
}

TEST_F(RunningServer, KeepsASecondOneOffItsDataFolder) {
  const absl::Status second = Server::Start(Options()).status();
  EXPECT_EQ(second.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(kernelfleet::Text(second), HasSubstr(dir_ / "data"));
}

TEST_F(RunningServer, KeepsASecondOneOffItsPort) {
  ServerOptions options = Options();
  options.data_dir = dir_ / "other";
  options.listen = server_->address();
  const absl::Status second = Server::Start(options).status();
  EXPECT_EQ(second.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(kernelfleet::Text(second),
              HasSubstr(rpc::ToString(server_->address())));
}

TEST_F(RunningServer, RemembersJobsAfterARestart) {
  const std::string id = Submit();
  server_->Shutdown();
  server_.reset();
  ASSERT_OK_AND_ASSIGN(server_, Server::Start(Options()));
  ASSERT_OK_AND_ASSIGN(
      auto channel,
      rpc::MakeChannel(server_->address(), rpc::Plaintext::kLoopbackOnly));
  auto jobs = v1::JobService::NewStub(channel);
  v1::GetJobRequest request;
  request.set_job_id(id);
  ASSERT_OK_AND_ASSIGN(const v1::JobDetail job,
                       rpc::Call(*jobs, &Jobs::GetJob, request, kOnce));
  EXPECT_EQ(job.tasks_size(), 1);
}

// Everything that can stay open does, while the server shuts down.
TEST_F(RunningServer, ShutsDownAtOnceWithCallsParked) {
  const std::string job = Submit();
  const int64_t session = Register("idle");
  v1::LeaseRequest no_slots = LeaseOf("idle", session, 30);
  no_slots.set_slots(0);
  std::atomic<int> events = 0;
  std::thread lease([&] {
    const auto answer =
        rpc::Call(*nodes_, &Nodes::Lease, no_slots,
                  {.deadline = absl::Minutes(1), .attempts = 1});
    if (answer.ok()) {
      EXPECT_EQ(answer->tasks_size(), 0);
    } else {
      EXPECT_EQ(answer.status().code(), absl::StatusCode::kUnavailable);
    }
  });
  std::thread watch([&] {
    grpc::ClientContext context;
    v1::WatchJobRequest request;
    request.set_job_id(job);
    auto stream = jobs_->WatchJob(&context, request);
    v1::JobEvent event;
    while (stream->Read(&event)) ++events;
    EXPECT_EQ(rpc::FromGrpc(stream->Finish()).code(),
              absl::StatusCode::kUnavailable);
  });
  while (events == 0) std::this_thread::yield();
  const auto start = std::chrono::steady_clock::now();
  server_->Shutdown();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(4));
  lease.join();
  watch.join();
  EXPECT_EQ(rpc::Call(*jobs_, &Jobs::GetServerInfo, {}, kOnce).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(RunningServer, ShutsDownOnlyOnce) {
  server_->Shutdown();
  server_->Shutdown();
}

TEST(Server, RefusesToListenBeyondLoopbackAndTouchesNothing) {
  kernelfleet::testing::TempDir dir;
  ServerOptions options;
  options.data_dir = dir / "data";
  options.listen = {"0.0.0.0", 0};
  EXPECT_EQ(Server::Start(options).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(PathExists(options.data_dir));
}

}  // namespace
}  // namespace kernelfleet::server
