#include "agent/gpu_tools.h"

#include <gtest/gtest.h>

#include "agent/node_facts.h"

namespace kernelfleet::agent {
namespace {

// As driver 580 prints it for two GPUs.
constexpr char kNvidiaSmi[] =
    "index, name, uuid, compute_cap, memory.total [MiB], driver_version\n"
    "0, NVIDIA H200, GPU-0ae5, 9.0, 143771, 580.159.03\n"
    "1, NVIDIA B200, GPU-77aa, 10.0, 183359, 580.159.03\n";

// Shape of rocminfo on DTK: the card calls itself HCU.
constexpr char kRocminfo[] = R"(ROCk module is loaded
=====================
HSA Agents
=====================
*******
Agent 1
*******
  Name:                    Hygon C86 7490
  Uuid:                    CPU-XX
  Marketing Name:          Hygon C86 7490
  Device Type:             CPU
  Pool Info:
    Pool 1
      Segment:                 GLOBAL; FLAGS: FINE GRAINED
      Size:                    527938784(0x1f77a8e0) KB
*******
Agent 2
*******
  Name:                    gfx936
  Uuid:                    GPU-XX
  Marketing Name:          BW
  Vendor Name:             HYGON
  Device Type:             HCU
  Wavefront Size:          64(0x40)
  Pool Info:
    Pool 1
      Segment:                 GLOBAL; FLAGS: COARSE GRAINED
      Size:                    67092480(0x3ffc000) KB
    Pool 2
      Segment:                 GROUP
      Size:                    64(0x40) KB
  ISA Info:
    ISA 1
      Name:                    amdgcn-amd-amdhsa--gfx936
*******
Agent 3
*******
  Name:                    gfx906:sramecc+:xnack-
  Uuid:                    GPU-84d5b1
  Marketing Name:          Radeon Instinct MI50
  Device Type:             GPU
*** Done ***
)";

constexpr char kHySmi[] = R"(
================= System Management Interface =================
HCU[0]          : Card Series:           BW1000
HCU[0]          : Unique ID: 0x77
HCU[1]          : Card Series:           Z100
HCU[0]          : vram Total Memory (MiB): 65520
HCU[9]          : Card Series: not ours
Driver Version: 6.3.8-V1.9.2
================== End ==================
)";

TEST(GpuToolsTest, ReadsNvidiaSmiByColumnName) {
  const std::vector<v1::Gpu> gpus = ParseNvidiaSmi(kNvidiaSmi);
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].arch(), "sm_90");
  EXPECT_EQ(gpus[1].arch(), "sm_100");
  EXPECT_EQ(gpus[1].index(), 1);
  EXPECT_EQ(gpus[1].uuid(), "GPU-77aa");
  EXPECT_EQ(gpus[0].driver(), "580.159.03");
  EXPECT_EQ(gpus[0].memory_bytes(), int64_t{143771} << 20);
  // Another order, fewer columns.
  const auto other = ParseNvidiaSmi("uuid, index\nGPU-1, 3\n");
  ASSERT_EQ(other.size(), 1u);
  EXPECT_EQ(other[0].index(), 3);
  EXPECT_EQ(other[0].uuid(), "GPU-1");
}

TEST(GpuToolsTest, AnUnknownCapabilityGivesNoArch) {
  const auto gpus = ParseNvidiaSmi("index, compute_cap\n0, [N/A]\n");
  ASSERT_EQ(gpus.size(), 1u);
  EXPECT_EQ(gpus[0].arch(), "");
}

TEST(GpuToolsTest, WordsOfAFailureAreNoGpu) {
  EXPECT_TRUE(ParseNvidiaSmi("NVIDIA-SMI has failed because …\n").empty());
  EXPECT_TRUE(ParseNvidiaSmi("").empty());
  EXPECT_TRUE(ParseRocminfo("ROCk module is NOT loaded\n").empty());
}

TEST(GpuToolsTest, AnHcuIsAGpuAndACpuIsNot) {
  const std::vector<v1::Gpu> gpus = ParseRocminfo(kRocminfo);
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].index(), 0);
  EXPECT_EQ(gpus[0].arch(), "gfx936");
  EXPECT_EQ(gpus[0].name(), "BW");
  EXPECT_EQ(gpus[0].vendor(), "hygon");
  EXPECT_EQ(gpus[0].uuid(), "");
  EXPECT_EQ(gpus[0].memory_bytes(), int64_t{67092480} << 10);
  EXPECT_EQ(gpus[1].index(), 1);
  EXPECT_EQ(gpus[1].arch(), "gfx906");
  EXPECT_EQ(gpus[1].vendor(), "amd");
  EXPECT_EQ(gpus[1].uuid(), "GPU-84d5b1");
}

TEST(GpuToolsTest, SmiCompletesWhatRocminfoFound) {
  std::vector<v1::Gpu> gpus = ParseRocminfo(kRocminfo);
  AddSmi(kHySmi, gpus);
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].name(), "BW1000");
  EXPECT_EQ(gpus[0].uuid(), "0x77");
  EXPECT_EQ(gpus[0].driver(), "6.3.8-V1.9.2");
  EXPECT_EQ(gpus[0].memory_bytes(), int64_t{65520} << 20);
  EXPECT_EQ(gpus[1].name(), "Z100");
  EXPECT_EQ(gpus[1].uuid(), "GPU-84d5b1");
}

TEST(NodeFactsTest, FindsTheVersionInWhatToolsPrint) {
  EXPECT_EQ(VersionIn("ptxas: NVIDIA (R) Ptx optimizing assembler\n"
                      "Cuda compilation tools, release 12.9, V12.9.86\n"
                      "Build cuda_12.9.r12.9/compiler.36037853_0\n"),
            "12.9.86");
  EXPECT_EQ(VersionIn("HIP version: 6.2.41133-dd7f95766\nAMD clang\n"),
            "6.2.41133-dd7f95766");
  EXPECT_EQ(VersionIn("dcc version: 25.10.0-0\n"), "25.10.0-0");
  EXPECT_EQ(VersionIn("hipprof 4.1\nmore\n"), "hipprof 4.1");
}

TEST(NodeFactsTest, TheHashFollowsWhatResultsDependOnAndNothingElse) {
  v1::Environment environment;
  environment.set_python_version("3.11.2");
  environment.set_triton_version("3.9.0");
  (*environment.mutable_facts())["ptxas"] = "12.9.86";
  (*environment.mutable_facts())["triton.path"] = "/a";
  const std::string hash = EnvironmentHash(environment, {});
  EXPECT_EQ(hash.size(), 64u);

  v1::Environment moved = environment;
  moved.set_name("other");
  moved.set_python("/b/bin/python3");
  (*moved.mutable_facts())["triton.path"] = "/b";
  EXPECT_EQ(EnvironmentHash(moved, {{"PATH", "/x"}}), hash);

  v1::Environment newer = environment;
  (*newer.mutable_facts())["ptxas"] = "13.0.1";
  EXPECT_NE(EnvironmentHash(newer, {}), hash);
  EXPECT_NE(EnvironmentHash(environment, {{"TRITON_PTXAS_PATH", "/p"}}), hash);
}

}  // namespace
}  // namespace kernelfleet::agent
