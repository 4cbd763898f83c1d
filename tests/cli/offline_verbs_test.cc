#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/file.h"
#include "common/base/strings.h"
#include "tests/cli/run_cli.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace kernelfleet {
namespace {

using ::testing::HasSubstr;
using testing::RunCli;

// The first words of each line below "Verbs:".
std::vector<std::string> VerbNames() {
  std::vector<std::string> names;
  bool listing = false;
  const ProcessResult help = RunCli({"help"});
  for (const std::string_view line : Split(help.out, '\n')) {
    if (line == "Verbs:") {
      listing = true;
    } else if (listing && line.empty()) {
      break;
    } else if (listing) {
      const std::string_view text = Trim(line);
      names.emplace_back(text.substr(0, text.find(' ')));
    }
  }
  return names;
}

TEST(OfflineVerbsTest, EveryVerbHasHelpWithAnExample) {
  const std::vector<std::string> names = VerbNames();
  EXPECT_GE(names.size(), 18u);
  for (const std::string& name : names) {
    const ProcessResult result = RunCli({name, "--help"});
    EXPECT_EQ(result.exit_status, 0) << name;
    EXPECT_THAT(result.out, HasSubstr("Usage: kernelfleet " + name));
    EXPECT_THAT(result.out, HasSubstr("Examples:\n  kernelfleet " + name))
        << name;
    EXPECT_EQ(result.out, RunCli({"help", name}).out);
  }
}

TEST(OfflineVerbsTest, AMistypedVerbOffersTheNearest) {
  const ProcessResult result = RunCli({"sumbit"});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_EQ(result.err,
            "kernelfleet: unknown verb 'sumbit': did you mean submit?\n");
}

TEST(OfflineVerbsTest, NoWordsShowTheHelp) {
  EXPECT_EQ(RunCli({}).out, RunCli({"help"}).out);
}

TEST(OfflineVerbsTest, BashCompletesVerbsFlagsAndTargets) {
  testing::TempDir dir;
  const ProcessResult script = RunCli({"completion", "bash"});
  ASSERT_EQ(script.exit_status, 0);
  ASSERT_OK(WriteFileAtomic(dir / "complete.bash", script.out));
  const auto complete = [&](const std::string& line, const std::string& words) {
    ProcessOptions options;
    options.argv = {
        "bash", "-c",
        "source " + (dir / "complete.bash") + "; COMP_LINE='" + line +
            "'; COMP_POINT=${#COMP_LINE}; COMP_WORDS=(" + words +
            "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _kernelfleet; echo "
            "\"${COMPREPLY[*]}\""};
    const absl::StatusOr<ProcessResult> result = RunProcess(options);
    return result.ok() ? std::string(Trim(result->out)) : "";
  };
  EXPECT_EQ(complete("kernelfleet sub", "kernelfleet sub"), "submit");
  EXPECT_EQ(complete("kernelfleet submit --ta", "kernelfleet submit --ta"),
            "--target");
  // Bash breaks words at colons, so only what follows the last one is wanted.
  EXPECT_EQ(complete("kernelfleet submit --target hip:gfx94",
                     "kernelfleet submit --target hip : gfx94"),
            "gfx942");
  EXPECT_EQ(complete("kernelfleet report last --format m",
                     "kernelfleet report last --format m"),
            "md");
}

TEST(OfflineVerbsTest, ScanIsaCountsAndNamesUnknownKernels) {
  testing::TempDir dir;
  ASSERT_OK(WriteFileAtomic(dir / "k.ptx",
                            ".version 8.0\n.target sm_90\n.address_size 64\n"
                            ".visible .entry copy()\n{\n"
                            "ld.global.v4.b32 {%r1,%r2,%r3,%r4}, [%rd1];\n"
                            "st.global.b32 [%rd2], %r1;\nret;\n}\n"));
  const ProcessResult json = RunCli({"scan-isa", dir / "k.ptx", "--json"});
  EXPECT_EQ(json.exit_status, 0) << json.err;
  EXPECT_THAT(json.out, HasSubstr("\"symbol\": \"copy\""));
  const ProcessResult wrong =
      RunCli({"scan-isa", dir / "k.ptx", "--kernel", "coyp"});
  EXPECT_EQ(wrong.exit_status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("copy"));
}

TEST(OfflineVerbsTest, ScanIsaOfWhatIsNoMachineCodeIsAFindingNotACrash) {
  testing::TempDir dir;
  ASSERT_OK(WriteFileAtomic(dir / "empty", ""));
  const ProcessResult result = RunCli({"scan-isa", dir / "empty"});
  EXPECT_EQ(result.exit_status, 1);
}

TEST(OfflineVerbsTest, CheckEnvSaysWhatIsThere) {
  const ProcessResult result = RunCli({"check-env", "--json"});
  for (const char* field :
       {"\"platform\"", "\"python\"", "\"triton\"", "\"torch\"", "\"tools\"",
        "\"env\"", "\"warnings\"", "\"nvtriton_installed\"",
        "\"tileir_active\"", "\"recommendation\""}) {
    EXPECT_THAT(result.out, HasSubstr(field));
  }
}

TEST(OfflineVerbsTest, CheckEnvOfNoInterpreterIsAWarning) {
  const ProcessResult result =
      RunCli({"check-env", "--json", "--python", "/nonexistent/python3"});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.out, HasSubstr("no such interpreter"));
}

TEST(OfflineVerbsTest, AServerThatIsNotThereIsStatus3AndSaysWhatToDo) {
  const ProcessResult result = RunCli({"jobs"});
  EXPECT_EQ(result.exit_status, 3);
  EXPECT_THAT(result.err, HasSubstr("kernelfleet dev"));
}

}  // namespace
}  // namespace kernelfleet
