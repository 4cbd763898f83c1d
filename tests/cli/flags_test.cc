#include "cli/flags.h"

#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace kernelfleet::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--target", "TARGET", "", Repeat::kYes, "-t"},
    {"--json", "", ""},
    {"--format", "F", "", Repeat::kNo, "", "md json"},
    {"--limit", "N", ""},
};

absl::StatusOr<Arguments> Parse(std::vector<std::string> words) {
  return ParseArguments(kFlags, words);
}

TEST(FlagsTest, BothSpellingsOfAValueAreTheSame) {
  ASSERT_OK_AND_ASSIGN(const Arguments args,
                       Parse({"a.py", "--target=x", "-t", "y", "b.py"}));
  EXPECT_EQ(args.All("--target"), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(args.positional(), (std::vector<std::string>{"a.py", "b.py"}));
  EXPECT_FALSE(args.Has("--json"));
}

TEST(FlagsTest, WordsAfterTwoDashesAreNoFlags) {
  ASSERT_OK_AND_ASSIGN(const Arguments args, Parse({"--", "--json"}));
  EXPECT_EQ(args.positional(), (std::vector<std::string>{"--json"}));
}

TEST(FlagsTest, AValueMayLookLikeAFlag) {
  ASSERT_OK_AND_ASSIGN(const Arguments args, Parse({"--limit", "-5"}));
  EXPECT_EQ(args.Get("--limit"), "-5");
}

TEST(FlagsTest, ErrorsAreOneSentence) {
  EXPECT_EQ(Text(Parse({"--jsom"}).status()),
            "unknown flag --jsom: did you mean --json?");
  EXPECT_EQ(Text(Parse({"--json=1"}).status()), "--json takes no value");
  EXPECT_EQ(Text(Parse({"--limit"}).status()), "--limit needs a value: N");
  EXPECT_EQ(Text(Parse({"--limit", "1", "--limit", "2"}).status()),
            "--limit is given twice");
  EXPECT_EQ(Text(Parse({"--format", "pdf"}).status()),
            "--format is 'pdf': expected one of md, json");
}

TEST(FlagsTest, NumbersKeepWithinTheirBounds) {
  ASSERT_OK_AND_ASSIGN(const Arguments args, Parse({"--limit", "7x"}));
  EXPECT_FALSE(IntFlag(args, "--limit", 1, 1, 10).ok());
  ASSERT_OK_AND_ASSIGN(const Arguments none, Parse({}));
  EXPECT_EQ(*IntFlag(none, "--limit", 3, 1, 10), 3);
}

TEST(FlagsTest, OnlyNearWordsAreOffered) {
  constexpr std::string_view kWords[] = {"submit", "jobs", "why"};
  EXPECT_EQ(DidYouMean("sumbit", kWords), "submit");
  EXPECT_EQ(DidYouMean("job", kWords), "jobs");
  EXPECT_FALSE(DidYouMean("frobnicate", kWords));
}

}  // namespace
}  // namespace kernelfleet::cli
