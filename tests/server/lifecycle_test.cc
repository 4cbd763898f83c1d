// Submit, lease, complete: the whole life of jobs through the facade.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/status.h"
#include "tests/server/house.h"

namespace kernelfleet::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Kinds(const std::vector<v1::JobEvent>& events) {
  std::vector<std::string> kinds;
  for (const v1::JobEvent& event : events) kinds.push_back(event.kind());
  return kinds;
}

TEST(LifecycleTest, AJobRunsFromSubmissionToDecision) {
  House house;
  house.AddNode(CompileNode("a"));
  ASSERT_OK_AND_ASSIGN(const auto submitted, house.Submit(SpecOf(1)));
  EXPECT_TRUE(submitted.created());
  ASSERT_OK_AND_ASSIGN(const auto lease, house.Lease("a"));
  ASSERT_EQ(lease.tasks_size(), 1);
  const v1::LeasedTask& task = lease.tasks(0);
  EXPECT_EQ(task.request().entry(), "k0");
  EXPECT_EQ(task.module_digest(), DigestOf("k0"));
  EXPECT_EQ(task.environment(), "base");
  EXPECT_EQ(house.Task().state(), v1::TaskState::leased);
  ASSERT_OK(house.Heartbeat("a", {Held(task, "running")}));
  house.Pass(absl::Milliseconds(250));
  EXPECT_EQ(house.Task().state(), v1::TaskState::running);
  EXPECT_EQ(house.Task().step(), "running");
  ASSERT_OK_AND_ASSIGN(const auto done,
                       house.Complete("a", task, CompiledResult()));
  EXPECT_TRUE(done.accepted());
  const v1::JobDetail job = house.Job(submitted.job_id());
  EXPECT_EQ(job.summary().state(), v1::JobState::done);
  EXPECT_EQ(job.summary().done(), 1);
  EXPECT_EQ(job.tasks(0).result().probe().resources().registers(), 32);
  EXPECT_EQ(job.tasks(0).result().environment_hash(), "env1");
  ASSERT_EQ(job.decisions_size(), 1);
  EXPECT_EQ(job.decisions(0).text(), "1 tasks ended");
  EXPECT_THAT(Kinds(house.Events()),
              ElementsAre("submitted", "leased", "running", "done", "decided",
                          "job_done"));
}

TEST(LifecycleTest, TheSameKeyNamesOneJobAndAnotherBodyIsRefused) {
  House house;
  ASSERT_OK_AND_ASSIGN(const auto first, house.Submit(SpecOf(1), "key"));
  ASSERT_OK_AND_ASSIGN(const auto again, house.Submit(SpecOf(1), "key"));
  EXPECT_EQ(first.job_id(), again.job_id());
  EXPECT_FALSE(again.created());
  const auto other = house.Submit(SpecOf(2), "key");
  EXPECT_EQ(other.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(Text(other.status()), HasSubstr(first.job_id()));
}

TEST(LifecycleTest, AStaleResultIsKeptAsARejectedAttempt) {
  House house;
  house.AddNode(CompileNode("a"));
  house.AddNode(CompileNode("b"));
  ASSERT_OK(house.Submit(SpecOf(1)));
  ASSERT_OK_AND_ASSIGN(const auto first, house.Lease("a"));
  house.Pass(absl::Seconds(31));
  ASSERT_OK(house.Heartbeat("b", {}));
  house.Pass(absl::Seconds(2));
  ASSERT_OK_AND_ASSIGN(const auto second, house.Lease("b"));
  ASSERT_EQ(second.tasks_size(), 1);
  EXPECT_GT(second.tasks(0).fence(), first.tasks(0).fence());
  ASSERT_OK_AND_ASSIGN(const auto late,
                       house.Complete("a", first.tasks(0), CompiledResult()));
  EXPECT_FALSE(late.accepted());
  EXPECT_THAT(late.reason(), HasSubstr("on node b owns the task"));
  EXPECT_EQ(house.Task().state(), v1::TaskState::leased);
  ASSERT_OK_AND_ASSIGN(const auto won,
                       house.Complete("b", second.tasks(0), CompiledResult()));
  EXPECT_TRUE(won.accepted());
  EXPECT_EQ(house.Sql("SELECT state FROM attempts ORDER BY fence"),
            "rejected,accepted");
}

TEST(LifecycleTest, ALateResultThatNobodyHasOvertakenIsAccepted) {
  House house;
  house.AddNode(CompileNode("a"));
  ASSERT_OK(house.Submit(SpecOf(1)));
  ASSERT_OK_AND_ASSIGN(const auto lease, house.Lease("a"));
  house.Pass(absl::Seconds(31));
  EXPECT_EQ(house.Task().state(), v1::TaskState::waiting);
  ASSERT_OK_AND_ASSIGN(const auto late,
                       house.Complete("a", lease.tasks(0), CompiledResult()));
  EXPECT_TRUE(late.accepted());
  EXPECT_EQ(house.Task().state(), v1::TaskState::done);
}

TEST(LifecycleTest, TheSameResultTwiceGetsTheSameAnswer) {
  House house;
  house.AddNode(CompileNode("a"));
  ASSERT_OK(house.Submit(SpecOf(1)));
  ASSERT_OK_AND_ASSIGN(const auto lease, house.Lease("a"));
  const v1::LeasedTask& task = lease.tasks(0);
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK_AND_ASSIGN(const auto done,
                         house.Complete("a", task, CompiledResult()));
    EXPECT_TRUE(done.accepted());
  }
  ASSERT_OK_AND_ASSIGN(const auto other,
                       house.Complete("a", task, CompiledResult(255)));
  EXPECT_FALSE(other.accepted());
  EXPECT_EQ(house.Sql("SELECT registers FROM probes"), "32");
  EXPECT_EQ(house.Complete("b", task, CompiledResult()).status().code(),
            absl::StatusCode::kPermissionDenied);
}

TEST(LifecycleTest, CancelEndsWhatWaitsAndStopsWhatRuns) {
  House house;
  house.AddNode(CompileNode("a"));
  ASSERT_OK_AND_ASSIGN(const auto job, house.Submit(SpecOf(3)));
  ASSERT_OK_AND_ASSIGN(const auto lease, house.Lease("a"));
  ASSERT_OK_AND_ASSIGN(const auto cancelled, house.Cancel(job.job_id()));
  EXPECT_EQ(cancelled.cancelled_tasks(), 3);
  EXPECT_EQ(house.Job().summary().state(), v1::JobState::cancelled);
  ASSERT_OK_AND_ASSIGN(const auto beat,
                       house.Heartbeat("a", {Held(lease.tasks(0))}));
  EXPECT_THAT(beat.cancel_fences(), ElementsAre(lease.tasks(0).fence()));
  ASSERT_OK_AND_ASSIGN(const auto late,
                       house.Complete("a", lease.tasks(0), CompiledResult()));
  EXPECT_FALSE(late.accepted());
  EXPECT_EQ(house.Task().state(), v1::TaskState::cancelled);
  EXPECT_THAT(Kinds(house.Events()),
              ElementsAre("submitted", "leased", "cancelled", "job_done"));
}

TEST(LifecycleTest, ADeterministicResultIsReusedInTheSameEnvironmentOnly) {
  House house;
  house.AddNode(CompileNode("a", "env1"));
  ASSERT_OK(house.Submit(SpecOf(1)));
  ASSERT_OK_AND_ASSIGN(const auto lease, house.Lease("a"));
  ASSERT_OK(house.Complete("a", lease.tasks(0), CompiledResult(48)));
  ASSERT_OK(house.Submit(SpecOf(1)));
  EXPECT_EQ(house.Job().summary().state(), v1::JobState::done);
  EXPECT_TRUE(house.Task().from_cache());
  EXPECT_EQ(house.Task().result().probe().resources().registers(), 48);
  v1::JobSpec fresh = SpecOf(1);
  fresh.set_no_cache(true);
  ASSERT_OK(house.Submit(fresh));
  EXPECT_EQ(house.Task().state(), v1::TaskState::waiting);
  ASSERT_OK(house.Register(CompileNode("a", "env2")));
  ASSERT_OK(house.Submit(SpecOf(1)));
  EXPECT_EQ(house.Task().state(), v1::TaskState::waiting);
}

TEST(LifecycleTest, TwoEqualJobsAtOnceRunOnce) {
  House house;
  house.AddNode(CompileNode("a"));
  ASSERT_OK(house.Submit(SpecOf(1)));
  ASSERT_OK_AND_ASSIGN(const auto lease, house.Lease("a"));
  ASSERT_OK(house.Submit(SpecOf(1)));
  ASSERT_OK(house.Complete("a", lease.tasks(0), CompiledResult()));
  ASSERT_OK_AND_ASSIGN(const auto second, house.Lease("a"));
  EXPECT_EQ(second.tasks_size(), 0);
  EXPECT_TRUE(house.Task().from_cache());
  EXPECT_EQ(house.Job().summary().state(), v1::JobState::done);
}

TEST(LifecycleTest, ABigJobIsPlannedInSlicesAndSurvivesARestartBetween) {
  House house;
  v1::SubmitRequest request;
  *request.mutable_spec() = SpecOf(3000);
  house.coordinator->Submit(request, [](const auto&) {});
  house.coordinator->Turn();
  EXPECT_EQ(house.Sql("SELECT tasks FROM jobs"), "512");
  house.Reopen();
  EXPECT_EQ(house.Sql("SELECT tasks FROM jobs"), "3000");
  EXPECT_EQ(house.Sql("SELECT count(DISTINCT kernel) FROM tasks"), "3000");
  v1::GetJobRequest whole;
  whole.set_job_id("last");
  EXPECT_EQ(house.coordinator->GetJob(whole).status().code(),
            absl::StatusCode::kFailedPrecondition);
  v1::ListTasksRequest page;
  page.set_job_id("last");
  page.set_page_size(2000);
  ASSERT_OK_AND_ASSIGN(auto tasks, house.coordinator->ListTasks(page));
  EXPECT_EQ(tasks.tasks_size(), 2000);
  page.set_page_token(tasks.next_page_token());
  ASSERT_OK_AND_ASSIGN(tasks, house.coordinator->ListTasks(page));
  EXPECT_EQ(tasks.tasks_size(), 1000);
  EXPECT_EQ(tasks.next_page_token(), "");
}

TEST(LifecycleTest, BadSpecsGetOneSentenceAndStoreNothing) {
  House house;
  v1::JobSpec spec = SpecOf(1);
  spec.mutable_kernels(0)->set_name("evil\x1b[2J");
  EXPECT_THAT(Text(house.Submit(spec).status()),
              HasSubstr("control characters"));
  spec = SpecOf(1);
  spec.mutable_kernels(0)->set_module_digest("nonsense");
  EXPECT_THAT(Text(house.Submit(spec).status()), HasSubstr("no digest"));
  EXPECT_THAT(Text(house.Submit(v1::JobSpec()).status()),
              HasSubstr("the workflow is empty"));
  spec = SpecOf(1);
  spec.set_total_timeout_s(-1);
  EXPECT_THAT(Text(house.Submit(spec).status()), HasSubstr("total_timeout_s"));
  EXPECT_EQ(house.Sql("SELECT count(*) FROM jobs"), "0");
}

}  // namespace
}  // namespace kernelfleet::server
