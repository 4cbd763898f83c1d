// Whatever one attempt does, it costs that attempt alone.
#include <sys/stat.h>

#include <csignal>

#include "common/base/file.h"
#include "tests/agent/runner/test_runner.h"
#include "tests/support/status_matchers.h"

namespace kernelfleet::testing {
namespace {

using IsolationTest = ZygoteTest;

int64_t SizeOf(const std::string& path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_size : -1;
}

TEST_F(IsolationTest, ASegmentationFaultIsACrashWithItsSignal) {
  const Ended ended = RunModule("import ctypes\nctypes.string_at(0)\n");
  EXPECT_EQ(ended.result.outcome(), v1::Outcome::crashed);
  EXPECT_EQ(ended.result.failure().signal(), SIGSEGV);
  EXPECT_EQ(ended.result.failure().stage(), "import");
  EXPECT_EQ(ended.Number("signal"), SIGSEGV);
  ExpectUnharmed();
}

TEST_F(IsolationTest, AnAbortKeepsTheCompilersLastWords) {
  const Ended ended = RunModule(
      "import os\n"
      "os.write(2, b'LLVM ERROR: Cannot select: BUFFER_ATOMIC_FADD\\n')\n"
      "os.write(2, b'Stack dump:\\n0. Running pass\\n')\n"
      "os.abort()\n");
  EXPECT_EQ(ended.result.outcome(), v1::Outcome::crashed);
  EXPECT_EQ(ended.result.failure().signal(), SIGABRT);
  EXPECT_NE(ended.result.failure().message().find("LLVM ERROR: Cannot select"),
            std::string::npos);
  EXPECT_EQ(ended.result.failure().known_as(), "unsupported_atomic");
  ExpectUnharmed();
}

TEST_F(IsolationTest, AnExitWithoutAResultIsAnInvalidResult) {
  EXPECT_EQ(RunModule("import os\nos._exit(0)\n").result.outcome(),
            v1::Outcome::invalid_result);
  const Ended ended = RunModule("import os\nos._exit(3)\n");
  EXPECT_EQ(ended.result.outcome(), v1::Outcome::invalid_result);
  EXPECT_EQ(ended.result.failure().exit_status(), 3);
  ExpectUnharmed();
}

TEST_F(IsolationTest, AHangThatIgnoresTermTimesOut) {
  RunLimits limits;
  limits.run_s = 0.3;
  const Ended ended = RunModule(
      "import signal, threading\n"
      "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
      "threading.Thread(target=lambda: [0 for _ in iter(int, 1)]).start()\n"
      "while True: pass\n",
      limits);
  EXPECT_EQ(ended.result.outcome(), v1::Outcome::timed_out);
  EXPECT_TRUE(ended.Flag("timed_out"));
  EXPECT_GE(ended.Number("wall_ms"), 300);
  EXPECT_LT(ended.Number("wall_ms"), 2300);
  ExpectUnharmed();
}

TEST_F(IsolationTest, ADaemonOfTwoForksAndASessionDoesNotSurvive) {
  const Ended ended = RunModule(
      "import os, signal, time\n"
      "r, w = os.pipe()\n"
      "if os.fork() == 0:\n"
      "    os.setsid()\n"
      "    if os.fork() == 0:\n"
      "        for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):\n"
      "            signal.signal(s, signal.SIG_IGN)\n"
      "        os.setsid()\n"
      "        os.write(w, b'up')\n"
      "        while True: time.sleep(1000)\n"
      "    os._exit(0)\n"
      "os.read(r, 2)\n" +
      std::string(kKernels));
  // It also did its work; the daemon takes nothing from that.
  EXPECT_EQ(ended.result.outcome(), v1::Outcome::compiled);
  ExpectUnharmed();
}

TEST_F(IsolationTest, AForkBombIsStopped) {
  const Ended ended = RunModule("import os\nwhile True: os.fork()\n");
  EXPECT_EQ(ended.result.outcome(), v1::Outcome::limit_exceeded);
  EXPECT_TRUE(ended.Flag("process_limit"));
  EXPECT_LT(ended.Number("wall_ms"), 5000);
  ExpectUnharmed();
}

TEST_F(IsolationTest, ChildrenThatRevengeEachOtherAreKilled) {
  // Each of two watches the other and forks it anew when it dies.
  RunLimits limits;
  limits.run_s = 0.3;
  const Ended ended = RunModule(
      "import os, time\n"
      "def guard(other):\n"
      "    while True:\n"
      "        try: os.kill(other, 0)\n"
      "        except OSError:\n"
      "            me = os.getpid()\n"
      "            child = os.fork()\n"
      "            other = child or me\n"
      "me = os.getpid()\n"
      "child = os.fork()\n"
      "guard(child or me)\n",
      limits);
  EXPECT_EQ(ended.result.outcome(), v1::Outcome::timed_out);
  ExpectUnharmed();
}

TEST_F(IsolationTest, AFloodOfOutputIsCutWithAMarker) {
  RunLimits limits;
  limits.output_bytes = 10'000;
  const Ended ended = RunModule(
      "import os\n"
      "for _ in range(300): os.write(1, b'x' * (1 << 20))\n" +
          std::string(kKernels),
      limits);
  EXPECT_EQ(ended.result.outcome(), v1::Outcome::compiled);
  EXPECT_TRUE(ended.Flag("output_truncated"));
  ASSERT_OK_AND_ASSIGN(const std::string text,
                       ReadFile(dir_ / "attempt/stdout.txt"));
  EXPECT_LT(text.size(), 10'200u);
  EXPECT_NE(text.find("[kernelfleet: output beyond 10000 bytes"),
            std::string::npos);
  ExpectUnharmed();
}

TEST_F(IsolationTest, KillingItsKeeperFreesNoAttempt) {
  const Ended ended = RunModule(
      "import os, signal, time\n"
      "if os.fork() == 0:\n"
      "    os.setsid()\n"
      "    while True: time.sleep(1000)\n"
      "os.kill(os.getppid(), signal.SIGKILL)\n"
      "while True: time.sleep(1000)\n");
  EXPECT_EQ(ended.result.outcome(), v1::Outcome::crashed);
  ExpectUnharmed();
}

TEST_F(IsolationTest, AResultForgedBeforeACrashDoesNotCount) {
  const Ended ended = RunModule(
      "import os\n"
      "open('result.json', 'w').write('{\"outcome\": \"compiled\"}')\n"
      "os.abort()\n");
  EXPECT_EQ(ended.result.outcome(), v1::Outcome::crashed);
}

TEST_F(IsolationTest, AResultThatIsALinkIsReplacedAndNotFollowed) {
  ASSERT_OK(WriteFileAtomic(dir_ / "victim", "precious"));
  const Ended ended = RunModule("import os\nos.symlink('" + (dir_ / "victim") +
                                "', 'result.json')\nos._exit(0)\n");
  EXPECT_EQ(ended.result.outcome(), v1::Outcome::invalid_result);
  ASSERT_OK_AND_ASSIGN(const std::string victim, ReadFile(dir_ / "victim"));
  EXPECT_EQ(victim, "precious");
}

TEST_F(IsolationTest, AFileStopsAtItsLimit) {
  RunLimits limits;
  limits.file_bytes = 1 << 20;
  const Ended ended = RunModule(
      "out = open('big', 'wb', 0)\nwhile True: out.write(b'x' * 65536)\n",
      limits);
  EXPECT_EQ(ended.result.outcome(), v1::Outcome::limit_exceeded);
  EXPECT_EQ(SizeOf(dir_ / "attempt/big"), 1 << 20);
  ExpectUnharmed();
}

TEST_F(IsolationTest, MemoryStopsAtItsLimit) {
  RunLimits limits;
  limits.memory_bytes = int64_t{8} << 30;
  const Ended ended = RunModule("x = bytearray(16 << 30)\n", limits);
  EXPECT_EQ(ended.result.outcome(), v1::Outcome::limit_exceeded);
}

TEST_F(IsolationTest, OneAttemptCannotSpoilTheNextOnesTriton) {
  EXPECT_EQ(RunModule("import triton\ntriton.jit = None\n"
                      "import sys\nsys.modules.clear()\n")
                .result.outcome(),
            v1::Outcome::compile_error);
  ExpectUnharmed();
}

TEST_F(IsolationTest, ACancelledAttemptEndsWithinItsGrace) {
  WriteAttempt(dir_ / "attempt", "while True: pass\n",
               AddRequest("cuda", "sm_90"));
  zygote_->Start("victim", dir_ / "attempt", {});
  ASSERT_EQ(zygote_->Next()->fields().at("event").string_value(), "started");
  zygote_->Send(R"({"op":"cancel","id":"victim","grace_s":0.2})");
  Ended ended;
  ended.event = *zygote_->Next();
  EXPECT_TRUE(ended.Flag("cancelled"));
  EXPECT_EQ(ReadResult(dir_ / "attempt").failure().message(), "cancelled");
  ExpectUnharmed();
}

TEST_F(IsolationTest, SixAttemptsAtOnceEndEachWithItsOwnResult) {
  const std::string crash = "import os\nos.abort()\n";
  for (int i = 0; i < 6; ++i) {
    const std::string name = std::to_string(i);
    WriteAttempt(dir_ / name, i % 2 ? crash : kKernels,
                 AddRequest("cuda", "sm_90"));
    zygote_->Start(name, dir_ / name, {});
  }
  for (int ended = 0; ended < 6;) {
    const auto event = zygote_->Next();
    ASSERT_TRUE(event);
    ended += event->fields().at("event").string_value() == "ended";
  }
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(ReadResult(dir_ / std::to_string(i)).outcome(),
              i % 2 ? v1::Outcome::crashed : v1::Outcome::compiled);
  }
  ExpectUnharmed();
}

TEST_F(IsolationTest, NonsenseIsRefusedAndServiceGoesOn) {
  for (const char* line : {"nonsense", "{}", "[1]", R"({"op":"dance"})",
                           R"({"op":"run","id":"x","dir":"relative"})"}) {
    zygote_->Send(line);
    EXPECT_EQ(zygote_->Next()->fields().at("event").string_value(), "refused");
  }
  ExpectUnharmed();
}

TEST_F(IsolationTest, TheEndOfCommandsKillsEverything) {
  TestZygote zygote;
  WriteAttempt(dir_ / "attempt",
               "import os, time\nos.fork()\nos.setsid()\n"
               "while True: time.sleep(1000)\n",
               AddRequest("cuda", "sm_90"));
  zygote.Start("forever", dir_ / "attempt", {});
  ASSERT_EQ(zygote.Next()->fields().at("event").string_value(), "started");
  const std::vector<pid_t> all = ProcessesBelow(zygote.pid());
  EXPECT_GE(all.size(), 2u);
  zygote.CloseCommands();
  ASSERT_TRUE(zygote.WaitForEnd());
  for (const pid_t pid : all) EXPECT_NE(::kill(pid, 0), 0) << pid;
}

}  // namespace
}  // namespace kernelfleet::testing
