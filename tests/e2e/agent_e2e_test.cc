// The real server, agent and runner, end to end.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
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
    fleet.StartAgent();
    // From before it registers to deep in its work.
    Pause(absl::Milliseconds(1500 + random.Next() % 3000));
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
  EXPECT_EQ(fleet.StopAgent(), 0);
  EXPECT_TRUE(fleet.WaitForNoRunners(absl::Seconds(10)).empty());
}

}  // namespace
}  // namespace kernelfleet::e2e
