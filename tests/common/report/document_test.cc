#include "common/report/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/strings.h"

namespace kernelfleet::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kHostile[] =
    "<img src=x onerror=alert(1)> | `code` **bold** [x](javascript:y)\n# h\x1b["
    "2J";

Document EveryBlockWith(const std::string& text) {
  Table table;
  table.columns = {{text}};
  table.rows.push_back({Cell(text)});
  List list;
  list.items.push_back({text, Tone::kBad, text, 3});
  return {Heading{1, text}, Paragraph{text}, list, Command{text}, table};
}

TEST(DocumentTest, MarkdownFromOutsideStaysText) {
  const std::string out = ToMarkdown({Paragraph{kHostile}});
  EXPECT_THAT(out, Not(HasSubstr("<img")));
  EXPECT_THAT(out, HasSubstr("\\[x\\]"));
  EXPECT_THAT(out, HasSubstr("\\|"));
  EXPECT_THAT(out, HasSubstr("\\`code\\`"));
  EXPECT_EQ(Split(Trim(out), '\n').size(), 1u) << out;
}

TEST(DocumentTest, NoBlockLetsEscapeCodesThrough) {
  const Document document = EveryBlockWith(kHostile);
  EXPECT_THAT(ToMarkdown(document), Not(HasSubstr("\x1b")));
  EXPECT_THAT(ToTerminal(document, Style{60, false}), Not(HasSubstr("\x1b")));
}

TEST(DocumentTest, AParagraphThatLooksLikeAListOrHeadingIsNone) {
  EXPECT_EQ(ToMarkdown({Paragraph{"# not a heading"}}), "\\# not a heading\n");
  EXPECT_EQ(ToMarkdown({Paragraph{"- not a list"}}), "\\- not a list\n");
}

TEST(DocumentTest, AnsiOnlyWhenAskedFor) {
  Table table;
  table.columns = {{"a"}};
  table.rows.push_back({Cell("x", Tone::kGood)});
  EXPECT_THAT(ToTerminal(table, Style{80, false}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(ToTerminal(table, Style{80, true}), HasSubstr("\x1b[32mx"));
}

TEST(DocumentTest, TablesFitTheTerminalAndLoseNoWord) {
  Table table;
  table.columns = {{"name"}, {"text"}};
  table.rows.push_back(
      {"kernel", "eins zwei drei vier fünf sechs sieben acht neun zehn"});
  const std::string out = ToTerminal(table, Style{40, false});
  for (const std::string_view line : Split(out, '\n')) {
    EXPECT_LE(DisplayWidth(line), 40) << line;
  }
  for (const char* word : {"eins", "fünf", "zehn"}) {
    EXPECT_THAT(out, HasSubstr(word));
  }
}

TEST(DocumentTest, EmptyColumnsAreLeftOut) {
  Table table;
  table.columns = {{"a"}, {"b"}, {"c"}};
  table.rows.push_back({"1", "", "3"});
  EXPECT_EQ(ToTerminal(table, Style{80, false}), "a  c\n1  3\n");
}

TEST(DocumentTest, TheCaretStandsUnderItsColumn) {
  List list;
  list.items.push_back({"k.py:2:5: bad", Tone::kBad, "    y = oops", 5});
  EXPECT_EQ(ToTerminal({list}, Style{80, false}),
            "- k.py:2:5: bad\n"
            "          y = oops\n"
            "          ^\n");
}

TEST(DocumentTest, WideCharactersTakeTwoColumns) {
  EXPECT_EQ(DisplayWidth("abc"), 3);
  EXPECT_EQ(DisplayWidth("größe"), 5);
  EXPECT_EQ(DisplayWidth("核心"), 4);
}

TEST(DocumentTest, CsvQuotesAndNeutralisesFormulas) {
  Table table;
  table.columns = {{"name"}, {"value"}};
  table.rows.push_back({"a,\"b\"", "=HYPERLINK(\"x\")"});
  table.rows.push_back({"@SUM(A1)", "-1.5"});
  EXPECT_EQ(ToCsv(table),
            "name,value\r\n"
            "\"a,\"\"b\"\"\",\"'=HYPERLINK(\"\"x\"\")\"\r\n"
            "'@SUM(A1),-1.5\r\n");
}

}  // namespace
}  // namespace kernelfleet::report
