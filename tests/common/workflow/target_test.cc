#include "common/workflow/target.h"

#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace kernelfleet::workflow {
namespace {

TEST(TargetTest, EveryWellKnownTargetIsATarget) {
  for (const std::string& name : WellKnownTargets()) {
    ASSERT_OK_AND_ASSIGN(const v1::Target target, ParseTarget(name));
    EXPECT_EQ(TargetName(target), name);
  }
}

TEST(TargetTest, ArchitecturesThatDoNotExistYetAreAccepted) {
  EXPECT_OK(ParseTarget("cuda:sm_130a"));
  EXPECT_OK(ParseTarget("hip:gfx1350"));
  EXPECT_OK(ParseTarget("hcu:gfx92a"));
}

TEST(TargetTest, TypingErrorsNameTheNearestTarget) {
  EXPECT_EQ(Text(ParseTarget("cuda:sm100").status()),
            "unknown target 'cuda:sm100': did you mean cuda:sm_100?");
  EXPECT_EQ(Text(ParseTarget("gfx942").status()),
            "unknown target 'gfx942': did you mean hip:gfx942?");
}

TEST(TargetTest, WhatNoBackendMeansIsRefused) {
  for (const char* name :
       {"", ":", "cuda", "cuda:", "cuda:gfx942", "hip:sm_90", "rocm:gfx942",
        "cuda:sm_9", "cuda:sm_90 ", "cuda:sm_0x", "hip:gfx942;rm"}) {
    EXPECT_EQ(ParseTarget(name).status().code(),
              absl::StatusCode::kInvalidArgument)
        << name;
  }
}

TEST(TargetTest, AHostileNameIsShownSafely) {
  const std::string text = Text(ParseTarget("cuda:\x1b[2J\n").status());
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

TEST(TargetTest, EachBackendHasItsOwnToggle) {
  v1::Target target;
  target.set_backend("hip");
  EXPECT_EQ(BufferOpsVariable(target), "AMDGCN_USE_BUFFER_OPS");
  target.set_backend("hcu");
  EXPECT_EQ(BufferOpsVariable(target), "HCUGCN_USE_BUFFER_OPS");
  target.set_backend("cuda");
  EXPECT_FALSE(HasBufferOps(target));
}

}  // namespace
}  // namespace kernelfleet::workflow
