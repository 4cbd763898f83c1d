// What we write, read by NVIDIA's own disassembler: every operation, in every
// bytecode version.
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>

#include "common/base/file.h"
#include "common/base/status.h"
#include "common/base/subprocess.h"
#include "common/tileir/lower.h"
#include "common/tileir/tile_ops.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/common/tileir/fixtures.h"
#include "tests/support/temp_dir.h"

namespace kernelfleet::tileir {
namespace {

std::string Disassembler() {
  const char* venv = std::getenv("KERNELFLEET_TILEIR_BIN");
  if (venv != nullptr) return JoinPath(venv, "tileirdisasm");
  return FindProgram("tileirdisasm").value_or("");
}

// How often each operation stands in the text of either printer. Terminators
// without operands are left out by theirs.
std::map<std::string, int> Operations(const std::string& text) {
  std::map<std::string, int> counts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t equals = line.find(" = ");
    std::istringstream words(
        equals == std::string::npos ? line : line.substr(equals + 3));
    std::string word;
    words >> word;
    if (word == "fpowf") word = "pow";  // Renamed in 13.4.
    for (size_t i = 0; i < kCodeCount; ++i) {
      const OpRow& row = RowOf(static_cast<Code>(i));
      const bool terminator =
          row.code == Code::kReturn || row.code == Code::kYield ||
          row.code == Code::kContinue || row.code == Code::kBreak;
      if (word == row.name && !terminator) ++counts[word];
    }
  }
  return counts;
}

class RoundTrip : public ::testing::TestWithParam<int> {};

TEST_P(RoundTrip, TheDisassemblerSeesTheOperationsThatWePrint) {
  const std::string program = Disassembler();
  if (program.empty()) {
    GTEST_SKIP() << "tileirdisasm is not installed (nvidia-cuda-tileiras)";
  }
  kernelfleet::testing::TempDir folder;
  const std::string file = folder / "kernel.tileirbc";
  int compared = 0;
  for (const char* version : {"3.4", "3.9"}) {
    for (const std::string& name : GoldenKernels(version)) {
      LowerOptions options;
      options.version_minor = GetParam();
      options.arch = "sm_90";
      options.num_worker_warps = 8;
      options.occupancy = 2;
      const auto kernel = Lower(Golden(name), options);
      ASSERT_TRUE(kernel.ok()) << Text(kernel.status());
      if (kernel->unsupported_size() > 0) {
        EXPECT_LT(GetParam(), 3) << name << kernel->DebugString();
        continue;
      }
      ASSERT_TRUE(WriteFileAtomic(file, kernel->bytecode()).ok());
      ProcessOptions process;
      process.argv = {program, file};
      const auto result = RunProcess(process);
      ASSERT_TRUE(result.ok()) << Text(result.status());
      ASSERT_TRUE(result->ok()) << name << ": " << result->err;
      EXPECT_EQ(Operations(result->out), Operations(kernel->text())) << name;
      ++compared;
    }
  }
  EXPECT_GT(compared, 20);
}

INSTANTIATE_TEST_SUITE_P(Minor, RoundTrip, ::testing::Values(2, 3, 4, 5));

}  // namespace
}  // namespace kernelfleet::tileir
