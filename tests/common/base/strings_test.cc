#include "common/base/strings.h"

#include <gtest/gtest.h>

namespace kernelfleet {
namespace {

TEST(StringsTest, EscapeCodesNeverReachATerminal) {
  EXPECT_EQ(Printable("a\x1b[31mb"), "a\\x1b[31mb");
  EXPECT_EQ(Printable("line\nnext"), "line\\nnext");
  EXPECT_EQ(Printable("line\nnext", Newlines::kKeep), "line\nnext");
  EXPECT_EQ(Printable("\xc2\x9b"), "\\x9b");
  EXPECT_EQ(Printable("\xe2\x80\xae"), "\\u{202e}");
  EXPECT_EQ(Printable("\xff"), "\\xff");
  EXPECT_EQ(Printable("größe ✓"), "größe ✓");
}

TEST(StringsTest, OverlongAndSurrogateBytesAreInvalid) {
  EXPECT_FALSE(IsValidUtf8("\xc0\xaf"));
  EXPECT_FALSE(IsValidUtf8("\xed\xa0\x80"));
  EXPECT_FALSE(IsValidUtf8("\xe2\x82"));
  EXPECT_TRUE(IsValidUtf8("€"));
}

TEST(StringsTest, ShortenCutsAtACharacter) {
  EXPECT_EQ(Shorten("abc", 3), "abc");
  EXPECT_EQ(Shorten("a€b", 2), "a… (4 bytes more)");
}

TEST(StringsTest, NumbersAreWholeOrNothing) {
  EXPECT_EQ(ParseInt("-12"), -12);
  EXPECT_FALSE(ParseInt("12x"));
  EXPECT_FALSE(ParseInt(""));
  EXPECT_EQ(ParseDouble("1.5"), 1.5);
  EXPECT_FALSE(ParseDouble("1.5 "));
}

TEST(StringsTest, SplitKeepsEmptyParts) {
  EXPECT_EQ(Split("a,,b", ',').size(), 3u);
  EXPECT_EQ(Split("", ',').size(), 1u);
}

TEST(StringsTest, EditDistanceCountsEdits) {
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
  EXPECT_EQ(EditDistance("", "ab"), 2);
}

}  // namespace
}  // namespace kernelfleet
