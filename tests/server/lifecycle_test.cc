// Submit, lease, complete: the whole life of jobs through the facade.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace kernelfleet::server
