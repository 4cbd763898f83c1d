#include "agent/runner/attempt.h"

#include <gtest/gtest.h>

#include <csignal>

#include "common/base/file.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace kernelfleet::runner {
namespace {

using kernelfleet::testing::TempDir;

class AttemptTest : public ::testing::Test {
 protected:
  AttemptTest() { spec_.dir = dir_.path(); }
  Json Settle(const AttemptEnd& end) {
    EXPECT_TRUE(SettleResult(spec_, end));
    return Json::Parse(ReadFile(dir_ / "result.json").value()).value();
  }
  void Write(const char* name, std::string_view text) {
    EXPECT_OK(WriteFileAtomic(dir_ / name, text));
  }
  TempDir dir_;
  AttemptSpec spec_;
};

TEST_F(AttemptTest, LimitsComeFromTheRequestWhateverFormNumbersTake) {
  Write("request.json",
        R"({"limits":{"run_s":2.5,"output_bytes":"77","memory_bytes":0,)"
        R"("artifact_bytes":"9"},"environment":{"A":"1"}})");
  const std::optional<AttemptSpec> spec = SpecFromRequest(dir_.path());
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->run_s, 2.5);
  EXPECT_EQ(spec->output_bytes, 77);
  EXPECT_EQ(spec->memory_bytes, 0);
  EXPECT_EQ(spec->file_bytes, 9);
  ASSERT_EQ(spec->environment.size(), 1u);
  EXPECT_EQ(spec->environment[0].first, "A");
}

TEST_F(AttemptTest, AGoodResultStaysAsItIs) {
  Write("result.json", R"({"outcome":"compiled"})");
  AttemptEnd end;
  end.exit_status = 0;
  EXPECT_EQ(Settle(end)["outcome"].AsString(), "compiled");
}

TEST_F(AttemptTest, AResultOfAnAttemptThatEndedBadlyDoesNotStay) {
  AttemptEnd crashed;
  crashed.signal = SIGSEGV;
  AttemptEnd late;
  late.exit_status = 0;
  late.timed_out = true;
  AttemptEnd bomb;
  bomb.signal = SIGKILL;
  bomb.process_limit = true;
  const std::pair<AttemptEnd, const char*> kRows[] = {
      {crashed, "crashed"}, {late, "timed_out"}, {bomb, "limit_exceeded"}};
  for (const auto& [end, outcome] : kRows) {
    Write("result.json", R"({"outcome":"compiled"})");
    EXPECT_EQ(Settle(end)["outcome"].AsString(), outcome);
  }
}

TEST_F(AttemptTest, TheCompilersOwnLogIsAskedForLastWordsFirst) {
  Write("stderr.txt", "chatter\n");
  Write("compiler.log",
        "module dump\nLLVM ERROR: Cannot select: t1: BUFFER_ATOMIC_FADD\n"
        "PLEASE submit a bug report\nStack dump:\n#0 0x1234\n");
  AttemptEnd end;
  end.signal = SIGABRT;
  end.stage = "llir";
  const Json failure = Settle(end)["failure"];
  EXPECT_EQ(failure["stage"].AsString(), "llir");
  EXPECT_EQ(failure["signal"].AsInt64(0), SIGABRT);
  EXPECT_EQ(failure["known_as"].AsString(), "unsupported_atomic");
  EXPECT_EQ(failure["message"].AsString(),
            "the process died of SIGABRT: LLVM ERROR: Cannot select: t1: "
            "BUFFER_ATOMIC_FADD");
}

TEST_F(AttemptTest, AnEmptyResultIsNone) {
  Write("result.json", "");
  AttemptEnd end;
  end.exit_status = 0;
  EXPECT_EQ(Settle(end)["outcome"].AsString(), "invalid_result");
}

}  // namespace
}  // namespace kernelfleet::runner
