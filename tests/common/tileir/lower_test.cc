#include "common/tileir/lower.h"

#include <cstdlib>
#include <string>

#include "common/base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace kernelfleet::tileir {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Golden(const std::string& name) {
  const char* root = std::getenv("KERNELFLEET_SOURCE_DIR");
  const auto text = ReadFile(JoinPath(
      JoinPath(root == nullptr ? "." : root, "tests/golden/tileir"), name));
  EXPECT_TRUE(text.ok()) << Text(text.status());
  return text.ok() ? *text : std::string();
}

TEST(Lower, VectorAddBecomesTwoLoadsAndAStoreWithoutTokens) {
  const auto kernel = Lower(Golden("add.ttir"), LowerOptions{});
  ASSERT_TRUE(kernel.ok()) << Text(kernel.status());
  EXPECT_EQ(kernel->unsupported_size(), 0);
  EXPECT_EQ(kernel->entry(), "add");
  EXPECT_EQ(kernel->accesses(), 3);
  EXPECT_EQ(kernel->ordered_accesses(), 0);
  EXPECT_THAT(kernel->bytecode(), StartsWith(std::string("\x7FTileIR\0", 8)));
  EXPECT_THAT(kernel->text(), HasSubstr("assume %0 div_by<16>"));
}

TEST(Lower, VectorAddSaysWhichBuffersMustBeDistinct) {
  const auto kernel = Lower(Golden("add.ttir"), LowerOptions{});
  ASSERT_TRUE(kernel.ok()) << Text(kernel.status());
  ASSERT_EQ(kernel->arguments_size(), 4);
  EXPECT_TRUE(kernel->arguments(0).read());
  EXPECT_FALSE(kernel->arguments(0).written());
  EXPECT_TRUE(kernel->arguments(2).written());
  EXPECT_EQ(kernel->arguments(3).type(), "i32");
  ASSERT_EQ(kernel->distinct_size(), 1);
  EXPECT_THAT(kernel->distinct(0).written(), ::testing::ElementsAre(2));
  EXPECT_THAT(kernel->distinct(0).others(), ::testing::ElementsAre(0, 1));
}

TEST(Lower, BuffersThatMayOverlapAreOrderedAndNeedNoCheck) {
  LowerOptions options;
  options.order = BufferOrder::kMayOverlap;
  const auto kernel = Lower(Golden("add.ttir"), options);
  ASSERT_TRUE(kernel.ok()) << Text(kernel.status());
  EXPECT_EQ(kernel->ordered_accesses(), 1);
  EXPECT_EQ(kernel->distinct_size(), 0);
}

TEST(Lower, TextThatIsNoTtirIsRefusedWithItsPlace) {
  const auto kernel = Lower("module {\n  llvm.func @f()\n}\n", LowerOptions{});
  EXPECT_EQ(kernel.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Text(kernel.status()), HasSubstr("TTIR line 2, column 3"));
}

TEST(Lower, OptionsOutOfRangeAreRefused) {
  LowerOptions options;
  options.occupancy = 33;
  EXPECT_EQ(Lower(Golden("add.ttir"), options).status().code(),
            absl::StatusCode::kInvalidArgument);
  options = LowerOptions{};
  options.version_minor = 6;
  EXPECT_EQ(Lower(Golden("add.ttir"), options).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace kernelfleet::tileir
