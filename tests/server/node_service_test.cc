#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "common/rpc/status.h"
#include "tests/server/server_fixture.h"

namespace kernelfleet::server {
namespace {

using ::kernelfleet::testing::SampleResult;
using ::testing::ElementsAre;

class NodeServiceTest : public ServerTest {
 protected:
  absl::StatusOr<v1::LeaseResponse> Lease(double wait_s) {
    return rpc::Call(*nodes_, &Nodes::Lease,
                     LeaseOf("node-a", session_, wait_s), kOnce);
  }

  absl::StatusOr<v1::CompleteResponse> Complete(const v1::LeasedTask& task,
                                                const std::string& text) {
    return rpc::Call(*nodes_, &Nodes::Complete,
                     SampleResult(task, "node-a", session_, text), kOnce);
  }

  // A task of a new job, leased by node-a.
  v1::LeasedTask LeaseOne() {
    session_ = Register("node-a");
    Submit();
    const absl::StatusOr<v1::LeaseResponse> lease = Lease(10);
    EXPECT_OK(lease);
    EXPECT_EQ(lease->tasks_size(), 1);
    return lease->tasks(0);
  }

  int64_t session_ = 0;
};

TEST_F(NodeServiceTest, LeasesATaskWithEverythingToRunIt) {
  const v1::LeasedTask task = LeaseOne();
  EXPECT_GT(task.fence(), 0);
  EXPECT_EQ(task.request().entry(), "copy");
  EXPECT_EQ(task.module_digest(),
            DigestOf(kernelfleet::testing::kSampleModule));
  EXPECT_EQ(task.environment(), "default");
  ASSERT_OK_AND_ASSIGN(
      const std::string module,
      rpc::BlobClient(channel_).Download(task.module_digest()));
  EXPECT_EQ(module, kernelfleet::testing::kSampleModule);
}

TEST_F(NodeServiceTest, WakesAParkedLeaseWhenAJobComes) {
  session_ = Register("node-a");
  absl::StatusOr<v1::LeaseResponse> lease;
  std::thread parked([&] { lease = Lease(25); });
  const auto start = std::chrono::steady_clock::now();
  Submit();
  parked.join();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  ASSERT_OK(lease);
  EXPECT_EQ(lease->tasks_size(), 1);
}

TEST_F(NodeServiceTest, AnswersAnEmptyLeaseWhenTheWaitIsOver) {
  session_ = Register("node-a");
  ASSERT_OK_AND_ASSIGN(const v1::LeaseResponse lease, Lease(0.1));
  EXPECT_EQ(lease.tasks_size(), 0);
}

TEST_F(NodeServiceTest, GivesNoTaskToALeaseThatWasCancelled) {
  session_ = Register("node-a");
  for (int i = 0; i < 10; ++i) {
    grpc::ClientContext context;
    rpc::CallStop stop;
    std::thread stopper;
    v1::LeaseResponse response;
    std::thread parked([&] {
      EXPECT_EQ(
          rpc::Call(*nodes_, &Nodes::Lease, LeaseOf("node-a", session_, 25),
                    {.attempts = 1, .stop = &stop})
              .status()
              .code(),
          absl::StatusCode::kCancelled);
    });
    // However far the call has come, it ends.
    stop.Stop();
    parked.join();
  }
  // A call past its deadline is cancelled as well.
  EXPECT_EQ(rpc::Call(*nodes_, &Nodes::Lease, LeaseOf("node-a", session_, 25),
                      {.deadline = absl::Milliseconds(50), .attempts = 1})
                .status()
                .code(),
            absl::StatusCode::kDeadlineExceeded);
  // The cancelled polls take no work from a later one. A poll whose cancel the
  // server has yet to read may win the race; its attempt comes back when the
  // node does not report it.
  Submit();
  ASSERT_OK_AND_ASSIGN(const v1::LeaseResponse lease, Lease(10));
  EXPECT_EQ(lease.tasks_size(), 1);
}

TEST_F(NodeServiceTest, TakesTheSameResultTwice) {
  const v1::LeasedTask task = LeaseOne();
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK_AND_ASSIGN(const auto answer, Complete(task, "the same"));
    EXPECT_TRUE(answer.accepted()) << answer.reason();
  }
}

TEST_F(NodeServiceTest, TakesNoResultOfAnAttemptThatWasReplaced) {
  const v1::LeasedTask old = LeaseOne();
  // A new agent on the node that holds nothing: the attempt is lost.
  session_ = Register("node-a");
  ASSERT_OK_AND_ASSIGN(const v1::LeaseResponse lease, Lease(20));
  ASSERT_EQ(lease.tasks_size(), 1);
  EXPECT_EQ(lease.tasks(0).task_id(), old.task_id());
  EXPECT_GT(lease.tasks(0).fence(), old.fence());
  ASSERT_OK_AND_ASSIGN(const auto late, Complete(old, "late"));
  EXPECT_FALSE(late.accepted());
  EXPECT_NE(late.reason(), "");
  ASSERT_OK_AND_ASSIGN(const auto good, Complete(lease.tasks(0), "good"));
  EXPECT_TRUE(good.accepted()) << good.reason();
}

TEST_F(NodeServiceTest, TellsAnAgentToStopWhatWasCancelled) {
  const v1::LeasedTask task = LeaseOne();
  v1::HeartbeatRequest beat;
  beat.set_node_id("node-a");
  beat.set_session(session_);
  v1::HeldAttempt& held = *beat.add_held();
  held.set_task_id(task.task_id());
  held.set_fence(task.fence());
  held.set_step("running");
  ASSERT_OK_AND_ASSIGN(const auto fine,
                       rpc::Call(*nodes_, &Nodes::Heartbeat, beat, kOnce));
  EXPECT_EQ(fine.cancel_fences_size(), 0);
  v1::CancelJobRequest cancel;
  cancel.set_job_id(task.job_id());
  ASSERT_OK(rpc::Call(*jobs_, &Jobs::CancelJob, cancel, kOnce));
  ASSERT_OK_AND_ASSIGN(const auto stop,
                       rpc::Call(*nodes_, &Nodes::Heartbeat, beat, kOnce));
  EXPECT_THAT(stop.cancel_fences(), ElementsAre(task.fence()));
}

TEST_F(NodeServiceTest, SendsAnAgentAwayThatANewerOneReplaced) {
  const int64_t old_session = Register("node-a");
  session_ = Register("node-a");
  EXPECT_NE(session_, old_session);
  EXPECT_EQ(rpc::Call(*nodes_, &Nodes::Lease, LeaseOf("node-a", old_session, 1),
                      kOnce)
                .status()
                .code(),
            absl::StatusCode::kAborted);
}

TEST_F(NodeServiceTest, FollowsALogAsItGrows) {
  const v1::LeasedTask task = LeaseOne();
  const auto append = [&](int64_t offset, const std::string& data, bool last) {
    v1::AppendLogRequest request;
    request.set_node_id("node-a");
    request.set_task_id(task.task_id());
    request.set_fence(task.fence());
    request.set_offset(offset);
    request.set_data(data);
    request.set_complete(last);
    return rpc::Call(*nodes_, &Nodes::AppendLog, request, kOnce);
  };
  v1::ReadLogRequest read;
  read.set_job_id(task.job_id());
  read.set_task_id(task.task_id());
  read.set_follow(true);
  ASSERT_OK(append(0, "one ", false));
  ASSERT_OK_AND_ASSIGN(const auto first,
                       rpc::Call(*jobs_, &Jobs::ReadLog, read, kOnce));
  EXPECT_EQ(first.data(), "one ");
  std::string rest;
  std::thread follower([&] {
    bool complete = false;
    read.set_offset(first.next_offset());
    while (!complete) {
      ASSERT_OK_AND_ASSIGN(const auto more,
                           rpc::Call(*jobs_, &Jobs::ReadLog, read, kOnce));
      rest += more.data();
      read.set_offset(more.next_offset());
      complete = more.complete();
    }
  });
  // A repeated append changes nothing.
  ASSERT_OK(append(0, "one ", false));
  ASSERT_OK(append(4, "two", true));
  follower.join();
  EXPECT_EQ(rest, "two");
}

}  // namespace
}  // namespace kernelfleet::server
