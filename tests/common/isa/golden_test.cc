// Real machine code (tests/golden/isa/make_inputs.py) against stored reports,
// and the reports against counts made another way: by looking for words.
#include "tests/support/golden.h"

#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/common/isa/counts.h"

namespace kernelfleet::isa {
namespace {

std::string Input(const std::string& name) {
  return testing::ReadGolden("isa/inputs/" + name);
}

class GoldenTest : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenTest, TheReportIsTheStoredOne) {
  const std::string name = GetParam();
  std::string json;
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  const v1::IsaReport report = Scan(name, Input(name));
  ASSERT_TRUE(MessageToJsonString(report, &json, options).ok());
  testing::ExpectGolden(json, "isa/expected/" + name + ".json");
  EXPECT_EQ(report.problems_size(), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Inputs, GoldenTest,
    ::testing::Values(
        "add.gfx942.amdgcn", "add.sm_90.ptx", "bytes.gfx942.amdgcn",
        "half.gfx1201.amdgcn", "lock.gfx1201.amdgcn", "matmul.gfx950.amdgcn",
        "matmul.sm_120.nvdisasm", "matmul.sm_90.ptx",
        "matmul_spill.gfx90a.amdgcn", "matmul_spill.gfx942.amdgcn",
        "matmul_tight.sm_80.nvdisasm", "matmul_tma.gfx1250.amdgcn",
        "matmul_tma.sm_100.nvdisasm", "matmul_tma.sm_100.ptx",
        "scatter_bf16.gfx90a.amdgcn", "scatter_bf16.gfx90a.objdump",
        "scatter_bf16.sm_80.cuobjdump", "scatter_bf16.sm_80.nvdisasm",
        "scatter_bf16.sm_80.ptx", "scatter_f32.gfx942.amdgcn",
        "scatter_f64.gfx90a.amdgcn", "softmax.gfx1201.amdgcn",
        "softmax.sm_90.nvdisasm"));

// The lines whose instruction matches `pattern`, without comments; between
// the label and the last branch to it when a label is given. That is the loop
// wherever the compiler laid it out in one piece, as in these files.
int Grep(const std::string& text, const std::string& pattern,
         const std::string& label = "") {
  const std::regex wanted(R"(^\s*(/\*[0-9a-f]+\*/\s*)?(@!?U?%?\w+\s+)?()" +
                          pattern + R"()([\s;]|$))");
  std::vector<std::string> lines;
  std::istringstream in(text);
  size_t first = 0, last = 0;
  for (std::string line; std::getline(in, line);) {
    const size_t comment = std::min(line.find(';'), line.find("//"));
    const std::string code = line.substr(0, comment);
    if (!label.empty() && line.rfind(label + ":", 0) == 0) {
      first = lines.size();
    } else if (!label.empty() &&
               std::regex_search(
                   code, std::regex("bra.*\\b" + label.substr(1) + "\\b",
                                    std::regex::icase))) {
      last = lines.size();
    }
    lines.push_back(line);
  }
  if (label.empty()) last = lines.size() - 1;
  int count = 0;
  for (size_t i = first; i <= last && i < lines.size(); ++i) {
    count += std::regex_search(lines[i], wanted) ? 1 : 0;
  }
  return count;
}

struct MemoryCheck {
  const char* file;
  const char* pattern;
  const char* loop;
  const char* space;
  const char* direction;
  int bytes;
};

TEST(GoldenCountsTest, MemoryCountsAreTheWordsInTheText) {
  constexpr MemoryCheck kChecks[] = {
      {"add.gfx942.amdgcn", "buffer_load_dwordx4", "", "buffer", "load", 16},
      {"add.sm_90.ptx", "ld.global.v4.b32", "", "global", "load", 16},
      {"add.sm_90.ptx", "ld.param.b64", "", "kernarg", "load", 8},
      {"bytes.gfx942.amdgcn", "buffer_load_[su]byte", "", "buffer", "load", 1},
      {"half.gfx1201.amdgcn", "global_load_d16(_hi)?_b16", "", "global", "load",
       2},
      {"matmul.gfx950.amdgcn", "ds_read_b64_tr_b16", "", "shared", "load", 8},
      {"matmul_spill.gfx90a.amdgcn", "buffer_load_dwordx4", ".LBB0_2", "buffer",
       "load", 16},
      {"matmul_spill.gfx90a.amdgcn", "ds_read_u16", ".LBB0_2", "shared", "load",
       2},
      {"matmul_spill.gfx90a.amdgcn", "ds_read2st64_b64", ".LBB0_2", "shared",
       "load", 16},
      {"matmul_spill.gfx90a.amdgcn", "buffer_store_dwordx2", "", "buffer",
       "store", 8},
      {"matmul_spill.gfx942.amdgcn", "scratch_load_dwordx4", "", "scratch",
       "load", 16},
      {"matmul_tight.sm_80.nvdisasm", "LDL(.LU)?", "", "local", "load", 4},
      {"matmul_tight.sm_80.nvdisasm", "LDGSTS.E.BYPASS.*128", ".L_x_1",
       "global", "async_copy", 16},
      {"matmul_tma.sm_100.nvdisasm", "STS.128", "", "shared", "store", 16},
      {"matmul_tma.sm_100.ptx", "st.shared.v4.b32", "", "shared", "store", 16},
      {"scatter_bf16.gfx90a.amdgcn", "global_atomic_cmpswap", "", "global",
       "atomic", 4},
      {"scatter_f64.gfx90a.amdgcn", "global_atomic_cmpswap_x2", "", "global",
       "atomic", 8},
      {"scatter_f32.gfx942.amdgcn", "buffer_atomic_add_f32", "", "buffer",
       "atomic", 4},
      {"softmax.gfx1201.amdgcn", "buffer_load_b128", "", "buffer", "load", 16},
      {"softmax.sm_90.nvdisasm", "LDG.E.128", "", "global", "load", 16},
      {"softmax.sm_90.nvdisasm", "LDC.64|ULDC.64", "", "kernarg", "load", 8},
  };
  for (const MemoryCheck& check : kChecks) {
    const std::string text = Input(check.file);
    const Counted counted =
        Memory(Only(text), check.space, check.direction, check.bytes);
    EXPECT_GT(counted.all, 0) << check.file << " " << check.pattern;
    EXPECT_EQ(counted.all, Grep(text, check.pattern))
        << check.file << " " << check.pattern;
    if (*check.loop == '\0') continue;
    EXPECT_EQ(counted.in_loops, Grep(text, check.pattern, check.loop))
        << check.file << " " << check.pattern;
    EXPECT_GT(counted.in_loops, 0) << check.file << " " << check.pattern;
  }
}

struct FamilyCheck {
  const char* file;
  const char* pattern;
  const char* loop;
  const char* family;
};

TEST(GoldenCountsTest, FamilyCountsAreTheWordsInTheText) {
  constexpr FamilyCheck kChecks[] = {
      {"matmul_spill.gfx90a.amdgcn", "v_mfma_\\w+", ".LBB0_2", "mfma"},
      {"matmul_spill.gfx90a.amdgcn", "v_accvgpr_\\w+", "", "acc_move"},
      {"matmul.gfx950.amdgcn", "s_waitcnt", "", "wait"},
      {"matmul_tma.gfx1250.amdgcn", "v_wmma_\\w+", "", "wmma"},
      {"matmul_tma.gfx1250.amdgcn", "tensor_load_to_lds", "", "tensor_load"},
      {"matmul_tma.gfx1250.amdgcn", "s_barrier_wait", "", "barrier"},
      {"lock.gfx1201.amdgcn", "s_wait_(?!alu)\\w+", "", "wait"},
      {"matmul.sm_120.nvdisasm", "HMMA\\S+", "", "hmma"},
      {"matmul_tight.sm_80.nvdisasm", "HMMA\\S+", ".L_x_1", "hmma"},
      {"matmul.sm_90.ptx", "wgmma.mma_async\\S+", "$L__BB0_2", "wgmma"},
      {"matmul_tma.sm_100.nvdisasm", "UTCHMMA", "", "tcgen05"},
      {"matmul_tma.sm_100.ptx", "tcgen05.mma\\S+", "", "tcgen05"},
      {"matmul_tma.sm_100.nvdisasm", "UTMALDG\\S+", "", "tma_load"},
      {"matmul_tma.sm_100.ptx", "cp.async.bulk.tensor\\S+mbarrier\\S+", "",
       "tma_load"},
      {"matmul_tma.sm_100.nvdisasm", "UTMASTG\\S+", "", "tma_store"},
      {"scatter_bf16.sm_80.nvdisasm", "ATOMG.E.CAS\\S*", "", "compare_swap"},
      {"softmax.sm_90.nvdisasm", "SHFL\\S+", "", "lane_exchange"},
      {"softmax.gfx1201.amdgcn", "v_\\w+_dpp|v_permlane\\w+|v_readlane\\w+", "",
       "lane_exchange"},
  };
  for (const FamilyCheck& check : kChecks) {
    const std::string text = Input(check.file);
    const Counted counted = Family(Only(text), check.family);
    EXPECT_GT(counted.all, 0) << check.file << " " << check.pattern;
    EXPECT_EQ(counted.all, Grep(text, check.pattern))
        << check.file << " " << check.pattern;
    if (*check.loop == '\0') continue;
    EXPECT_EQ(counted.in_loops, Grep(text, check.pattern, check.loop))
        << check.file << " " << check.pattern;
  }
}

int Occurrences(const std::string& text, const std::string& words) {
  int count = 0;
  for (size_t at = text.find(words); at != text.npos;
       at = text.find(words, at + 1)) {
    ++count;
  }
  return count;
}

TEST(GoldenCountsTest, FoldedSpillsAreAllSpillsAndNothingElse) {
  for (const char* file :
       {"matmul_spill.gfx90a.amdgcn", "matmul_spill.gfx942.amdgcn"}) {
    const std::string text = Input(file);
    const v1::IsaKernel kernel = Only(text);
    EXPECT_EQ(kernel.summary().spill_ops(), Occurrences(text, "Folded "));
    EXPECT_GT(kernel.summary().spill_ops(), 0);
  }
}

TEST(GoldenCountsTest, SpillsAreFoundWithoutTheCompilersComments) {
  // What a disassembler would print: the same lines, no comments.
  const std::string text = Input("matmul_spill.gfx90a.amdgcn");
  const std::string bare =
      std::regex_replace(text, std::regex(" *; [0-9]+-byte Folded \\w+"), "");
  ASSERT_LT(bare.size(), text.size());
  const v1::IsaKernel with = Only(text);
  const v1::IsaKernel without = Only(bare);
  EXPECT_EQ(with.summary().spill_ops(), without.summary().spill_ops());
  EXPECT_EQ(with.summary().buffer_ops(), without.summary().buffer_ops());
}

// Both sides print the same binary.
void ExpectSameCounts(const std::string& a, const std::string& b) {
  v1::IsaKernel one = Only(Input(a));
  v1::IsaKernel two = Only(Input(b));
  for (v1::IsaKernel* kernel : {&one, &two}) {
    kernel->clear_resources();
    kernel->clear_arch();
  }
  EXPECT_EQ(one.DebugString(), two.DebugString());
}

TEST(GoldenCountsTest, NvdisasmAndCuobjdumpAgree) {
  ExpectSameCounts("scatter_bf16.sm_80.nvdisasm",
                   "scatter_bf16.sm_80.cuobjdump");
}

TEST(GoldenCountsTest, CompilerTextAndItsDisassemblyAgree) {
  ExpectSameCounts("scatter_bf16.gfx90a.amdgcn", "scatter_bf16.gfx90a.objdump");
}

TEST(GoldenCountsTest, FloatAtomicsWithoutHardwareAreLoops) {
  EXPECT_EQ(Only(Input("scatter_f64.gfx90a.amdgcn")).summary().cas_loops(), 1);
  EXPECT_EQ(Only(Input("scatter_bf16.gfx90a.amdgcn")).summary().cas_loops(), 3);
  EXPECT_EQ(Only(Input("scatter_bf16.sm_80.ptx")).summary().cas_loops(), 2);
  EXPECT_EQ(Only(Input("scatter_f32.gfx942.amdgcn")).summary().cas_loops(), 0);
}

TEST(GoldenCountsTest, ResourcesOfRealText) {
  const v1::Resources spill =
      Only(Input("matmul_spill.gfx90a.amdgcn")).resources();
  EXPECT_EQ(spill.registers(), 512);
  EXPECT_EQ(spill.agprs(), 256);
  EXPECT_EQ(spill.vgpr_spills(), 80);
  EXPECT_EQ(spill.scratch_bytes(), 68);
  EXPECT_EQ(spill.occupancy_waves(), 1);
  const v1::Resources tight =
      ReadResUsage(Input("matmul_tight.sm_80.resusage"), "matmul");
  EXPECT_EQ(tight.registers(), 40);
  EXPECT_GT(tight.stack_bytes(), 0);
}

}  // namespace
}  // namespace kernelfleet::isa
