// A report before it has a format: what is said, in order. Made once from the
// findings, printed as Markdown or for a terminal.
#ifndef KERNELFLEET_COMMON_REPORT_DOCUMENT_H_
#define KERNELFLEET_COMMON_REPORT_DOCUMENT_H_

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kernelfleet::report {

// Colours a terminal, never the only carrier of a meaning.
enum class Tone { kPlain, kGood, kBad, kAdvice, kFaint };

struct Heading {
  int level = 1;
  std::string text;
};

struct Paragraph {
  std::string text;
  Tone tone = Tone::kPlain;
};

struct Item {
  std::string text;
  Tone tone = Tone::kPlain;
  // A line quoted below the item, such as the source line of an error; shown
  // as it is, with a caret under `column` (1-based; 0: none).
  std::string quote = {};
  int column = 0;
};
struct List {
  std::vector<Item> items;
};

// A command to run, on a line of its own.
struct Command {
  std::string text;
};

struct Cell {
  std::string text;
  Tone tone = Tone::kPlain;
  Cell() = default;
  // Cells are mostly plain words: tables read as they are written.
  Cell(std::string t, Tone o = Tone::kPlain) : text(std::move(t)), tone(o) {}
  Cell(const char* t) : text(t) {}
};
enum class Align { kLeft, kRight };
struct Column {
  std::string title;
  Align align = Align::kLeft;
};
struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
};

using Block = std::variant<Heading, Paragraph, List, Command, Table>;
using Document = std::vector<Block>;

// How a terminal shows it. `width` in columns; colours only when asked for.
struct Style {
  int width = 100;
  bool color = false;
};

// Every text is escaped for its format: what a source file or a tool said
// cannot add markup, escape sequences or lines.
std::string ToMarkdown(const Document& document);
std::string ToTerminal(const Document& document, const Style& style);

// Columns wrap at blanks where the table is wider than the terminal; columns
// that are empty in every row are left out.
std::string ToTerminal(const Table& table, const Style& style);

// For tables of any shape: rows as lines where the columns fit, else one line
// for each value.
std::string RowsToTerminal(const Table& table, const Style& style);

// RFC 4180, with a quote mark before cells that a spreadsheet would run.
std::string ToCsv(const Table& table);

// Columns that a terminal needs for the text.
int DisplayWidth(std::string_view text);

}  // namespace kernelfleet::report

#endif  // KERNELFLEET_COMMON_REPORT_DOCUMENT_H_
