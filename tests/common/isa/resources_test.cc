// Resources in the tools' own words.
#include <gtest/gtest.h>

#include <string>

#include "common/isa/scan.h"

namespace kernelfleet::isa {
namespace {

// As ptxas 13 printed it for two kernels and a function that one calls.
constexpr std::string_view kPtxas =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'a' for 'sm_80'\n"
    "ptxas info    : Function properties for a\n"
    "    16 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads\n"
    "ptxas info    : Function properties for helper\n"
    "    96 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 96 registers, used 1 barriers, 2048 bytes smem, 400 "
    "bytes cmem[0]\n"
    "ptxas info    : Compile time = 48.006 ms\n"
    "ptxas info    : Compiling entry function 'b' for 'sm_80'\n"
    "ptxas info    : Function properties for b\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 24 registers, 380 bytes cmem[0]\n";

TEST(ResourcesTest, PtxasOfOneKernelAmongSeveral) {
  const v1::Resources a = ReadPtxasLog(kPtxas, "a");
  EXPECT_EQ(a.registers(), 96);
  EXPECT_EQ(a.stack_bytes(), 16);
  EXPECT_EQ(a.spill_store_bytes(), 12);
  EXPECT_EQ(a.spill_load_bytes(), 20);
  EXPECT_EQ(a.barriers(), 1);
  EXPECT_EQ(a.shared_bytes(), 2048);
  const v1::Resources b = ReadPtxasLog(kPtxas, "b");
  EXPECT_EQ(b.registers(), 24);
  EXPECT_EQ(b.spill_store_bytes(), 0);
  EXPECT_TRUE(b.has_spill_store_bytes());
  EXPECT_FALSE(b.has_shared_bytes());
  EXPECT_FALSE(b.has_barriers());
}

TEST(ResourcesTest, AnEmptySymbolTakesTheFirstKernel) {
  EXPECT_EQ(ReadPtxasLog(kPtxas, "").registers(), 96);
}

TEST(ResourcesTest, AnUnknownSymbolSetsNothing) {
  EXPECT_EQ(ReadPtxasLog(kPtxas, "c").ByteSizeLong(), 0u);
  EXPECT_EQ(ReadResUsage("", "c").ByteSizeLong(), 0u);
  EXPECT_EQ(ReadAmdMetadata("", "c").ByteSizeLong(), 0u);
}

TEST(ResourcesTest, CuobjdumpListsBanksThatVary) {
  constexpr std::string_view kText =
      "Resource usage:\n Common:\n  GLOBAL:0\n Function other:\n"
      "  REG:8 STACK:0 SHARED:0 LOCAL:0 CONSTANT[0]:360 CONSTANT[2]:8 "
      "TEXTURE:0 SURFACE:0 SAMPLER:0\n Function k:\n"
      "  REG:255 STACK:3536 SHARED:1024 LOCAL:0 CONSTANT[0]:400 TEXTURE:0\n";
  const v1::Resources k = ReadResUsage(kText, "k");
  EXPECT_EQ(k.registers(), 255);
  EXPECT_EQ(k.stack_bytes(), 3536);
  EXPECT_EQ(k.shared_bytes(), 1024);
  // Dynamic shared memory is not in there: zero would be a lie.
  EXPECT_FALSE(ReadResUsage(kText, "other").has_shared_bytes());
}

constexpr std::string_view kMetadata =
    "\t.amdgpu_metadata\n---\namdhsa.kernels:\n"
    "  - .agpr_count:     256\n    .args:\n      - .name:           scratch\n"
    "        .offset:         0\n        .size:           8\n"
    "        .vgpr_count:     1\n    .group_segment_fixed_size: 512\n"
    "    .max_flat_workgroup_size: 256\n    .name:           first\n"
    "    .private_segment_fixed_size: 68\n    .sgpr_count:     28\n"
    "    .sgpr_spill_count: 3\n    .symbol:         first.kd\n"
    "    .vgpr_count:     512\n    .vgpr_spill_count: 80\n"
    "    .wavefront_size: 64\n"
    "  - .name:           'second'\n    .symbol:         'second.kd'\n"
    "    .vgpr_count:     7\n"
    "amdhsa.target:   amdgcn-amd-amdhsa--gfx90a\namdhsa.version:\n  - 1\n  - "
    "1\n...\n\t.end_amdgpu_metadata\n";

TEST(ResourcesTest, AmdMetadataKeysAreOptionalAndBelongToTheirKernel) {
  const v1::Resources first = ReadAmdMetadata(kMetadata, "first");
  EXPECT_EQ(first.registers(), 512);
  EXPECT_EQ(first.agprs(), 256);
  EXPECT_EQ(first.sgprs(), 28);
  EXPECT_EQ(first.vgpr_spills(), 80);
  EXPECT_EQ(first.sgpr_spills(), 3);
  EXPECT_EQ(first.scratch_bytes(), 68);
  EXPECT_EQ(first.shared_bytes(), 512);
  EXPECT_EQ(first.num_warps(), 4);
  const v1::Resources second = ReadAmdMetadata(kMetadata, "second");
  EXPECT_EQ(second.registers(), 7);
  EXPECT_FALSE(second.has_agprs());
  EXPECT_FALSE(second.has_vgpr_spills());
  EXPECT_FALSE(second.has_num_warps());
  // "scratch" is the name of an argument.
  EXPECT_EQ(ReadAmdMetadata(kMetadata, "scratch").ByteSizeLong(), 0u);
}

TEST(ResourcesTest, AmdCommentsFillWhatMetadataLeavesOut) {
  constexpr std::string_view kText =
      "\t.amdhsa_kernel k\n\t\t.amdhsa_next_free_vgpr 512\n"
      "\t\t.amdhsa_next_free_sgpr 24\n\t.end_amdhsa_kernel\n"
      "; Kernel info:\n; codeLenInByte = 416\n; NumVgprs: 256\n"
      "; NumAgprs: 256\n; TotalNumVgprs: 512\n; ScratchSize: 68\n"
      "; LDSByteSize: 0 bytes/workgroup (compile time only)\n; Occupancy: 1\n"
      "; Function info:\n; NumVgprs: 3\n; ScratchSize: 4\n";
  const v1::Resources k = ReadAmdMetadata(kText, "k");
  EXPECT_EQ(k.registers(), 512);
  EXPECT_EQ(k.agprs(), 256);
  EXPECT_EQ(k.scratch_bytes(), 68);
  EXPECT_EQ(k.occupancy_waves(), 1);
  EXPECT_FALSE(k.has_shared_bytes());
}

}  // namespace
}  // namespace kernelfleet::isa
