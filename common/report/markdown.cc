#include <fmt/format.h>

#include "common/base/strings.h"
#include "common/report/document.h"

namespace kernelfleet::report {
namespace {

// Everything that starts markup, links, HTML or a table cell. A backslash
// before ASCII punctuation is that character in every Markdown.
std::string Escape(std::string_view text) {
  std::string out;
  for (const char c : Printable(text)) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '\\':
      case '`':
      case '*':
      case '_':
      case '[':
      case ']':
      case '|':
      case '~':
      case '!':
        out += '\\';
        [[fallthrough]];
      default:
        out += c;
    }
  }
  // What would start a list, heading or rule when it stands first.
  if (!out.empty() &&
      std::string_view("#+-=").find(out[0]) != std::string_view::npos) {
    out.insert(0, "\\");
  }
  return out;
}

struct Printer {
  std::string out;

  void operator()(const Heading& heading) {
    out += fmt::format("{} {}\n\n",
                       std::string(static_cast<size_t>(heading.level), '#'),
                       Escape(heading.text));
  }
  void operator()(const Paragraph& paragraph) {
    out += fmt::format("{}\n\n", Escape(paragraph.text));
  }
  void operator()(const List& list) {
    for (const Item& item : list.items) {
      out += fmt::format("- {}\n", Escape(item.text));
      if (item.quote.empty()) continue;
      out += fmt::format("\n      {}\n", Printable(item.quote));
      if (item.column > 0) {
        out += fmt::format("      {:>{}}\n", "^", item.column);
      }
      out += "\n";
    }
    out += "\n";
  }
  void operator()(const Command& command) {
    out += fmt::format("    {}\n\n", Printable(command.text));
  }
  void operator()(const Table& table) {
    out += "|";
    for (const Column& column : table.columns) {
      out += fmt::format(" {} |", Escape(column.title));
    }
    out += "\n|";
    for (const Column& column : table.columns) {
      out += column.align == Align::kRight ? " ---: |" : " --- |";
    }
    out += "\n";
    for (const auto& row : table.rows) {
      out += "|";
      for (const Cell& cell : row) {
        out += fmt::format(" {} |", Escape(cell.text));
      }
      out += "\n";
    }
    out += "\n";
  }
};

}  // namespace

std::string ToMarkdown(const Document& document) {
  Printer printer;
  for (const Block& block : document) std::visit(printer, block);
  while (printer.out.ends_with("\n\n")) printer.out.pop_back();
  return printer.out;
}

std::string ToCsv(const Table& table) {
  std::string out;
  const auto field = [&](std::string_view text) {
    std::string safe(text);
    // Spreadsheets take these for formulas.
    if (!safe.empty() &&
        std::string_view("=+-@\t\r").find(safe[0]) != std::string_view::npos &&
        !ParseDouble(safe)) {
      safe.insert(0, "'");
    }
    if (safe.find_first_of(",\"\r\n") == std::string::npos) return safe;
    std::string quoted = "\"";
    for (const char c : safe) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
  };
  for (size_t i = 0; i < table.columns.size(); ++i) {
    out += fmt::format("{}{}", i ? "," : "", field(table.columns[i].title));
  }
  out += "\r\n";
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      out += fmt::format("{}{}", i ? "," : "", field(row[i].text));
    }
    out += "\r\n";
  }
  return out;
}

}  // namespace kernelfleet::report
