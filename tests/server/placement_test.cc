// Which node gets which task, and what is said when none can.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/status.h"
#include "tests/server/house.h"

namespace kernelfleet::server {
namespace {

using ::testing::HasSubstr;

v1::NodeFacts GpuNode(const std::string& id, int gpus) {
  v1::NodeFacts facts = CompileNode(id);
  facts.mutable_environments(0)->mutable_targets(0)->set_runs(true);
  for (int i = 0; i < gpus; ++i) {
    v1::Gpu& gpu = *facts.add_gpus();
    gpu.set_index(i);
    gpu.set_name("H200");
    gpu.set_arch("sm_90");
    gpu.set_driver("570.1");
  }
  return facts;
}

v1::JobSpec GpuSpec(int kernels) {
  v1::JobSpec spec = SpecOf(kernels);
  (*spec.mutable_labels())["gpu"] = "1";
  return spec;
}

// Past the grace window, in which nothing is called impossible.
void Wait(House& house) { house.Pass(absl::Seconds(16)); }

TEST(PlacementTest, ATaskThatNothingRunsSaysWhy) {
  House house;
  ASSERT_OK(house.Submit(GpuSpec(1)));
  EXPECT_THAT(house.Task().reason(), HasSubstr("has just started"));
  Wait(house);
  EXPECT_EQ(house.Task().reason(), "no node is connected");
  house.AddNode(CompileNode("a"));
  house.AddNode(CompileNode("b"));
  EXPECT_EQ(house.Task().reason(),
            "no node runs cuda:sm_90; 2 nodes compile it");
  house.AddNode(GpuNode("c", 1));
  EXPECT_EQ(house.Task().reason(),
            "waits for a free GPU on the one node that can take it");
}

TEST(PlacementTest, AGpuHasOneHolderEvenWhenTheAgentForgets) {
  House house;
  house.AddNode(GpuNode("a", 2));
  ASSERT_OK(house.Submit(GpuSpec(3)));
  ASSERT_OK_AND_ASSIGN(const auto first, house.Lease("a", 0, {0, 1}));
  ASSERT_EQ(first.tasks_size(), 2);
  EXPECT_NE(first.tasks(0).gpu(), first.tasks(1).gpu());
  ASSERT_OK_AND_ASSIGN(const auto more, house.Lease("a", 4, {0, 1}));
  EXPECT_EQ(more.tasks_size(), 0);
  ASSERT_OK(house.Complete("a", first.tasks(0), CompiledResult()));
  ASSERT_OK_AND_ASSIGN(const auto third,
                       house.Lease("a", 0, {first.tasks(0).gpu()}));
  EXPECT_EQ(third.tasks_size(), 1);
  EXPECT_EQ(house.Sql("SELECT DISTINCT gpu || ' ' || driver FROM attempts"),
            "H200 570.1");
}

// Found by the simulation, seed 208, in one run of several.
TEST(PlacementTest, AnExpiredAttemptDoesNotComeBackToAGpuGivenAway) {
  House house;
  house.AddNode(GpuNode("a", 1));
  ASSERT_OK(house.Submit(GpuSpec(2)));
  ASSERT_OK_AND_ASSIGN(const auto first, house.Lease("a", 0, {0}));
  ASSERT_EQ(first.tasks_size(), 1);
  house.Pass(absl::Seconds(31));
  ASSERT_OK_AND_ASSIGN(const auto second, house.Lease("a", 0, {0}));
  ASSERT_EQ(second.tasks_size(), 1);
  ASSERT_NE(second.tasks(0).task_id(), first.tasks(0).task_id());
  ASSERT_OK_AND_ASSIGN(
      const auto beat,
      house.Heartbeat("a", {Held(first.tasks(0)), Held(second.tasks(0))}));
  ASSERT_EQ(beat.cancel_fences_size(), 1);
  EXPECT_EQ(beat.cancel_fences(0), first.tasks(0).fence());
  EXPECT_EQ(house.Sql("SELECT count(*) FROM attempts WHERE state='leased'"),
            "1");
}

TEST(PlacementTest, ACancelledAttemptHoldsItsGpuUntilTheAgentLetsGo) {
  House house;
  house.AddNode(GpuNode("a", 1));
  ASSERT_OK_AND_ASSIGN(const auto job, house.Submit(GpuSpec(1)));
  ASSERT_OK_AND_ASSIGN(const auto lease, house.Lease("a", 0, {0}));
  ASSERT_OK(house.Cancel(job.job_id()));
  ASSERT_OK(house.Submit(GpuSpec(1)));
  ASSERT_OK_AND_ASSIGN(auto next, house.Lease("a", 0, {0}));
  EXPECT_EQ(next.tasks_size(), 0);
  ASSERT_OK(house.Fail("a", lease.tasks(0), v1::InfraFailure::cancelled));
  ASSERT_OK_AND_ASSIGN(next, house.Lease("a", 0, {0}));
  EXPECT_EQ(next.tasks_size(), 1);
}

TEST(PlacementTest, ACancelledAttemptHoldsItsGpuAcrossARestart) {
  House house;
  house.AddNode(GpuNode("a", 1));
  ASSERT_OK_AND_ASSIGN(const auto job, house.Submit(GpuSpec(1)));
  ASSERT_OK_AND_ASSIGN(const auto lease, house.Lease("a", 0, {0}));
  ASSERT_OK(house.Cancel(job.job_id()));
  house.Reopen();
  ASSERT_OK_AND_ASSIGN(const auto again,
                       house.Register(GpuNode("a", 1), {Held(lease.tasks(0))}));
  house.sessions["a"] = again.session();
  EXPECT_EQ(again.keep_fences_size(), 0);
  ASSERT_OK(house.Submit(GpuSpec(1)));
  ASSERT_OK_AND_ASSIGN(auto next, house.Lease("a", 0, {0}));
  EXPECT_EQ(next.tasks_size(), 0);
  ASSERT_OK(house.Fail("a", lease.tasks(0), v1::InfraFailure::cancelled));
  EXPECT_EQ(house.Sql("SELECT state FROM attempts"), "cancelled");
  ASSERT_OK_AND_ASSIGN(next, house.Lease("a", 0, {0}));
  EXPECT_EQ(next.tasks_size(), 1);
}

TEST(PlacementTest, ACordonedNodeGetsNothingAndKeepsItsState) {
  House house;
  house.AddNode(CompileNode("a"));
  v1::SetNodeStateRequest request;
  request.set_node_id("a");
  request.set_state("cordoned");
  request.set_reason("new driver");
  absl::Status answer = absl::UnknownError("");
  house.coordinator->SetNodeState(
      request, [&](const auto& got) { answer = got.status(); });
  house.Settle();
  ASSERT_OK(answer);
  ASSERT_OK(house.Submit(SpecOf(1)));
  house.Reopen();
  ASSERT_OK(house.Register(CompileNode("a")));
  ASSERT_OK_AND_ASSIGN(const auto lease, house.Lease("a"));
  EXPECT_EQ(lease.tasks_size(), 0);
  ASSERT_OK_AND_ASSIGN(const auto nodes, house.coordinator->ListNodes());
  EXPECT_EQ(nodes.nodes(0).state(), "cordoned");
  EXPECT_EQ(nodes.nodes(0).reason(), "new driver");
  Wait(house);
  EXPECT_EQ(house.Task().reason(), "node a could, but takes no work now");
}

TEST(PlacementTest, ASmallJobIsNotHeldUpByABigOneAndPriorityGoesFirst) {
  House house;
  house.AddNode(CompileNode("a"));
  ASSERT_OK_AND_ASSIGN(const auto big, house.Submit(SpecOf(200)));
  v1::JobSpec spec = SpecOf(1);
  spec.mutable_kernels(0)->set_name("small");
  ASSERT_OK_AND_ASSIGN(const auto small, house.Submit(spec));
  ASSERT_OK_AND_ASSIGN(auto lease, house.Lease("a", 2));
  ASSERT_EQ(lease.tasks_size(), 2);
  EXPECT_NE(lease.tasks(0).job_id(), lease.tasks(1).job_id());
  spec.mutable_kernels(0)->set_name("urgent");
  spec.set_priority(5);
  ASSERT_OK_AND_ASSIGN(const auto urgent, house.Submit(spec));
  ASSERT_OK_AND_ASSIGN(lease, house.Lease("a", 1));
  EXPECT_EQ(lease.tasks(0).job_id(), urgent.job_id());
}

TEST(PlacementTest, AParkedLeaseIsAnsweredWhenWorkComes) {
  House house;
  house.AddNode(CompileNode("a"));
  v1::LeaseRequest request;
  request.set_node_id("a");
  request.set_session(house.sessions["a"]);
  request.set_slots(1);
  request.set_wait_s(30);
  int answers = 0;
  int tasks = 0;
  const auto lease = [&] {
    return house.coordinator->Lease(request, [&](const auto& answer) {
      ++answers;
      if (answer.ok()) tasks += answer->tasks_size();
    });
  };
  lease();
  house.Settle();
  EXPECT_EQ(answers, 0);
  ASSERT_OK(house.Submit(SpecOf(1)));
  EXPECT_EQ(answers, 1);
  EXPECT_EQ(tasks, 1);
  const uint64_t call = lease();
  house.Settle();
  house.coordinator->CancelCall(call);
  house.Settle();
  EXPECT_EQ(answers, 2);
  lease();
  house.Settle();
  house.Pass(absl::Seconds(31));
  EXPECT_EQ(answers, 3);
  EXPECT_EQ(tasks, 1);
}

TEST(PlacementTest, ATaskCanAskForOneEnvironmentHash) {
  House house;
  house.options.next = [](const v1::JobSpec& job, int kernel,
                          std::span<const v1::TaskRecord> records) {
    Plan plan = ProbeAllTargets(job, kernel, records);
    for (v1::TaskSpec& task : plan.tasks) task.set_environment_hash("env2");
    return plan;
  };
  house.Reopen();
  house.AddNode(CompileNode("a", "env1"));
  house.AddNode(CompileNode("b", "env2"));
  ASSERT_OK(house.Submit(SpecOf(1)));
  ASSERT_OK_AND_ASSIGN(const auto none, house.Lease("a"));
  EXPECT_EQ(none.tasks_size(), 0);
  ASSERT_OK_AND_ASSIGN(const auto lease, house.Lease("b"));
  EXPECT_EQ(lease.tasks_size(), 1);
}

}  // namespace
}  // namespace kernelfleet::server
