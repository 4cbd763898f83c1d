#include <fmt/format.h>

#include <algorithm>

#include "common/base/strings.h"
#include "common/report/document.h"

namespace kernelfleet::report {
namespace {

constexpr int kGap = 2;
// A column is not wrapped to fewer columns than this.
constexpr int kMinColumn = 8;

std::string_view ColorOf(Tone tone) {
  switch (tone) {
    case Tone::kPlain:
      return "";
    case Tone::kGood:
      return "\x1b[32m";
    case Tone::kBad:
      return "\x1b[31m";
    case Tone::kAdvice:
      return "\x1b[33m";
    case Tone::kFaint:
      return "\x1b[2m";
  }
  return "";
}

std::string Colored(std::string_view text, Tone tone, const Style& style) {
  const std::string_view color = ColorOf(tone);
  if (!style.color || color.empty() || text.empty()) return std::string(text);
  return fmt::format("{}{}\x1b[0m", color, text);
}

// Length in bytes of the longest prefix that fits `width`.
size_t FitPrefix(std::string_view text, int width) {
  size_t end = 0;
  while (end < text.size()) {
    size_t next = end + 1;
    while (next < text.size() &&
           (static_cast<unsigned char>(text[next]) & 0xc0) == 0x80) {
      ++next;
    }
    if (DisplayWidth(text.substr(0, next)) > width) break;
    end = next;
  }
  return std::max<size_t>(end, 1);
}

enum class BreakAt { kBlanks, kCommas };

// Printable text in lines of at most `width`, broken at blanks where there are
// any; lists in cells rather between their items.
std::vector<std::string> Wrap(std::string_view text, int width,
                              BreakAt at = BreakAt::kBlanks) {
  std::vector<std::string> lines;
  std::string_view rest = text;
  while (DisplayWidth(rest) > width) {
    const size_t fit = FitPrefix(rest, width);
    size_t cut = rest.rfind(' ', fit);
    if (at == BreakAt::kCommas) {
      const size_t comma = rest.substr(0, fit).rfind(", ");
      if (comma != std::string_view::npos) cut = comma + 1;
    }
    if (cut == std::string_view::npos || cut == 0) cut = fit;
    lines.emplace_back(Trim(rest.substr(0, cut)));
    rest = rest.substr(cut);
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  }
  lines.emplace_back(rest);
  return lines;
}

std::string Padded(std::string_view text, int width, Align align) {
  const int missing = std::max(0, width - DisplayWidth(text));
  const std::string blanks(static_cast<size_t>(missing), ' ');
  return align == Align::kRight ? blanks + std::string(text)
                                : std::string(text) + blanks;
}

// The widest piece of a cell that a break should leave whole: an item of a
// list, with its comma.
int WidestItem(std::string_view text) {
  int widest = 0;
  for (;;) {
    const size_t comma = text.find(", ");
    const bool last = comma == std::string_view::npos;
    widest = std::max(widest, DisplayWidth(text.substr(0, comma)) + !last);
    if (last) return widest;
    text.remove_prefix(comma + 2);
  }
}

std::vector<int> WidthsOf(const Table& table, int limit) {
  std::vector<int> widths;
  std::vector<int> whole;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    int width = DisplayWidth(table.columns[i].title);
    int item = 0;
    for (const auto& row : table.rows) {
      if (i >= row.size()) continue;
      width = std::max(width, DisplayWidth(row[i].text));
      item = std::max(item, WidestItem(row[i].text));
    }
    widths.push_back(width);
    whole.push_back(std::max(kMinColumn, item));
  }
  const auto total = [&] {
    int sum = -kGap;
    for (const int width : widths) sum += width + kGap;
    return sum;
  };
  // Takes from the column with most to spare until the table fits: first down
  // to whole items, then through them.
  for (const bool keep_items : {true, false}) {
    while (total() > limit) {
      size_t most = 0;
      int spare = 0;
      for (size_t i = 0; i < widths.size(); ++i) {
        const int least = keep_items ? whole[i] : kMinColumn;
        if (widths[i] - least > spare) {
          spare = widths[i] - least;
          most = i;
        }
      }
      if (spare == 0) break;
      --widths[most];
    }
  }
  return widths;
}

void AppendRow(const Table& table, const std::vector<int>& widths,
               const std::vector<Cell>& row, const Style& style,
               std::string& out) {
  std::vector<std::vector<std::string>> cells;
  size_t height = 1;
  for (size_t i = 0; i < widths.size(); ++i) {
    cells.push_back(
        Wrap(i < row.size() ? row[i].text : "", widths[i], BreakAt::kCommas));
    height = std::max(height, cells.back().size());
  }
  for (size_t line = 0; line < height; ++line) {
    std::string text;
    size_t ends_at = 0;
    for (size_t i = 0; i < widths.size(); ++i) {
      if (i > 0) text.append(kGap, ' ');
      const std::string part = line < cells[i].size() ? cells[i][line] : "";
      text += Colored(Padded(part, widths[i], table.columns[i].align),
                      i < row.size() ? row[i].tone : Tone::kPlain, style);
      if (!part.empty()) ends_at = text.size();
    }
    // No blanks at the end; inside colours they do no harm.
    if (!style.color) {
      text.resize(std::min(text.size(), ends_at));
      text.resize(text.find_last_not_of(' ') + 1);
    }
    out += text + "\n";
  }
}

Table Prepared(const Table& table) {
  Table out;
  std::vector<bool> used(table.columns.size(), table.rows.empty());
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < row.size() && i < used.size(); ++i) {
      used[i] = used[i] || !row[i].text.empty();
    }
  }
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) continue;
    // A title may be a column name of somebody's SQL.
    out.columns.push_back(
        {Printable(table.columns[i].title), table.columns[i].align});
  }
  for (const auto& row : table.rows) {
    std::vector<Cell>& cells = out.rows.emplace_back();
    for (size_t i = 0; i < row.size() && i < used.size(); ++i) {
      if (used[i]) cells.emplace_back(Printable(row[i].text), row[i].tone);
    }
  }
  return out;
}

struct Printer {
  const Style& style;
  std::string out;

  void Lines(std::string_view text, int indent, std::string_view first,
             Tone tone) {
    std::string lead(first);
    lead.resize(static_cast<size_t>(indent), ' ');
    for (const std::string& line :
         Wrap(text, std::max(20, style.width - indent))) {
      out += lead + Colored(line, tone, style) + "\n";
      lead.assign(static_cast<size_t>(indent), ' ');
    }
  }
  void operator()(const Heading& heading) {
    const std::string text = Printable(heading.text);
    if (!out.empty() && !out.ends_with("\n\n")) out += "\n";
    out += style.color ? fmt::format("\x1b[1m{}\x1b[0m\n", text) : text + "\n";
    if (heading.level == 1) {
      const int width = std::min(DisplayWidth(text), style.width);
      out += std::string(static_cast<size_t>(width), '=') + "\n";
    } else if (heading.level == 2) {
      const int width = std::min(DisplayWidth(text), style.width);
      out += std::string(static_cast<size_t>(width), '-') + "\n";
    }
  }
  void operator()(const Paragraph& paragraph) {
    Lines(Printable(paragraph.text), 0, "", paragraph.tone);
    out += "\n";
  }
  void operator()(const List& list) {
    for (const Item& item : list.items) {
      Lines(Printable(item.text), 2, "- ", item.tone);
      if (item.quote.empty()) continue;
      // The caret must stay under its column, so quotes do not wrap.
      out += fmt::format("      {}\n", Printable(item.quote));
      if (item.column > 0) {
        out += fmt::format("      {:>{}}\n", "^", item.column);
      }
    }
    out += "\n";
  }
  void operator()(const Command& command) {
    // Close below what announces it.
    if (out.ends_with("\n\n")) out.pop_back();
    out += fmt::format("    {}\n\n", Printable(command.text));
  }
  void operator()(const Table& table) {
    out += ToTerminal(table, style);
    out += "\n";
  }
};

}  // namespace

int DisplayWidth(std::string_view text) {
  int width = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0) == 0x80) continue;
    // Leads of U+1100… (Hangul), U+3000… to U+D7FF (CJK), emoji: two columns.
    // Coarse, and enough for alignment.
    const bool wide = (byte >= 0xe3 && byte <= 0xed) || byte >= 0xf0;
    width += wide ? 2 : 1;
  }
  return width;
}

std::string ToTerminal(const Table& table, const Style& style) {
  const Table prepared = Prepared(table);
  const std::vector<int> widths = WidthsOf(prepared, style.width);
  std::string out;
  std::vector<Cell> titles;
  for (const Column& column : prepared.columns) {
    titles.emplace_back(column.title, Tone::kFaint);
  }
  AppendRow(prepared, widths, titles, style, out);
  for (const auto& row : prepared.rows) {
    AppendRow(prepared, widths, row, style, out);
  }
  return out;
}

std::string RowsToTerminal(const Table& table, const Style& style) {
  // Narrower than this a value is hard to read.
  constexpr int kReadable = 16;
  const Table prepared = Prepared(table);
  int needed = -kGap;
  for (const int width : WidthsOf(prepared, 1 << 20)) {
    needed += std::min(width, kReadable) + kGap;
  }
  if (needed <= style.width) return ToTerminal(table, style);
  Table tall;
  tall.columns = {{"column"}, {"value"}};
  std::string out;
  for (size_t i = 0; i < prepared.rows.size(); ++i) {
    tall.rows.clear();
    for (size_t c = 0; c < prepared.rows[i].size(); ++c) {
      tall.rows.push_back({prepared.columns[c].title, prepared.rows[i][c]});
    }
    out += fmt::format("row {}\n{}", i + 1, ToTerminal(tall, style));
  }
  return out;
}

std::string ToTerminal(const Document& document, const Style& style) {
  Printer printer{style, {}};
  for (const Block& block : document) std::visit(printer, block);
  while (printer.out.ends_with("\n\n")) printer.out.pop_back();
  return printer.out;
}

}  // namespace kernelfleet::report
