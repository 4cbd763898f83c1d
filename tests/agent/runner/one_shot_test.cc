// The runner by hand: one attempt directory, no zygote.
#include "common/base/file.h"
#include "tests/agent/runner/test_runner.h"
#include "tests/support/status_matchers.h"

namespace kernelfleet::testing {
namespace {

class OneShotTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasTriton()) GTEST_SKIP() << "no Triton in " << PythonPath();
  }
  ProcessResult Run(const std::map<std::string, std::string>& environment = {},
                    std::vector<std::string> more = {}) {
    ProcessOptions options;
    options.argv = {RunnerPath(), "--attempt", dir_.path(), "--python",
                    PythonPath()};
    options.argv.insert(options.argv.end(), more.begin(), more.end());
    options.environment = environment;
    options.timeout = absl::Seconds(60);
    return RunProcess(options).value();
  }
  TempDir dir_;
};

TEST_F(OneShotTest, CompilesAndLeavesArtifactsOfTheSizesItNames) {
  v1::ProbeRequest request = AddRequest("cuda", "sm_90");
  request.set_disassemble(true);
  WriteAttempt(dir_.path(), kKernels, request);
  EXPECT_EQ(Run().exit_status, 0);
  const v1::ProbeResult result = ReadResult(dir_.path());
  EXPECT_EQ(result.outcome(), v1::Outcome::compiled);
  std::vector<std::string> kinds;
  for (const v1::Artifact& artifact : result.artifacts()) {
    kinds.push_back(artifact.kind());
    ASSERT_OK_AND_ASSIGN(const std::string bytes,
                         ReadFile(dir_ / artifact.name()));
    EXPECT_EQ(artifact.size_bytes(), static_cast<int64_t>(bytes.size()));
  }
  EXPECT_EQ(kinds, (std::vector<std::string>{"ttir", "ttgir", "llir", "ptx",
                                             "cubin", "json", "sass"}));
  EXPECT_FALSE(PathExists(dir_ / "compiler.log"));
}

TEST_F(OneShotTest, ACrashLeavesAResultToo) {
  WriteAttempt(dir_.path(), "import os\nos.abort()\n",
               AddRequest("cuda", "sm_90"));
  EXPECT_EQ(Run().exit_status, 0);
  EXPECT_EQ(ReadResult(dir_.path()).outcome(), v1::Outcome::crashed);
}

TEST_F(OneShotTest, TheRequestsOwnTimeLimitHolds) {
  v1::ProbeRequest request = AddRequest("cuda", "sm_90");
  request.mutable_limits()->set_run_s(1);
  WriteAttempt(dir_.path(), "while True: pass\n", request);
  EXPECT_EQ(Run().exit_status, 0);
  EXPECT_EQ(ReadResult(dir_.path()).outcome(), v1::Outcome::timed_out);
}

TEST_F(OneShotTest, TogglesOfTheRequestReachTriton) {
  v1::ProbeRequest request = AddRequest("hip", "gfx942");
  for (v1::KernelArg& arg : *request.mutable_case_()->mutable_args()) {
    if (arg.type() == "*fp32") arg.set_pointer_range(32);
  }
  const auto loads = [&](const char* toggle) {
    (*request.mutable_environment())["AMDGCN_USE_BUFFER_OPS"] = toggle;
    WriteAttempt(dir_.path(), kKernels, request);
    EXPECT_EQ(Run().exit_status, 0);
    EXPECT_EQ(ReadResult(dir_.path()).outcome(), v1::Outcome::compiled);
    return ReadFile(dir_ / "kernel.amdgcn").value();
  };
  EXPECT_NE(loads("1").find("buffer_load_dwordx4"), std::string::npos);
  EXPECT_EQ(loads("0").find("buffer_load"), std::string::npos);
}

TEST_F(OneShotTest, PythonVariablesAndPreloadsHaveNoSay) {
  const std::string folder = dir_ / "evil";
  ASSERT_OK(MakeDirectories(folder));
  for (const char* name : {"sitecustomize.py", "json.py", "triton.py"}) {
    ASSERT_OK(WriteFileAtomic(JoinPath(folder, name),
                              "raise SystemExit('hijacked')\n"));
  }
  WriteAttempt(dir_.path(), kKernels, AddRequest("cuda", "sm_90"));
  EXPECT_EQ(Run({{"PYTHONPATH", folder},
                 {"PYTHONHOME", folder},
                 {"PYTHONSTARTUP", folder + "/json.py"},
                 {"LD_PRELOAD", folder + "/nothing.so"}})
                .exit_status,
            0);
  EXPECT_EQ(ReadResult(dir_.path()).outcome(), v1::Outcome::compiled);
  ASSERT_OK_AND_ASSIGN(const std::string errors, ReadFile(dir_ / "stderr.txt"));
  EXPECT_EQ(errors, "");
}

TEST_F(OneShotTest, ABrokenRequestGivesOneSentence) {
  ASSERT_OK(WriteFileAtomic(dir_ / "request.json", "{\"phase\": "));
  const ProcessResult result = Run();
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.err.find("no readable JSON in"), std::string::npos);
  EXPECT_FALSE(PathExists(dir_ / "result.json"));
}

TEST_F(OneShotTest, ABadLineGivesUsageAndStatus2) {
  EXPECT_EQ(Run({}, {"--zygote"}).exit_status, 2);
  EXPECT_EQ(Run({}, {"--dance"}).exit_status, 2);
  EXPECT_EQ(Run({}, {"--python", "/nowhere/python3"}).exit_status, 2);
  EXPECT_EQ(Run({}, {"--library", "/nowhere"}).exit_status, 2);
}

TEST_F(OneShotTest, AnUnknownPhaseIsSkippedWithTheReason) {
  v1::ProbeRequest request = AddRequest("cuda", "sm_90");
  request.set_phase(v1::Phase::ceiling);
  WriteAttempt(dir_.path(), kKernels, request);
  EXPECT_EQ(Run().exit_status, 0);
  const v1::ProbeResult result = ReadResult(dir_.path());
  EXPECT_EQ(result.outcome(), v1::Outcome::skipped);
  EXPECT_NE(result.failure().message().find("no phase 'ceiling'"),
            std::string::npos);
}

TEST_F(OneShotTest, AnEnvironmentProbeProvesTargetsByCompiling) {
  v1::ProbeRequest request;
  request.set_phase(v1::Phase::env_probe);
  WriteAttempt(dir_.path(), "", request);
  EXPECT_EQ(Run().exit_status, 0);
  const v1::ProbeResult result = ReadResult(dir_.path());
  EXPECT_EQ(result.outcome(), v1::Outcome::completed);
  const std::string& detail = result.detail_json();
  for (const char* part : {"\"triton_version\"", "\"sm_90\"", "\"gfx942\"",
                           "\"gfx936\"", "AMDGCN_USE_BUFFER_OPS.default"}) {
    EXPECT_NE(detail.find(part), std::string::npos) << part;
  }
}

}  // namespace
}  // namespace kernelfleet::testing
