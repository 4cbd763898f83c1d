#include <gtest/gtest.h>

#include <functional>

#include "common/workflow/workflow.h"
#include "tests/support/probe_records.h"
#include "tests/support/status_matchers.h"

namespace kernelfleet::workflow {
namespace {

using testing::MakeProbeJob;
using testing::MakeTarget;

TEST(ValidateTest, AGoodJobPasses) { EXPECT_OK(ValidateJob(MakeProbeJob())); }

struct Bad {
  const char* what;
  std::function<void(v1::JobSpec&)> spoil;
};

class ValidateBadTest : public ::testing::TestWithParam<Bad> {};

TEST_P(ValidateBadTest, IsRefusedInOneLine) {
  v1::JobSpec job = MakeProbeJob();
  GetParam().spoil(job);
  const absl::Status status = ValidateJob(job);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  const std::string text = Text(status);
  EXPECT_FALSE(text.empty());
  EXPECT_EQ(text.find_first_of("\n\x1b"), std::string::npos) << text;
}

v1::KernelSpec& KernelOf(v1::JobSpec& job) { return *job.mutable_kernels(0); }
v1::KernelArg& ArgOf(v1::JobSpec& job) {
  return *KernelOf(job).mutable_case_()->mutable_args(0);
}

INSTANTIATE_TEST_SUITE_P(
    All, ValidateBadTest,
    ::testing::Values(
        Bad{"workflow", [](auto& j) { j.set_workflow("prode"); }},
        Bad{"no kernel", [](auto& j) { j.clear_kernels(); }},
        Bad{"no target", [](auto& j) { j.clear_targets(); }},
        Bad{"target twice",
            [](auto& j) { *j.add_targets() = MakeTarget("cuda", "sm_90"); }},
        Bad{"target unknown",
            [](auto& j) { *j.add_targets() = MakeTarget("vulkan", "x"); }},
        Bad{"kernel name", [](auto& j) { KernelOf(j).set_name("a b"); }},
        Bad{"kernel name escape",
            [](auto& j) { KernelOf(j).set_name("k\x1b[31m"); }},
        Bad{"file name newline",
            [](auto& j) { KernelOf(j).set_source_file("a\nb.py"); }},
        Bad{"digest", [](auto& j) { KernelOf(j).set_module_digest("md5:1"); }},
        Bad{"file hash", [](auto& j) { KernelOf(j).set_file_sha256("xyz"); }},
        Bad{"type", [](auto& j) { ArgOf(j).set_type("*fp17"); }},
        Bad{"neither", [](auto& j) { ArgOf(j).clear_type(); }},
        Bad{"divisibility", [](auto& j) { ArgOf(j).set_divisibility(12); }},
        Bad{"range", [](auto& j) { ArgOf(j).set_pointer_range(16); }},
        Bad{"argument twice", [](auto& j) { ArgOf(j).set_name("n"); }},
        Bad{"warps",
            [](auto& j) {
              KernelOf(j).mutable_case_()->mutable_options()->set_num_warps(3);
            }},
        Bad{"label", [](auto& j) { (*j.mutable_labels())["a\nb"] = "c"; }},
        Bad{"user", [](auto& j) { j.set_user("\xff"); }},
        Bad{"timeout", [](auto& j) { j.set_total_timeout_s(-1); }},
        Bad{"limit",
            [](auto& j) { j.mutable_limits()->set_output_bytes(-1); }}),
    [](const auto& each) {
      std::string name = each.param.what;
      for (char& c : name) c = c == ' ' ? '_' : c;
      return name;
    });

TEST(ValidateTypeTest, TritonsTypesPass) {
  for (const char* type :
       {"*fp16", "*kfp32", "**fp16", "i1", "u64", "bf16", "*fp8e4nv",
        "tensordesc<fp16[64,64]>", "tensordesc<fp8e5[128, 64]>"}) {
    EXPECT_TRUE(ValidateType(type).ok()) << type;
  }
}

TEST(ValidateTypeTest, OthersDoNot) {
  for (const char* type :
       {"", "*", "float", "fp16*", "***fp16", "int32", "tensordesc<>",
        "tensordesc<fp16[0,64]>", "tensordesc<fp16>", "i32\n", "*fp16;"}) {
    EXPECT_FALSE(ValidateType(type).ok()) << type;
  }
}

}  // namespace
}  // namespace kernelfleet::workflow
