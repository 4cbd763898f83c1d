// Leases, heartbeats, lost nodes, clocks and restarts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/status.h"
#include "tests/server/house.h"

namespace kernelfleet::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(LivenessTest, HeartbeatsKeepALeaseAliveForEver) {
  House house;
  house.AddNode(CompileNode("a"));
  ASSERT_OK(house.Submit(SpecOf(1)));
  ASSERT_OK_AND_ASSIGN(const auto lease, house.Lease("a"));
  for (int i = 0; i < 40; ++i) {
    house.Pass(absl::Seconds(20));
    ASSERT_OK_AND_ASSIGN(const auto beat,
                         house.Heartbeat("a", {Held(lease.tasks(0))}));
    EXPECT_EQ(beat.cancel_fences_size(), 0);
  }
  EXPECT_EQ(house.Task().state(), v1::TaskState::running);
}

TEST(LivenessTest, ATaskThatLosesThreeNodesIsDeadAndSaysSo) {
  House house;
  ASSERT_OK(house.Submit(SpecOf(1)));
  for (const char* node : {"a", "b", "c"}) {
    house.AddNode(CompileNode(node));
    ASSERT_OK_AND_ASSIGN(const auto lease, house.Lease(node));
    ASSERT_EQ(lease.tasks_size(), 1) << node;
    ASSERT_OK(house.Heartbeat(node, {Held(lease.tasks(0))}));
    house.Pass(absl::Seconds(31));
    house.Pass(absl::Seconds(61));
  }
  const v1::TaskRecord task = house.Task();
  EXPECT_EQ(task.state(), v1::TaskState::dead);
  EXPECT_THAT(task.reason(), HasSubstr("3 different nodes were lost"));
  EXPECT_THAT(task.reason(), HasSubstr("node c was lost"));
  EXPECT_EQ(house.Job().summary().state(), v1::JobState::failed);
  EXPECT_EQ(house.Job().decisions_size(), 1);
}

TEST(LivenessTest, AnAgentThatReconnectsKeepsItsWork) {
  House house;
  house.AddNode(CompileNode("a"));
  ASSERT_OK(house.Submit(SpecOf(1)));
  ASSERT_OK_AND_ASSIGN(const auto lease, house.Lease("a"));
  const auto old_session = house.sessions["a"];
  ASSERT_OK_AND_ASSIGN(
      const auto answer,
      house.Register(CompileNode("a"), {Held(lease.tasks(0))}));
  EXPECT_GT(answer.session(), old_session);
  EXPECT_THAT(answer.keep_fences(), ElementsAre(lease.tasks(0).fence()));
  EXPECT_EQ(house.Task().attempts(), 1);
}

TEST(LivenessTest, AnAgentThatRestartedGivesItsWorkBackAtOnce) {
  House house;
  house.AddNode(CompileNode("a"));
  ASSERT_OK(house.Submit(SpecOf(1)));
  ASSERT_OK(house.Lease("a"));
  ASSERT_OK(house.Register(CompileNode("a")));
  EXPECT_EQ(house.Task().state(), v1::TaskState::waiting);
  EXPECT_THAT(house.Task().reason(), HasSubstr("node a restarted"));
}

TEST(LivenessTest, AnExpiredAttemptIsAdoptedAgainWhileNobodyElseHasIt) {
  House house;
  house.AddNode(CompileNode("a"));
  ASSERT_OK(house.Submit(SpecOf(1)));
  ASSERT_OK_AND_ASSIGN(const auto lease, house.Lease("a"));
  house.Pass(absl::Seconds(31));
  ASSERT_EQ(house.Task().state(), v1::TaskState::waiting);
  ASSERT_OK_AND_ASSIGN(const auto beat,
                       house.Heartbeat("a", {Held(lease.tasks(0))}));
  EXPECT_EQ(beat.cancel_fences_size(), 0);
  house.Pass(absl::Seconds(1));
  EXPECT_EQ(house.Task().state(), v1::TaskState::running);
  EXPECT_EQ(house.Sql("SELECT state FROM attempts"), "leased");
}

TEST(LivenessTest, InfrastructureFailuresAreRetriedElsewhereAndBounded) {
  House house;
  house.AddNode(CompileNode("a"));
  house.AddNode(CompileNode("b"));
  ASSERT_OK(house.Submit(SpecOf(1)));
  ASSERT_OK_AND_ASSIGN(auto lease, house.Lease("a"));
  ASSERT_OK(
      house.Fail("a", lease.tasks(0), v1::InfraFailure::runner_unavailable));
  house.Pass(absl::Seconds(2));
  ASSERT_OK_AND_ASSIGN(const auto nothing, house.Lease("a"));
  EXPECT_EQ(nothing.tasks_size(), 0);
  for (int i = 0; i < 5; ++i) {
    ASSERT_OK_AND_ASSIGN(lease, house.Lease("b"));
    ASSERT_EQ(lease.tasks_size(), 1) << i;
    ASSERT_OK(
        house.Fail("b", lease.tasks(0), v1::InfraFailure::runner_unavailable));
    for (int j = 0; j < 10; ++j) {
      house.Pass(absl::Seconds(10));
      ASSERT_OK(house.Heartbeat("b", {}));
    }
  }
  EXPECT_EQ(house.Task().state(), v1::TaskState::failed);
  EXPECT_THAT(house.Task().reason(), HasSubstr("gave up after 6 attempts"));
}

TEST(LivenessTest, ADrainingAgentCostsNoRetry) {
  House house;
  house.AddNode(CompileNode("a"));
  ASSERT_OK(house.Submit(SpecOf(1)));
  for (int i = 0; i < 20; ++i) {
    ASSERT_OK_AND_ASSIGN(const auto lease, house.Lease("a"));
    ASSERT_EQ(lease.tasks_size(), 1);
    ASSERT_OK(house.Fail("a", lease.tasks(0), v1::InfraFailure::agent_stopped));
  }
  EXPECT_EQ(house.Task().state(), v1::TaskState::waiting);
}

TEST(LivenessTest, ARestartLosesNothingAndExpiresNothingInItsGrace) {
  House house;
  house.AddNode(CompileNode("a"));
  ASSERT_OK(house.Submit(SpecOf(2)));
  ASSERT_OK_AND_ASSIGN(const auto lease, house.Lease("a"));
  house.Pass(absl::Seconds(29));
  house.Reopen();
  house.Pass(absl::Seconds(20));
  EXPECT_EQ(house.Task("last", 0).state(), v1::TaskState::leased);
  // The old session is still good: no storm of registrations.
  ASSERT_OK(house.Heartbeat("a", {Held(lease.tasks(0))}));
  ASSERT_OK_AND_ASSIGN(const auto more, house.Lease("a"));
  ASSERT_EQ(more.tasks_size(), 1);
  EXPECT_GT(more.tasks(0).fence(), lease.tasks(0).fence());
  ASSERT_OK(house.Complete("a", lease.tasks(0), CompiledResult()));
  ASSERT_OK(house.Complete("a", more.tasks(0), CompiledResult()));
  EXPECT_EQ(house.Job().summary().state(), v1::JobState::done);
}

TEST(LivenessTest, AnOlderSessionIsToldToRegisterAgain) {
  House house;
  house.AddNode(CompileNode("a"));
  const int64_t old_session = house.sessions["a"];
  house.AddNode(CompileNode("a"));
  house.sessions["a"] = old_session;
  EXPECT_EQ(house.Heartbeat("a", {}).status().code(),
            absl::StatusCode::kAborted);
  EXPECT_EQ(house.Lease("a").status().code(), absl::StatusCode::kAborted);
}

TEST(LivenessTest, TheQueueAndTotalClocksEndWhatWaitsTooLong) {
  House house;
  v1::JobSpec spec = SpecOf(1);
  spec.set_queue_timeout_s(60);
  ASSERT_OK(house.Submit(spec));
  house.Pass(absl::Seconds(61));
  EXPECT_EQ(house.Task().state(), v1::TaskState::failed);
  EXPECT_THAT(house.Task().reason(),
              HasSubstr("waited 60 s in the queue: no node is connected"));
  spec = SpecOf(2);
  spec.set_total_timeout_s(60);
  house.AddNode(CompileNode("a"));
  ASSERT_OK(house.Submit(spec));
  ASSERT_OK_AND_ASSIGN(const auto lease, house.Lease("a"));
  house.Pass(absl::Seconds(61));
  EXPECT_EQ(house.Job().summary().state(), v1::JobState::failed);
  EXPECT_EQ(house.Job().summary().failed(), 2);
  EXPECT_THAT(house.Task().reason(), HasSubstr("total time of 60 s"));
}

TEST(LivenessTest, ASecondCoordinatorIsRefused) {
  House house;
  const auto second =
      Coordinator::Open(house.options, house.clock, house.random);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Text(second.status()), HasSubstr("another coordinator"));
}

}  // namespace
}  // namespace kernelfleet::server
