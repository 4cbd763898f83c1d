// The proof that a target runs, with a meter that does as the test says.
#include "agent/run_proof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "common/base/file.h"
#include "common/base/status.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace kernelfleet::agent {
namespace {

using ::testing::HasSubstr;

class RunProofTest : public ::testing::Test {
 protected:
  std::string Script(const std::string& name, const std::string& body) {
    const std::string path = folder_ / name;
    EXPECT_OK(WriteFileAtomic(path, "#!/bin/sh\n" + body + "\n"));
    ::chmod(path.c_str(), 0700);
    return path;
  }
  absl::Status Prove(const std::string& meter) {
    const char* source = std::getenv("KERNELFLEET_SOURCE_DIR");
    RunnerOptions options;
    options.program = Script(
        "runner",
        "exec /usr/bin/python3 '" +
            JoinPath(source ? source : ".", "tests/agent/fake_runner.py") +
            "' \"$@\"");
    ProcessRunner runner(options);
    RunProof proof;
    proof.python = "/usr/bin/python3";
    proof.target.set_backend("cuda");
    proof.target.set_arch("sm_90");
    proof.gpu.set_vendor("nvidia");
    proof.gpu.set_uuid("GPU-1");
    proof.meter = meter;
    proof.directory = folder_ / "proof";
    return ProveRuns(proof, runner);
  }

  testing::TempDir folder_;
};

TEST_F(RunProofTest, AnExactCopyIsTheProof) {
  EXPECT_OK(Prove(Script("meter",
                         "grep -q '\"entry\": \"copy\"' plan.json || exit 9\n"
                         "[ \"$CUDA_VISIBLE_DEVICES\" = GPU-1 ] || exit 8\n"
                         "cp source.bin copy.sink")));
  EXPECT_FALSE(PathExists(folder_ / "proof"));
}

TEST_F(RunProofTest, WrongNumbersAreNoProof) {
  EXPECT_THAT(
      Text(Prove(Script("meter", "head -c 4096 /dev/zero > copy.sink"))),
      HasSubstr("wrong numbers"));
}

TEST_F(RunProofTest, AFailureIsToldInTheMetersWords) {
  EXPECT_THAT(Text(Prove(Script("meter", "echo 'no driver here' >&2; exit 1"))),
              HasSubstr("no driver here"));
  EXPECT_THAT(Text(Prove(Script("meter", "kill -SEGV $$"))),
              HasSubstr("signal 11"));
}

TEST_F(RunProofTest, WithoutAMeterNothingIsProved) {
  EXPECT_THAT(Text(Prove(folder_ / "no-meter")), HasSubstr("not proved"));
}

}  // namespace
}  // namespace kernelfleet::agent
