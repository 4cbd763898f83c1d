// Bad input through the real binary: one sentence, exit status 2, no server
// asked. The server named to it does not exist, so any attempt to reach one
// would end with status 3.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "common/base/file.h"
#include "tests/cli/run_cli.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace kernelfleet {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::RunCli;

constexpr char kCopy[] = R"(import triton
import triton.language as tl


@triton.jit
def copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)
)";
const std::vector<std::string> kCopyFlags = {
    "--arg", "x_ptr=*fp16:16", "--arg",   "y_ptr=*fp16:16",
    "--arg", "n=i32",          "--const", "BLOCK=256"};

class BadInputTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    EXPECT_OK(WriteFileAtomic(dir_ / name, text));
    return dir_ / name;
  }
  // Submits and expects one sentence with status 2.
  void ExpectRefused(std::vector<std::string> args, const std::string& says) {
    args.insert(args.begin(), "submit");
    const ProcessResult result = RunCli(args);
    EXPECT_EQ(result.exit_status, 2) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(says));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1)
        << result.err;
    EXPECT_THAT(result.err, Not(HasSubstr("\x1b")));
    EXPECT_LT(result.err.size(), 700u);
  }
  std::vector<std::string> With(std::vector<std::string> more) {
    std::vector<std::string> args = {Write("copy.py", kCopy)};
    args.insert(args.end(), kCopyFlags.begin(), kCopyFlags.end());
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }

  testing::TempDir dir_;
};

TEST_F(BadInputTest, GoodInputReachesForTheServer) {
  std::vector<std::string> args = With({});
  args.insert(args.begin(), "submit");
  const ProcessResult result = RunCli(args);
  EXPECT_EQ(result.exit_status, 3) << result.err;
  EXPECT_THAT(result.err, HasSubstr("127.0.0.1:1"));
}

TEST_F(BadInputTest, AMissingFile) {
  ExpectRefused({dir_ / "no.py"}, "no such file or folder");
}

TEST_F(BadInputTest, AFileThatIsNotPython) {
  ExpectRefused({Write("k.py", "def (:\n")}, "k.py:1:");
}

TEST_F(BadInputTest, ASyntaxErrorInAKernelHasLineAndColumn) {
  ExpectRefused({Write("k.py", std::string(kCopy) + "    x = = 1\n")},
                "k.py:9:");
}

TEST_F(BadInputTest, AFileWithoutKernel) {
  ExpectRefused({Write("k.py", "print('hello')\n")}, "no @triton.jit function");
}

TEST_F(BadInputTest, AnUnknownKernelNameOffersTheNearest) {
  ExpectRefused(With({"--kernel", "cpoy"}), "did you mean copy?");
}

TEST_F(BadInputTest, AnUnknownKernelNameListsWhatThereIs) {
  ExpectRefused(With({"--kernel", "attention"}), "it has copy");
}

TEST_F(BadInputTest, AnImpossibleType) {
  ExpectRefused(With({"--arg", "n=float17"}), "impossible type 'float17'");
}

TEST_F(BadInputTest, APointerGivenAsANumber) {
  ExpectRefused(With({"--arg", "x_ptr=fp16"}), "did you mean *fp16?");
}

TEST_F(BadInputTest, AnUnknownTarget) {
  ExpectRefused(With({"--target", "cuda:sm100"}), "did you mean cuda:sm_100?");
}

TEST_F(BadInputTest, AnArgumentThatTheKernelLacks) {
  ExpectRefused(With({"--arg", "x_prt=*fp16"}), "did you mean x_ptr?");
}

TEST_F(BadInputTest, AHundredMegabytes) {
  const std::string path = dir_ / "big.py";
  std::ofstream(path).close();
  ASSERT_EQ(::truncate(path.c_str(), 100 << 20), 0);
  ExpectRefused({path}, "larger than 8 MiB");
}

TEST_F(BadInputTest, ABinary) {
  ExpectRefused({Write("k.py", std::string("\x7f"
                                           "ELF\0\0\0",
                                           7))},
                "not Python text");
}

TEST_F(BadInputTest, AFolderInsteadOfACaseFile) {
  ExpectRefused(With({"--case", dir_.path()}), "");
}

TEST_F(BadInputTest, AFileNameWithANewline) {
  ExpectRefused({Write("a\nb.py", kCopy)}, "control characters");
}

TEST_F(BadInputTest, AFileNameWithEscapeCodes) {
  ExpectRefused({Write("a\x1b[31mb.py", kCopy)}, "control characters");
}

TEST_F(BadInputTest, AKernelNameWithEscapeCodes) {
  ExpectRefused(With({"--kernel", "copy\x1b[2J"}), "\\x1b[2J");
}

TEST_F(BadInputTest, ALabelWithANewline) {
  ExpectRefused(With({"--label", "a=b\nc"}), "control characters");
}

TEST_F(BadInputTest, AnUnknownWorkflow) {
  ExpectRefused(With({"--workflow", "optimise"}), "unknown workflow");
}

TEST_F(BadInputTest, AnUnknownFlag) {
  ExpectRefused({"--tagret", "cuda:sm_90"}, "did you mean --target?");
}

TEST_F(BadInputTest, ACaseFileWithAnErrorIsPlacedInIt) {
  Write("copy.case.toml", "[args]\nx_ptr = \"*fp17\"\n");
  ExpectRefused({Write("copy.py", kCopy)}, "copy.case.toml:2:9: impossible");
}

TEST_F(BadInputTest, ACaseFileThatIsNoToml) {
  Write("copy.case.toml", "[args\nx = 1\n");
  ExpectRefused({Write("copy.py", kCopy)}, "copy.case.toml:1:");
}

TEST_F(BadInputTest, AnEmptyFolder) {
  ASSERT_OK(MakeDirectories(dir_ / "empty"));
  ExpectRefused({dir_ / "empty"}, "no Python file");
}

TEST_F(BadInputTest, ABatchOfNothingButBadFilesSaysTheFirstReason) {
  Write("a.py", "print(1)\n");
  Write("b.py", "print(2)\n");
  ExpectRefused({dir_.path()}, "(and 1 more)");
}

TEST_F(BadInputTest, AServerThatIsNoAddress) {
  ExpectRefused(With({"--server", "nowhere:99999"}), "");
}

TEST_F(BadInputTest, APlaintextServerBeyondLoopbackMustBeAskedFor) {
  ExpectRefused(With({"--server", "192.0.2.1:7411"}), "--insecure-plaintext");
}

}  // namespace
}  // namespace kernelfleet
