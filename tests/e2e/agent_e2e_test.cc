// The real server, agent and runner, end to end.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <set>

#include "common/base/random.h"
#include "tests/e2e/fleet.h"
#include "tests/support/status_matchers.h"

namespace kernelfleet::e2e {
namespace {

constexpr char kVectorAdd[] = R"(
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)
)";

v1::CompileCase VectorAddCase() {
  v1::CompileCase out;
  for (const char* name : {"x_ptr", "y_ptr", "out_ptr"}) {
    v1::KernelArg& arg = *out.add_args();
    arg.set_name(name);
    arg.set_type("*fp32");
    arg.set_divisibility(16);
  }
  v1::KernelArg& n = *out.add_args();
  n.set_name("n");
  n.set_type("i32");
  v1::KernelArg& block = *out.add_args();
  block.set_name("BLOCK");
  block.mutable_constant()->set_int_value(1024);
  return out;
}

class AgentE2eTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = WhySkip(); !why.empty()) {
      fmt::print("{}\n", why);
      GTEST_SKIP() << why;
    }
  }
};

TEST_F(AgentE2eTest, ProbesAKernelForThreeTargets) {
  Fleet fleet;
  fleet.StartServer();
  fleet.StartAgent();
  const std::string id =
      fleet.Submit({kVectorAdd}, "add", VectorAddCase(),
                   {"cuda:sm_90", "cuda:sm_100", "hip:gfx942"}, "one");
  ASSERT_FALSE(id.empty()) << fleet.Logs();
  const v1::JobDetail job = fleet.WaitForEnd(id, absl::Seconds(60));
  ASSERT_EQ(job.summary().state(), v1::JobState::done)
      << job.ShortDebugString() << fleet.Logs();
  std::set<std::string> dialects;
  for (const v1::TaskRecord& task : job.tasks()) {
    const v1::ProbeResult& probe = task.result().probe();
    EXPECT_EQ(probe.outcome(), v1::Outcome::compiled)
        << probe.ShortDebugString();
    EXPECT_FALSE(task.result().environment_hash().empty());
    for (const v1::IsaKernel& kernel : task.result().isa()) {
      dialects.insert(kernel.dialect());
      EXPECT_GT(kernel.summary().instructions(), 0) << kernel.dialect();
    }
    for (const v1::Artifact& artifact : probe.artifacts()) {
      const auto bytes = fleet.blobs().Download(artifact.digest());
      ASSERT_OK(bytes);
      EXPECT_EQ(static_cast<int64_t>(bytes->size()), artifact.size_bytes());
    }
    EXPECT_GT(probe.artifacts_size(), 3);
  }
  EXPECT_EQ(dialects, (std::set<std::string>{"ptx", "amdgcn"}))
      << job.DebugString();
  EXPECT_EQ(fleet.StopAgent(), 0) << fleet.Logs();
  EXPECT_TRUE(fleet.WaitForNoRunners(absl::Seconds(10)).empty());
}

TEST_F(AgentE2eTest, TwentyKillsOfTheAgentLoseAndDoubleNothing) {
  constexpr int kKills = 20;
  Fleet fleet;
  fleet.StartServer();
  // Work for all the kills: each kernel differs, so that no result is reused.
  std::vector<std::string> modules;
  for (int i = 0; i < 120; ++i) {
    modules.push_back(fmt::format("{}\n# {}\n", kVectorAdd, i));
  }
  const std::string id = fleet.Submit(modules, "add", VectorAddCase(),
                                      {"cuda:sm_90", "hip:gfx942"}, "kills");
  ASSERT_FALSE(id.empty()) << fleet.Logs();
  SeededRandom random(20261201);
  for (int kill = 0; kill < kKills; ++kill) {
    const int leased = fleet.LogCount("leased task=");
    fleet.StartAgent();
    // Some before it registers, most deep in its work.
    if (kill % 4 != 3) fleet.WaitForLog("leased task=", leased + 1);
    Pause(absl::Milliseconds(random.Next() % 1000));
    fleet.KillAgent();
    EXPECT_TRUE(fleet.WaitForNoRunners(absl::Seconds(10)).empty())
        << "after kill " << kill;
  }
  fleet.StartAgent();
  const v1::JobDetail job = fleet.WaitForEnd(id, absl::Seconds(150));
  ASSERT_EQ(job.summary().state(), v1::JobState::done)
      << job.summary().ShortDebugString() << fleet.Logs();
  EXPECT_EQ(job.summary().tasks(), job.summary().done());
  EXPECT_GE(job.summary().tasks(), 2 * static_cast<int>(modules.size()));
  EXPECT_EQ(job.summary().findings(), 0);
  EXPECT_EQ(job.summary().from_cache(), 0);
  // One accepted result for each task, and kills that cost attempts.
  const int tasks = job.summary().tasks();
  EXPECT_EQ(fleet.QueryInt("SELECT count(DISTINCT task_id) FROM attempts "
                           "WHERE state = 'accepted'"),
            tasks);
  EXPECT_EQ(
      fleet.QueryInt("SELECT count(*) FROM attempts WHERE state = 'accepted'"),
      tasks);
  EXPECT_GE(fleet.QueryInt("SELECT count(*) FROM attempts"),
            tasks + kKills / 2);
  EXPECT_EQ(fleet.StopAgent(), 0);
  EXPECT_TRUE(fleet.WaitForNoRunners(absl::Seconds(10)).empty());
}

TEST_F(AgentE2eTest, TheAgentWorksOnThroughKillsOfTheServer) {
  Fleet fleet;
  fleet.StartServer();
  fleet.StartAgent();
  std::vector<std::string> modules;
  for (int i = 0; i < 40; ++i) {
    modules.push_back(fmt::format("{}\n# {}\n", kVectorAdd, i));
  }
  const std::string id = fleet.Submit(modules, "add", VectorAddCase(),
                                      {"cuda:sm_90"}, "server-kills");
  ASSERT_FALSE(id.empty()) << fleet.Logs();
  SeededRandom random(7);
  for (int kill = 0; kill < 5; ++kill) {
    fleet.WaitForLog("leased task=", fleet.LogCount("leased task=") + 1);
    Pause(absl::Milliseconds(random.Next() % 500));
    fleet.KillServer();
    Pause(absl::Milliseconds(random.Next() % 500));
    fleet.StartServer();
  }
  const v1::JobDetail job = fleet.WaitForEnd(id, absl::Seconds(90));
  ASSERT_EQ(job.summary().state(), v1::JobState::done)
      << job.summary().ShortDebugString() << fleet.Logs();
  EXPECT_EQ(job.summary().done(), 40);
  EXPECT_EQ(job.summary().findings(), 0);
  EXPECT_EQ(
      fleet.QueryInt("SELECT count(*) FROM attempts WHERE state = 'accepted'"),
      40);
}

TEST_F(AgentE2eTest, HostileKernelsCostTheirOwnAttemptAlone) {
  Fleet fleet;
  fleet.StartServer();
  fleet.StartAgent({"--slots", "2"});
  const auto attack = [](const std::string& code) {
    return fmt::format("{}\nimport os, sys, signal, time\n{}\n", kVectorAdd,
                       code);
  };
  const std::vector<std::string> modules = {
      attack("os._exit(7)"),
      attack("os.kill(os.getpid(), signal.SIGSEGV)"),
      attack("time.sleep(1000)"),
      attack("while True: sys.stdout.write('x' * 65536)"),
      attack("os.symlink('/etc/passwd', 'kernel.ttir')"),
      kVectorAdd,
  };
  const std::string id = fleet.Submit(modules, "add", VectorAddCase(),
                                      {"cuda:sm_90"}, "hostile", 5);
  ASSERT_FALSE(id.empty()) << fleet.Logs();
  const v1::JobDetail job = fleet.WaitForEnd(id, absl::Seconds(120));
  ASSERT_EQ(job.summary().state(), v1::JobState::done)
      << job.summary().ShortDebugString() << fleet.Logs();
  std::map<int, v1::Outcome::Code> outcomes;
  for (const v1::TaskRecord& task : job.tasks()) {
    outcomes[task.spec().kernel()] = task.result().probe().outcome();
    for (const v1::Artifact& artifact : task.result().probe().artifacts()) {
      const auto bytes = fleet.blobs().Download(artifact.digest());
      ASSERT_OK(bytes);
      EXPECT_EQ(bytes->find("root:"), bytes->npos);
    }
  }
  EXPECT_EQ(outcomes[0], v1::Outcome::invalid_result);
  EXPECT_EQ(outcomes[1], v1::Outcome::crashed);
  EXPECT_EQ(outcomes[2], v1::Outcome::timed_out);
  EXPECT_EQ(outcomes[3], v1::Outcome::timed_out);
  EXPECT_EQ(outcomes[5], v1::Outcome::compiled);
}

}  // namespace
}  // namespace kernelfleet::e2e
