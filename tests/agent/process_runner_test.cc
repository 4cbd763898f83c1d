// Warm processes, their death, and the fallback, against a runner that only
// speaks the protocol.
#include "agent/process_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cstdlib>
#include <thread>

#include "common/base/file.h"
#include "common/base/status.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace kernelfleet::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ProcessRunnerTest : public ::testing::Test {
 protected:
  ProcessRunnerTest() {
    const char* source = std::getenv("KERNELFLEET_SOURCE_DIR");
    options_.program = folder_ / "runner";
    const std::string script =
        JoinPath(source ? source : ".", "tests/agent/fake_runner.py");
    EXPECT_OK(WriteFileAtomic(
        options_.program,
        "#!/bin/sh\nexec /usr/bin/python3 '" + script + "' \"$@\"\n"));
    ::chmod(options_.program.c_str(), 0700);
    options_.grace = absl::Milliseconds(200);
    ::unsetenv("CUDA_FAKE_RUNNER");
  }
  ~ProcessRunnerTest() override { ::unsetenv("CUDA_FAKE_RUNNER"); }

  PhaseRun Run(const std::string& id, const std::string& what = "end") {
    PhaseRun run;
    run.id = id;
    run.directory = folder_ / ("attempt-" + id);
    EXPECT_OK(MakeDirectories(run.directory));
    EXPECT_OK(WriteFileAtomic(JoinPath(run.directory, "do"), what));
    run.python = "/usr/bin/python3";
    run.target = "cuda:sm_90";
    run.environment["CUDA_VISIBLE_DEVICES"] = "";
    return run;
  }
  static std::string CommandOf(const PhaseRun& run) {
    const auto text = ReadFile(JoinPath(run.directory, "command.json"));
    return text.ok() ? *text : "";
  }
  static std::string PidOf(const PhaseRun& run) {
    const std::string text = CommandOf(run);
    const size_t at = text.find("\"pid\": ");
    return text.substr(at, text.find_first_of(",}", at) - at);
  }

  testing::TempDir folder_;
  RunnerOptions options_;
};

TEST_F(ProcessRunnerTest, OneWarmProcessServesManyRuns) {
  ProcessRunner runner(options_);
  const PhaseRun first = Run("1");
  const PhaseRun second = Run("2");
  ASSERT_OK_AND_ASSIGN(const PhaseEnd end, runner.Run(first, {}));
  EXPECT_EQ(end.exit_status, 0);
  EXPECT_EQ(end.peak_rss_bytes, 4096);
  EXPECT_EQ(end.wall, absl::Milliseconds(5));
  ASSERT_OK(runner.Run(second, {}));
  EXPECT_EQ(PidOf(first), PidOf(second));
  EXPECT_THAT(
      CommandOf(first),
      HasSubstr(R"("argv": ["--zygote", "--python", "/usr/bin/python3",)"
                R"( "--warm", "cuda:sm_90"])"));
  EXPECT_THAT(CommandOf(first), HasSubstr("CUDA_VISIBLE_DEVICES"));
}

TEST_F(ProcessRunnerTest, OtherTogglesAndBackendsGetProcessesOfTheirOwn) {
  ProcessRunner runner(options_);
  const PhaseRun plain = Run("1");
  PhaseRun toggled = Run("2");
  toggled.toggles["TRITON_X_PATH"] = "1";
  PhaseRun other = Run("3");
  other.target = "hip:gfx942";
  PhaseRun same = Run("4");
  same.target = "cuda:sm_100";
  for (const PhaseRun& run : {plain, toggled, other, same}) {
    ASSERT_OK(runner.Run(run, {}));
  }
  EXPECT_NE(PidOf(plain), PidOf(toggled));
  EXPECT_NE(PidOf(plain), PidOf(other));
  EXPECT_EQ(PidOf(plain), PidOf(same));
  EXPECT_THAT(CommandOf(toggled), HasSubstr(R"("toggle": "1")"));
}

TEST_F(ProcessRunnerTest, TheAgentsOwnEnvironmentStaysItsOwn) {
  ::setenv("KERNELFLEET_SECRET", "token", 1);
  ProcessRunner runner(options_);
  const PhaseRun run = Run("1");
  ASSERT_OK(runner.Run(run, {}));
  ::unsetenv("KERNELFLEET_SECRET");
  EXPECT_THAT(CommandOf(run), Not(HasSubstr("token")));
}

TEST_F(ProcessRunnerTest, OnlyTheLeastRecentlyUsedProcessMakesRoom) {
  options_.warm_processes = 2;
  ProcessRunner runner(options_);
  std::vector<PhaseRun> runs;
  for (const char* id : {"a", "b", "a2", "c", "a3", "b2"}) {
    PhaseRun run = Run(id);
    run.toggles["TRITON_X_PATH"] = std::string(id).substr(0, 1);
    ASSERT_OK(runner.Run(run, {}));
    runs.push_back(run);
  }
  EXPECT_EQ(PidOf(runs[0]), PidOf(runs[2]));
  EXPECT_EQ(PidOf(runs[0]), PidOf(runs[4])) << "c took the place of b, not a";
  EXPECT_NE(PidOf(runs[1]), PidOf(runs[5]));
}

TEST_F(ProcessRunnerTest, AStopRequestCancels) {
  ProcessRunner runner(options_);
  std::stop_source stop;
  std::thread stopper([&] {
    while (CommandOf(Run("1", "hang")).empty()) std::this_thread::yield();
    stop.request_stop();
  });
  ASSERT_OK_AND_ASSIGN(const PhaseEnd end,
                       runner.Run(Run("1", "hang"), stop.get_token()));
  stopper.join();
  EXPECT_TRUE(end.cancelled);
  EXPECT_EQ(end.signal, 15);
}

TEST_F(ProcessRunnerTest, ADeadProcessFailsItsRunsAndIsReplaced) {
  ProcessRunner runner(options_);
  const auto died = runner.Run(Run("1", "die"), {});
  EXPECT_TRUE(absl::IsUnavailable(died.status())) << Text(died.status());
  EXPECT_THAT(Text(died.status()), HasSubstr("signal 9"));
  EXPECT_OK(runner.Run(Run("2"), {}));
}

TEST_F(ProcessRunnerTest, AnAttemptThatEndsTwiceEndsOnce) {
  ProcessRunner runner(options_);
  ASSERT_OK_AND_ASSIGN(const PhaseEnd end, runner.Run(Run("1", "twice"), {}));
  EXPECT_EQ(end.exit_status, 0);
  EXPECT_OK(runner.Run(Run("2"), {}));
}

TEST_F(ProcessRunnerTest, WithoutAWarmProcessAttemptsRunAlone) {
  for (const char* mode : {"failed", "mute"}) {
    ::setenv("CUDA_FAKE_RUNNER", mode, 1);
    ProcessRunner runner(options_);
    const PhaseRun run = Run(std::string("alone-") + mode);
    ASSERT_OK_AND_ASSIGN(const PhaseEnd end, runner.Run(run, {}));
    EXPECT_EQ(end.exit_status, 3);
    EXPECT_TRUE(PathExists(JoinPath(run.directory, "alone")));
  }
}

TEST_F(ProcessRunnerTest, ARunAloneCanBeStopped) {
  ProcessRunner runner(options_);
  std::stop_source stop;
  const PhaseRun run = Run("1", "hang");
  std::thread stopper([&] {
    while (!PathExists(JoinPath(run.directory, "alone"))) {
      std::this_thread::yield();
    }
    stop.request_stop();
  });
  ASSERT_OK_AND_ASSIGN(const PhaseEnd end,
                       runner.RunAlone(run, stop.get_token()));
  stopper.join();
  EXPECT_TRUE(end.cancelled);
}

TEST_F(ProcessRunnerTest, AMissingProgramIsUnavailable) {
  options_.program = folder_ / "nothing";
  ProcessRunner runner(options_);
  EXPECT_TRUE(absl::IsUnavailable(runner.Run(Run("1"), {}).status()));
}

TEST_F(ProcessRunnerTest, AnIdleProcessStopsAndTheNextRunStartsAnother) {
  options_.idle_limit = absl::Milliseconds(50);
  ProcessRunner runner(options_);
  const PhaseRun first = Run("1");
  ASSERT_OK(runner.Run(first, {}));
  const std::string pid = PidOf(first).substr(7);
  while (::kill(static_cast<pid_t>(std::atoi(pid.c_str())), 0) == 0) {
    std::this_thread::yield();
  }
  const PhaseRun second = Run("2");
  ASSERT_OK(runner.Run(second, {}));
  EXPECT_NE(PidOf(first), PidOf(second));
}

}  // namespace
}  // namespace kernelfleet::agent
