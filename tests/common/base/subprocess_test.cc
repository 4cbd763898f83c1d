#include "common/base/subprocess.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "common/base/clock.h"
#include "tests/support/status_matchers.h"

namespace kernelfleet {
namespace {

ProcessOptions Shell(const std::string& script) {
  ProcessOptions options;
  options.argv = {"/bin/sh", "-c", script};
  return options;
}

TEST(SubprocessTest, OutputAndStatusComeBack) {
  ASSERT_OK_AND_ASSIGN(const ProcessResult result,
                       RunProcess(Shell("echo out; echo err >&2; exit 3")));
  EXPECT_EQ(result.exit_status, 3);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
}

TEST(SubprocessTest, AMissingProgramIsNotFound) {
  ProcessOptions options;
  options.argv = {"no-such-program-here"};
  EXPECT_EQ(RunProcess(options).status().code(), absl::StatusCode::kNotFound);
}

TEST(SubprocessTest, AMissingDirectoryIsAnError) {
  ProcessOptions options = Shell("true");
  options.directory = "/no/such/folder";
  EXPECT_FALSE(RunProcess(options).ok());
}

TEST(SubprocessTest, ATimeoutKillsTheWholeGroup) {
  ProcessOptions options = Shell("sleep 100 & sleep 100");
  options.timeout = absl::Milliseconds(100);
  const absl::Duration start = RealClock().Steady();
  ASSERT_OK_AND_ASSIGN(const ProcessResult result, RunProcess(options));
  EXPECT_TRUE(result.timed_out);
  EXPECT_LT(RealClock().Steady() - start, absl::Seconds(20));
}

TEST(SubprocessTest, AGrandchildHoldingThePipeDoesNotHang) {
  ASSERT_OK_AND_ASSIGN(const ProcessResult result,
                       RunProcess(Shell("sleep 100 & echo done")));
  EXPECT_EQ(result.out, "done\n");
  EXPECT_FALSE(result.timed_out);
}

TEST(SubprocessTest, OutputPastTheCapIsDropped) {
  ProcessOptions options = Shell("head -c 3000000 /dev/zero");
  options.max_output_bytes = 1000;
  ASSERT_OK_AND_ASSIGN(const ProcessResult result, RunProcess(options));
  EXPECT_EQ(result.out.size(), 1000u);
  EXPECT_EQ(result.exit_status, 0);
}

TEST(SubprocessTest, SignalsAreTold) {
  ASSERT_OK_AND_ASSIGN(const ProcessResult result,
                       RunProcess(Shell("kill -SEGV $$")));
  EXPECT_EQ(result.signal, SIGSEGV);
}

TEST(SubprocessTest, TheEnvironmentIsMergedOrCleared) {
  ProcessOptions options = Shell("echo \"$KF_X-$HOME\"");
  options.environment = {{"KF_X", "1"}};
  options.clear_environment = true;
  ASSERT_OK_AND_ASSIGN(const ProcessResult result, RunProcess(options));
  EXPECT_EQ(result.out, "1-\n");
}

}  // namespace
}  // namespace kernelfleet
