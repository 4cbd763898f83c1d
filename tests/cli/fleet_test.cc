// The command line against a real coordinator, agent and runner on this
// machine, started by `kernelfleet dev`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <optional>

#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/strings.h"
#include "tests/cli/run_cli.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace kernelfleet {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr absl::Duration kStart = absl::Seconds(60);

// One fleet for all tests: they only add jobs.
class FleetTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    dir_ = new testing::TempDir;
    const char* venv = std::getenv("KERNELFLEET_VENV");
    ProcessOptions options;
    options.argv = {JoinPath(testing::BinDir(), "kernelfleet"),
                    "dev",
                    "--listen",
                    "127.0.0.1:0",
                    "--data-dir",
                    *dir_ / "data",
                    "--address-file",
                    *dir_ / "address",
                    "--python",
                    JoinPath(venv, "bin/python3")};
    auto started = Process::Start(options, {});
    ASSERT_OK(started);
    dev_ = new std::optional<Process>(*std::move(started));
    const absl::Duration deadline = RealClock().Steady() + kStart;
    while (!PathExists(*dir_ / "address") && RealClock().Steady() < deadline &&
           !(*dev_)->Wait(absl::Milliseconds(20))) {
    }
    ASSERT_OK_AND_ASSIGN(const std::string text,
                         ReadFile(*dir_ / "address", 100));
    address_ = new std::string(Trim(text));
  }
  static void TearDownTestSuite() {
    (*dev_)->Signal(SIGINT);
    const auto ended = (*dev_)->Wait(absl::Seconds(45));
    ASSERT_TRUE(ended) << "dev did not stop on Ctrl-C";
    EXPECT_EQ(ended->exit_status, 0);
    delete dev_;
    delete address_;
    delete dir_;
  }
  static ProcessResult Cli(std::vector<std::string> args) {
    return testing::RunCli(std::move(args),
                           {{"KERNELFLEET_SERVER", *address_}});
  }
  static std::string Example(const std::string& name) {
    return JoinPath(testing::SourceDir(), "examples/" + name);
  }
  static std::string Write(const std::string& name, const std::string& text) {
    EXPECT_OK(WriteFileAtomic(*dir_ / name, text));
    return *dir_ / name;
  }

  static testing::TempDir* dir_;
  static std::optional<Process>* dev_;
  static std::string* address_;
};
testing::TempDir* FleetTest::dir_ = nullptr;
std::optional<Process>* FleetTest::dev_ = nullptr;
std::string* FleetTest::address_ = nullptr;

TEST_F(FleetTest, EveryExampleCompilesForEveryDefaultTarget) {
  const ProcessResult submit = Cli({"submit", Example("")});
  EXPECT_EQ(submit.exit_status, 0) << submit.out << submit.err;
  EXPECT_THAT(submit.out, HasSubstr("28/28 done"));
  const ProcessResult report = Cli({"report", "last", "--format", "md"});
  EXPECT_THAT(report.out, HasSubstr("7 of 7 kernels compile for every target"));
  EXPECT_THAT(report.out, HasSubstr("× mfma"));
  EXPECT_THAT(report.out, HasSubstr("× wgmma"));
  EXPECT_THAT(report.out, HasSubstr("× tcgen05"));
  EXPECT_THAT(report.out,
              HasSubstr("Buffer ops turn 2 loads and 1 store into buffer "
                        "instructions on hip:gfx942; none stays global"));
}

TEST_F(FleetTest, TheSameContentIsTheSameJob) {
  const std::vector<std::string> args = {"submit",   Example("vector_add.py"),
                                         "--target", "cuda:sm_80",
                                         "--detach", "--json"};
  const ProcessResult first = Cli(args);
  const ProcessResult second = Cli(args);
  EXPECT_THAT(first.out, HasSubstr("\"created\": true"));
  EXPECT_THAT(second.out, HasSubstr("\"created\": false"));
  EXPECT_EQ(first.out.substr(0, 27), second.out.substr(0, 27));
  EXPECT_EQ(Cli({"watch", "last"}).exit_status, 0);
}

TEST_F(FleetTest, AFindingIsStatus1AndQuotesTheUsersLine) {
  const std::string path = Write("bad.py", R"(import triton
import triton.language as tl


@triton.jit
def bad(x_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x_ptr + i, undefined_name)
)");
  const ProcessResult submit =
      Cli({"submit", path, "--arg", "x_ptr=*fp32", "--const", "BLOCK=64",
           "--target", "cuda:sm_90"});
  EXPECT_EQ(submit.exit_status, 1) << submit.err;
  const ProcessResult report = Cli({"report", "last"});
  EXPECT_EQ(report.exit_status, 1);
  EXPECT_THAT(report.out, HasSubstr("bad.py:8:"));
  EXPECT_THAT(report.out, HasSubstr("tl.store(x_ptr + i, undefined_name)"));
  EXPECT_THAT(Cli({"why", "last"}).out, HasSubstr("undefined_name"));
}

TEST_F(FleetTest, ArtifactsAreListedAndFetched) {
  ASSERT_EQ(Cli({"submit", Example("softmax.py"), "--target", "hip:gfx942"})
                .exit_status,
            0);
  EXPECT_THAT(Cli({"artifacts", "last"}).out,
              HasSubstr("softmax/hip:gfx942/buffer_ops=1/kernel.amdgcn"));
  const ProcessResult text = Cli({"get", "last/buffer_ops=1/kernel.amdgcn"});
  EXPECT_THAT(text.out, HasSubstr("s_endpgm"));
  EXPECT_EQ(Cli({"get", "last/nothing"}).exit_status, 2);
  const ProcessResult scan = testing::RunCli(
      {"scan-isa", Write("softmax.amdgcn", text.out), "--json"});
  EXPECT_THAT(scan.out, HasSubstr("\"symbol\": \"softmax\""));
}

TEST_F(FleetTest, ATargetThatNobodyCompilesWaitsWithItsReason) {
  const ProcessResult submit = Cli({"submit", Example("vector_add.py"),
                                    "--target", "hcu:gfx938", "--detach"});
  ASSERT_EQ(submit.exit_status, 0) << submit.err;
  const std::string job(Trim(submit.out));
  EXPECT_THAT(Cli({"why", job.substr(0, 8)}).out, HasSubstr("hcu:gfx938"));
  EXPECT_THAT(Cli({"cancel", job}).out, HasSubstr("2 tasks cancelled"));
  EXPECT_EQ(Cli({"watch", job}).exit_status, 1);
  // A cancelled job is not in the way of the same content.
  EXPECT_NE(Trim(Cli({"submit", Example("vector_add.py"), "--target",
                      "hcu:gfx938", "--detach"})
                     .out),
            job);
}

TEST_F(FleetTest, HistoryAnswersSqlAndNothingElse) {
  const ProcessResult csv =
      Cli({"query", "SELECT 1 AS one, 'a,b' AS two", "--format", "csv"});
  EXPECT_EQ(csv.out, "one,two\r\n1,\"a,b\"\r\n");
  const ProcessResult json =
      Cli({"query", "--sql", "SELECT 1 AS one", "--format", "json"});
  EXPECT_THAT(json.out, HasSubstr("\"one\": 1"));
  EXPECT_EQ(Cli({"query", "DELETE FROM jobs"}).exit_status, 2);
}

TEST_F(FleetTest, NodesAreListedCordonedAndBack) {
  const ProcessResult nodes = Cli({"nodes"});
  EXPECT_THAT(nodes.out, HasSubstr("online"));
  EXPECT_THAT(nodes.out, HasSubstr("hip:gfx942"));
  EXPECT_EQ(Cli({"nodes", "cordon", "nobody"}).exit_status, 2);
  EXPECT_EQ(Cli({"nodes", "cordn", "nobody"}).exit_status, 2);
}

TEST_F(FleetTest, JobsAreFiltered) {
  ASSERT_EQ(Cli({"submit", Example("vector_add.py"), "--target", "cuda:sm_90",
                 "--label", "suite=filters"})
                .exit_status,
            0);
  EXPECT_THAT(Cli({"jobs", "--label", "suite=filters"}).out,
              HasSubstr("vector_add"));
  EXPECT_EQ(Cli({"jobs", "--label", "suite=none"}).out, "No job matches.\n");
  EXPECT_THAT(Cli({"jobs", "--limit", "1"}).out, HasSubstr("More: --page"));
}

TEST_F(FleetTest, AnUnknownJobIsStatus2) {
  const ProcessResult result = Cli({"report", "nosuchjob"});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_THAT(result.err, HasSubstr("nosuchjob"));
}

TEST_F(FleetTest, OutputThatIsNoTerminalHasNoEscapeCodes) {
  for (const std::string verb : {"report", "show", "why", "artifacts"}) {
    EXPECT_THAT(Cli({verb, "last"}).out, Not(HasSubstr("\x1b"))) << verb;
  }
}

}  // namespace
}  // namespace kernelfleet
