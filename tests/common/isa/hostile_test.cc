// Input that is no honest machine code: a sentence, never a crash.
#include <gtest/gtest.h>

#include <string>

#include "common/base/random.h"
#include "common/isa/scan.h"
#include "tests/support/golden.h"

namespace kernelfleet::isa {
namespace {

std::string ProblemOf(std::string_view text) {
  const v1::IsaReport report = Scan("file", text);
  EXPECT_EQ(report.problems_size(), 1) << report.ShortDebugString();
  return report.problems_size() == 0 ? "" : report.problems(0);
}

TEST(HostileTest, EmptyText) {
  EXPECT_EQ(ProblemOf(""), "the file is empty");
  EXPECT_EQ(ProblemOf(" \n\t\r\n"), "the file is empty");
}

TEST(HostileTest, ObjectFilesAndOtherBinaries) {
  EXPECT_EQ(ProblemOf(std::string("\x7f"
                                  "ELF\x02\x01\0",
                                  7)),
            "this is an object file, not its text: disassemble it first "
            "(cuobjdump -sass, nvdisasm, llvm-objdump -d)");
  EXPECT_EQ(ProblemOf(std::string("PK\3\4\0\0", 6)),
            "the file is binary: expected PTX, SASS or AMD assembly as text");
}

TEST(HostileTest, OtherLanguages) {
  EXPECT_EQ(ProblemOf("#include <stdio.h>\nint main() { return 0; }\n"),
            "this is neither PTX, SASS nor AMD assembly: nothing counted");
  EXPECT_EQ(ProblemOf("#loc = loc(unknown)\nmodule {\n  tt.func @k() {\n"),
            "this is MLIR, not machine code: nothing counted");
}

TEST(HostileTest, AHeaderWithoutAKernel) {
  EXPECT_EQ(ProblemOf(".version 8.7\n.target sm_90\n.address_size 64\n"),
            "the text holds no kernel");
  EXPECT_EQ(ProblemOf("\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n"),
            "the text holds no kernel");
}

TEST(HostileTest, ATextCutOffInsideAKernelSaysSo) {
  for (const char* name :
       {"isa/inputs/add.sm_90.ptx", "isa/inputs/add.gfx942.amdgcn",
        "isa/inputs/scatter_bf16.sm_80.cuobjdump",
        "isa/inputs/scatter_bf16.gfx90a.objdump",
        "isa/inputs/softmax.sm_90.nvdisasm"}) {
    const std::string text = testing::ReadGolden(name);
    size_t cut = text.find("softmax") == text.npos ? 1200 : 9000;
    if (std::string_view(name).ends_with("ptx")) cut = 1400;
    const std::string problem = ProblemOf(text.substr(0, cut));
    EXPECT_TRUE(problem.starts_with("the text ends inside '")) << name;
  }
}

TEST(HostileTest, ATextCutOffInsideTheMetadataSaysSo) {
  const std::string text = testing::ReadGolden("isa/inputs/add.gfx942.amdgcn");
  EXPECT_EQ(ProblemOf(text.substr(0, text.find(".max_flat_workgroup"))),
            "the text ends inside the metadata");
}

TEST(HostileTest, EveryPrefixOfRealTextIsRead) {
  for (const char* name :
       {"isa/inputs/add.sm_90.ptx", "isa/inputs/add.gfx942.amdgcn",
        "isa/inputs/scatter_bf16.sm_80.nvdisasm"}) {
    const std::string text = testing::ReadGolden(name);
    for (size_t size = 0; size < text.size(); size += 7) {
      // A heap copy of that size, so that the sanitizer sees reads past it.
      const std::string part(text, 0, size);
      (void)Scan("prefix", part);
    }
  }
}

TEST(HostileTest, NamesNeverReachATerminalRaw) {
  const v1::IsaReport report =
      Scan("a\x1b[31m", "\t.amdhsa_kernel x\nk\x80\xff:\n\ts_endpgm\n");
  EXPECT_EQ(report.file(), "a\\x1b[31m");
  const std::string text = ToText(report);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\xff'), std::string::npos);
}

TEST(HostileTest, RandomLinesOfRealTextInAnyOrder) {
  std::string all;
  for (const char* name :
       {"isa/inputs/matmul_tma.sm_100.ptx", "isa/inputs/lock.gfx1201.amdgcn",
        "isa/inputs/scatter_bf16.sm_80.cuobjdump"}) {
    all += testing::ReadGolden(name);
  }
  SeededRandom random(3);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    while (text.size() < 4000) {
      const size_t at = random.Next() % all.size();
      text += all.substr(at, random.Next() % 200);
    }
    (void)Scan("mixed", text);
  }
}

TEST(HostileTest, ABranchOutOfTheTextIsNoted) {
  const v1::IsaReport report =
      Scan("lost",
           "\t.amdgcn_target \"gfx942\"\nk:\n\ts_cbranch_scc1 .LBB0_9\n"
           "\ts_endpgm\n.Lfunc_end0:\n");
  ASSERT_EQ(report.kernels_size(), 1);
  ASSERT_EQ(report.kernels(0).notes_size(), 1);
  EXPECT_EQ(report.kernels(0).notes(0),
            "1 branches go to places that the text does not hold: loops may "
            "be missed");
}

// Megabytes of what would take a quadratic reader hours.
TEST(HostileTest, WorstCasesAreLinear) {
  constexpr int kLines = 200'000;
  std::string ptx =
      ".version 8.7\n.target sm_90\n.address_size 64\n"
      ".visible .entry k()\n{\n";
  std::string amd = "\t.amdgcn_target \"gfx942\"\nk:\n";
  std::string sass = "\tcode for sm_90\n\t\tFunction : k\n";
  for (int i = 0; i < kLines; ++i) {
    const std::string n = std::to_string(i);
    const std::string m = std::to_string(kLines - 1 - i);
    ptx += "$L" + n + ":\n @%p1 bra $L" + m + ";\n ld.global.b" + n + " x;\n";
    amd += ".LBB0_" + n + ":\n s_cbranch_scc1 .LBB0_" + m + "\n buffer_load_" +
           n + " v0, off, s[0:3], 0\n";
    sass += "/*" + std::to_string(i) + "*/ @P0 BRA 0x" + m + " ;\n";
  }
  EXPECT_EQ(Scan("ptx", ptx).kernels_size(), 1);
  EXPECT_EQ(Scan("amd", amd).kernels_size(), 1);
  EXPECT_EQ(Scan("sass", sass).kernels_size(), 1);
  EXPECT_EQ(Scan("quotes",
                 ".version 1\n.address_size 64\n" + std::string(5'000'000, '{'))
                .kernels_size(),
            0);
  (void)Scan("one line", "s_mov_b32 " + std::string(5'000'000, ','));
  std::string many = "\t.amdgcn_target \"gfx942\"\n";
  for (int i = 0; i < 20'000; ++i) {
    many += "k" + std::to_string(i) + ":\n s_endpgm\n";
  }
  EXPECT_EQ(Scan("many", many).kernels_size(), 20'000);
}

}  // namespace
}  // namespace kernelfleet::isa
