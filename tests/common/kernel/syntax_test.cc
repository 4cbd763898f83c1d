#include "common/kernel/syntax.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kernelfleet::kernel {
namespace {

std::vector<std::string> TextsOf(const Syntax& syntax, Kind kind) {
  std::vector<std::string> out;
  for (NodeId id = 0; id < syntax.size(); ++id) {
    if (syntax.kind(id) == kind) out.emplace_back(syntax.TextOf(id));
  }
  return out;
}

TEST(SyntaxTest, ASubtreeIsARangeOfIds) {
  const Syntax syntax = Syntax::Parse("x = f(a, b=g(c))\ny = 1\n");
  const NodeId assignment = syntax.first_child(syntax.first_child(0));
  ASSERT_EQ(syntax.kind(assignment), Kind::kAssignment);
  EXPECT_EQ(syntax.TextOf(syntax.Child(assignment, Field::kLeft)), "x");
  const NodeId call = syntax.Child(assignment, Field::kRight);
  ASSERT_EQ(syntax.kind(call), Kind::kCall);
  EXPECT_EQ(syntax.subtree_end(call), syntax.subtree_end(assignment));
  const NodeId arguments = syntax.Child(call, Field::kArguments);
  std::vector<std::string> texts;
  for (NodeId child : syntax.Children(arguments)) {
    texts.emplace_back(syntax.TextOf(child));
    EXPECT_EQ(syntax.parent(child), arguments);
  }
  EXPECT_THAT(texts, testing::ElementsAre("a", "b=g(c)"));
}

TEST(SyntaxTest, OperatorsAreKeptAndPunctuationIsNot) {
  const Syntax syntax = Syntax::Parse("r = (a + b) not in [c, -d]\n");
  EXPECT_THAT(TextsOf(syntax, Kind::kToken),
              testing::ElementsAre("+", "not in", "-"));
}

TEST(SyntaxTest, CommentsAreListedApart) {
  const Syntax syntax = Syntax::Parse("f(a,  # tl.dot(a)\n  b)\n# end\n");
  ASSERT_EQ(syntax.comments().size(), 2u);
  EXPECT_THAT(TextsOf(syntax, Kind::kCall),
              testing::ElementsAre("f(a,  # tl.dot(a)\n  b)"));
}

TEST(SyntaxTest, PositionsCountFromOneThroughCrLfAndTabs) {
  const Syntax syntax = Syntax::Parse("if a:\r\n\tb\r\n");
  const NodeId last = syntax.size() - 1;
  EXPECT_EQ(syntax.TextOf(last), "b");
  const Position at = syntax.At(syntax.range(last).begin);
  EXPECT_EQ(at.line, 2);
  EXPECT_EQ(at.column, 2);
}

TEST(SyntaxTest, AByteOrderMarkIsNotCode) {
  const Syntax syntax = Syntax::Parse("\xef\xbb\xbfimport a\n");
  EXPECT_TRUE(syntax.problems().empty());
  EXPECT_EQ(TextsOf(syntax, Kind::kImportStatement).size(), 1u);
}

TEST(SyntaxTest, BytesThatAreNotUtf8AreAProblemAndKeepOffsets) {
  const Syntax syntax = Syntax::Parse("a = '\xff\xfe'\nb = 1\n");
  ASSERT_EQ(syntax.problems().size(), 1u);
  EXPECT_EQ(syntax.problems()[0].byte, 5u);
  EXPECT_EQ(syntax.text().size(), 15u);
  EXPECT_EQ(TextsOf(syntax, Kind::kAssignment).size(), 2u);
}

TEST(SyntaxTest, ABrokenLineIsAProblemAndTheRestIsRead) {
  const Syntax syntax =
      Syntax::Parse("def f(:\n  pass\n\n\ndef g():\n  return 1\n");
  EXPECT_FALSE(syntax.problems().empty());
  EXPECT_EQ(syntax.At(syntax.problems()[0].byte).line, 1);
  EXPECT_THAT(TextsOf(syntax, Kind::kReturnStatement),
              testing::ElementsAre("return 1"));
}

TEST(SyntaxTest, TheEmptyFileIsAModule) {
  const Syntax syntax = Syntax::Parse("");
  ASSERT_EQ(syntax.size(), 1);
  EXPECT_EQ(syntax.kind(0), Kind::kModule);
  EXPECT_EQ(syntax.first_child(0), kNoNode);
}

TEST(SyntaxTest, DepthCostsNothing) {
  const std::string deep = std::string(200000, '(') + std::string(200000, ')');
  EXPECT_GT(Syntax::Parse(deep).size(), 0);
  std::string sum = "a";
  for (int i = 0; i < 100000; ++i) sum += "+a";
  EXPECT_GT(Syntax::Parse(sum).size(), 100000);
}

TEST(SyntaxTest, TodaysPythonHasNoProblems) {
  const Syntax syntax = Syntax::Parse(
      "type P[T] = list[T]\n"
      "def f[T](x: T, /, *, y) -> T:\n"
      "  match x:\n"
      "    case [1, *_] if y: return t'{x!r}'\n"
      "  try: pass\n"
      "  except* ValueError: pass\n"
      "  with (open(x) as a, open(y) as b): z = f\"{x + f'{y}'}\"\n"
      "  return (n := x)\n");
  EXPECT_TRUE(syntax.problems().empty());
}

}  // namespace
}  // namespace kernelfleet::kernel
