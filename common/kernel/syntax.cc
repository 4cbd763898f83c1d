#include "common/kernel/syntax.h"

#include <tree_sitter/api.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "common/base/strings.h"
#include "fmt/format.h"

extern "C" const TSLanguage* tree_sitter_python();

namespace kernelfleet::kernel {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 30;
// A broken file repeats itself; the first few say what is wrong.
constexpr size_t kMaxProblems = 50;

// What becomes of a node of a given symbol.
enum class Fate : uint8_t {
  kKeep,
  // Kept only where the grammar gives it a role.
  kToken,
  kComment,
  // It and all below it are text of the parent.
  kDrop,
};

struct SymbolRow {
  Fate fate = Fate::kDrop;
  Kind kind = Kind::kOther;
};

// The grammar's names as array indices, so that the walk compares no strings.
class Symbols {
 public:
  Symbols() {
    const TSLanguage* language = tree_sitter_python();
    for (uint32_t i = 0; i < ts_language_symbol_count(language); ++i) {
      const auto symbol = static_cast<TSSymbol>(i);
      rows_.push_back(RowOf(ts_language_symbol_name(language, symbol),
                            ts_language_symbol_type(language, symbol)));
    }
    fields_.assign(ts_language_field_count(language) + 1, Field::kNone);
    for (uint32_t i = 1; i < fields_.size(); ++i) {
      fields_[i] = FieldOf(
          ts_language_field_name_for_id(language, static_cast<TSFieldId>(i)));
    }
  }
  SymbolRow row(TSSymbol symbol) const {
    // ERROR's symbol is the largest value of its type.
    return symbol < rows_.size() ? rows_[symbol]
                                 : SymbolRow{Fate::kKeep, Kind::kError};
  }
  Field field(TSFieldId id) const {
    return id < fields_.size() ? fields_[id] : Field::kNone;
  }

 private:
  static SymbolRow RowOf(std::string_view name, TSSymbolType type) {
    if (type != TSSymbolTypeRegular) return {Fate::kToken, Kind::kToken};
    for (std::string_view inside :
         {"string_start", "string_content", "string_end", "escape_sequence",
          "line_continuation"}) {
      if (name == inside) return {Fate::kDrop, Kind::kOther};
    }
    if (name == "comment") return {Fate::kComment, Kind::kOther};
#define KERNELFLEET_CASE(enumerator, text) \
  if (name == text) return {Fate::kKeep, Kind::enumerator};
    KERNELFLEET_SYNTAX_KINDS(KERNELFLEET_CASE)
#undef KERNELFLEET_CASE
    return {Fate::kKeep, Kind::kOther};
  }
  static Field FieldOf(std::string_view name) {
#define KERNELFLEET_CASE(enumerator, text) \
  if (name == text) return Field::enumerator;
    KERNELFLEET_SYNTAX_FIELDS(KERNELFLEET_CASE)
#undef KERNELFLEET_CASE
    return Field::kNone;
  }

  std::vector<SymbolRow> rows_;
  std::vector<Field> fields_;
};

const Symbols& PythonSymbols() {
  static const Symbols symbols;
  return symbols;
}

// Length of the UTF-8 sequence at `at`, or 0 when there is none.
size_t SequenceLength(std::string_view text, size_t at) {
  for (size_t length = 1; length <= 4 && at + length <= text.size(); ++length) {
    if (IsValidUtf8(text.substr(at, length))) return length;
  }
  return 0;
}

}  // namespace

class SyntaxBuilder {
 public:
  explicit SyntaxBuilder(std::string_view text) {
    if (text.size() > kMaxBytes) {
      Problem(0, fmt::format("the file has {} bytes; at most {} are read",
                             text.size(), kMaxBytes));
      text = {};
    }
    syntax_.text_ = std::string(text);
    CleanUtf8();
    FindLines();
  }

  Syntax Build() && {
    const std::unique_ptr<TSParser, decltype(&ts_parser_delete)> parser(
        ts_parser_new(), &ts_parser_delete);
    ts_parser_set_language(parser.get(), tree_sitter_python());
    const std::unique_ptr<TSTree, decltype(&ts_tree_delete)> tree(
        ts_parser_parse_string(parser.get(), nullptr, syntax_.text_.data(),
                               static_cast<uint32_t>(syntax_.text_.size())),
        &ts_tree_delete);
    const TSNode root = ts_tree_root_node(tree.get());
    has_error_ = ts_node_has_error(root);
    syntax_.nodes_.reserve(syntax_.text_.size() / 5 + 16);
    Walk(root);
    return std::move(syntax_);
  }

 private:
  using Node = Syntax::Node;

  void Problem(uint32_t byte, std::string text) {
    if (syntax_.problems_.size() < kMaxProblems) {
      syntax_.problems_.push_back({byte, std::move(text)});
    }
  }

  void CleanUtf8() {
    std::string& text = syntax_.text_;
    if (IsValidUtf8(text)) return;
    bool first = true;
    for (size_t at = 0; at < text.size();) {
      if (const size_t length = SequenceLength(text, at)) {
        at += length;
        continue;
      }
      if (std::exchange(first, false)) {
        Problem(static_cast<uint32_t>(at),
                fmt::format("byte 0x{:02x} is not UTF-8; read as '?'",
                            static_cast<unsigned char>(text[at])));
      }
      text[at++] = '?';
    }
  }

  void FindLines() {
    const std::string& text = syntax_.text_;
    syntax_.line_starts_.push_back(0);
    for (size_t at = text.find('\n'); at != std::string::npos;
         at = text.find('\n', at + 1)) {
      syntax_.line_starts_.push_back(static_cast<uint32_t>(at + 1));
    }
  }

  void Walk(TSNode root) {
    const Symbols& symbols = PythonSymbols();
    TSTreeCursor cursor = ts_tree_cursor_new(root);
    NodeId parent = kNoNode;
    // True when the cursor's node has a node of ours.
    bool more = true;
    while (more) {
      const TSNode node = ts_tree_cursor_current_node(&cursor);
      const SymbolRow row = symbols.row(ts_node_symbol(node));
      const bool kept = Enter(node, row, parent, &cursor);
      // The inside of a broken region is walked too: kernels in it count.
      if (kept && ts_tree_cursor_goto_first_child(&cursor)) {
        parent = Last();
        continue;
      }
      if (kept) Close(Last());
      while (!(more = ts_tree_cursor_goto_next_sibling(&cursor))) {
        if (!ts_tree_cursor_goto_parent(&cursor)) break;
        Close(parent);
        parent = syntax_.nodes_[Syntax::Index(parent)].parent;
      }
    }
    ts_tree_cursor_delete(&cursor);
  }

  // Adds the node if it is one of ours.
  bool Enter(TSNode node, SymbolRow row, NodeId parent,
             const TSTreeCursor* cursor) {
    const ByteRange range{ts_node_start_byte(node), ts_node_end_byte(node)};
    if (has_error_) Check(node, row, range);
    if (row.fate == Fate::kComment) syntax_.comments_.push_back(range);
    if (row.fate == Fate::kDrop || row.fate == Fate::kComment) return false;
    const Field field =
        PythonSymbols().field(ts_tree_cursor_current_field_id(cursor));
    if (row.fate == Fate::kToken && field == Field::kNone) return false;
    syntax_.nodes_.push_back(
        {range.begin, range.end, parent, kNoNode, row.kind, field});
    return true;
  }

  void Check(TSNode node, SymbolRow row, ByteRange range) {
    if (ts_node_is_missing(node)) {
      Problem(range.begin, fmt::format("missing {}", ts_node_type(node)));
    } else if (row.kind == Kind::kError) {
      const std::string_view near =
          std::string_view(syntax_.text_)
              .substr(range.begin, range.end - range.begin);
      const std::string_view line = near.substr(0, near.find('\n'));
      Problem(range.begin,
              fmt::format("not Python: {}", Printable(Shorten(line, 60))));
    }
  }

  NodeId Last() const { return static_cast<NodeId>(syntax_.nodes_.size()) - 1; }
  void Close(NodeId id) {
    syntax_.nodes_[Syntax::Index(id)].subtree_end = Last() + 1;
  }

  Syntax syntax_;
  bool has_error_ = false;
};

Syntax Syntax::Parse(std::string_view text) {
  return SyntaxBuilder(text).Build();
}

NodeId Syntax::Child(NodeId id, Field field) const {
  for (NodeId child : Children(id)) {
    if (this->field(child) == field) return child;
  }
  return kNoNode;
}

NodeId Syntax::Child(NodeId id, Kind kind) const {
  for (NodeId child : Children(id)) {
    if (this->kind(child) == kind) return child;
  }
  return kNoNode;
}

Position Syntax::At(uint32_t byte) const {
  const auto next =
      std::upper_bound(line_starts_.begin(), line_starts_.end(), byte);
  return {static_cast<int>(next - line_starts_.begin()),
          static_cast<int>(byte - *(next - 1)) + 1};
}

}  // namespace kernelfleet::kernel
