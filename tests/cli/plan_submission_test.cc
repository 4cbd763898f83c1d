#include "cli/plan_submission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/file.h"
#include "common/base/hash.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace kernelfleet::cli {
namespace {

using ::testing::HasSubstr;

constexpr char kTwoKernels[] = R"(import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, n, factor, BLOCK: tl.constexpr = 128):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(x_ptr + i, x * factor, mask=i < n)


@triton.jit
def zero(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, 0.0, mask=i < n)
)";

class PlanSubmissionTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    EXPECT_OK(WriteFileAtomic(dir_ / name, text));
    return dir_ / name;
  }
  SubmissionRequest Request(std::vector<std::string> paths) {
    SubmissionRequest request;
    request.paths = std::move(paths);
    request.base.set_workflow("probe");
    request.args = {"x_ptr=*fp32:16", "n=i32", "factor=fp32"};
    request.constexprs = {"BLOCK=64"};
    return request;
  }
  testing::TempDir dir_;
};

TEST_F(PlanSubmissionTest, ArgumentsFollowTheSignature) {
  SubmissionRequest request = Request({Write("k.py", kTwoKernels)});
  request.kernel = "scale";
  ASSERT_OK_AND_ASSIGN(const Submission plan, PlanSubmission(request));
  ASSERT_EQ(plan.spec.kernels_size(), 1);
  const v1::KernelSpec& kernel = plan.spec.kernels(0);
  ASSERT_EQ(kernel.case_().args_size(), 4);
  EXPECT_EQ(kernel.case_().args(0).name(), "x_ptr");
  EXPECT_EQ(kernel.case_().args(2).name(), "factor");
  EXPECT_EQ(kernel.case_().args(3).constant().int_value(), 64);
  // What travels is the kernel's slice; the identity is the user's file.
  EXPECT_EQ(kernel.file_sha256(), Sha256Hex(kTwoKernels));
  const std::string& module = plan.modules.at(kernel.module_digest());
  EXPECT_EQ(kernel.module_digest(), DigestOf(module));
  EXPECT_THAT(module, HasSubstr("def scale("));
  EXPECT_THAT(module, ::testing::Not(HasSubstr("def zero(")));
  EXPECT_THAT(kernel.source_lines(), ::testing::Contains(6));
}

TEST_F(PlanSubmissionTest, ADefaultIsAGuessAndSaysWhere) {
  SubmissionRequest request = Request({Write("k.py", kTwoKernels)});
  request.kernel = "scale";
  request.constexprs.clear();
  ASSERT_OK_AND_ASSIGN(const Submission plan, PlanSubmission(request));
  const v1::KernelArg& block = plan.spec.kernels(0).case_().args(3);
  EXPECT_EQ(block.constant().int_value(), 128);
  EXPECT_EQ(block.guessed_from(), "default in line 6");
}

TEST_F(PlanSubmissionTest, WhatNobodySaidIsInferredAndSaysFromWhat) {
  SubmissionRequest request = Request({Write("k.py", kTwoKernels)});
  request.args.clear();
  request.constexprs.clear();
  ASSERT_OK_AND_ASSIGN(const Submission plan, PlanSubmission(request));
  ASSERT_EQ(plan.spec.kernels_size(), 2);
  for (const v1::KernelSpec& kernel : plan.spec.kernels()) {
    EXPECT_GT(kernel.alternatives_size(), 0);
    for (const v1::KernelArg& arg : kernel.case_().args()) {
      EXPECT_NE(arg.guessed_from(), "") << kernel.name() << ' ' << arg.name();
    }
  }
}

TEST_F(PlanSubmissionTest, AFolderIsABatchThatLeavesBadFilesOut) {
  Write("good.py", kTwoKernels);
  Write("bad.py", "def (:\n");
  Write("plain.py", "print(1)\n");
  Write("notes.txt", "not a source\n");
  ASSERT_OK(MakeDirectories(dir_ / ".hidden"));
  Write(".hidden/more.py", kTwoKernels);
  ASSERT_OK_AND_ASSIGN(const Submission plan,
                       PlanSubmission(Request({dir_.path()})));
  EXPECT_EQ(plan.spec.kernels_size(), 2);
  EXPECT_EQ(plan.skipped.size(), 2u);
}

TEST_F(PlanSubmissionTest, TheKeyComesFromTheContent) {
  const std::string path = Write("k.py", kTwoKernels);
  ASSERT_OK_AND_ASSIGN(const Submission a, PlanSubmission(Request({path})));
  ASSERT_OK_AND_ASSIGN(const Submission b, PlanSubmission(Request({path})));
  EXPECT_EQ(a.key, b.key);
  Write("k.py", std::string(kTwoKernels) + "# changed\n");
  ASSERT_OK_AND_ASSIGN(const Submission c, PlanSubmission(Request({path})));
  EXPECT_NE(a.key, c.key);
  SubmissionRequest other = Request({path});
  other.targets = {"cuda:sm_80"};
  ASSERT_OK_AND_ASSIGN(const Submission d, PlanSubmission(other));
  EXPECT_NE(c.key, d.key);
  EXPECT_NE(SubmissionKey(a.spec, "j1"), a.key);
}

TEST_F(PlanSubmissionTest, TargetsOfTheCommandLineCountForAll) {
  Write("k.case.toml", "targets = [\"cuda:sm_80\"]\n");
  SubmissionRequest request = Request({Write("k.py", kTwoKernels)});
  ASSERT_OK_AND_ASSIGN(const Submission by_case, PlanSubmission(request));
  EXPECT_EQ(by_case.spec.kernels(0).targets(0).arch(), "sm_80");
  EXPECT_TRUE(by_case.notes.empty());
  request.targets = {"hip:gfx942"};
  ASSERT_OK_AND_ASSIGN(const Submission by_flag, PlanSubmission(request));
  EXPECT_EQ(by_flag.spec.kernels(0).targets_size(), 0);
  EXPECT_EQ(by_flag.spec.targets(0).arch(), "gfx942");
}

TEST_F(PlanSubmissionTest, TargetsThatNobodyNamedAreSaid) {
  ASSERT_OK_AND_ASSIGN(const Submission plan,
                       PlanSubmission(Request({Write("k.py", kTwoKernels)})));
  EXPECT_EQ(plan.spec.targets_size(), 3);
  ASSERT_EQ(plan.notes.size(), 1u);
}

}  // namespace
}  // namespace kernelfleet::cli
