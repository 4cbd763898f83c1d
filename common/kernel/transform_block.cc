// Where the block of helpers goes.
#include <algorithm>
#include <string>
#include <string_view>

#include "common/kernel/tileir_configs.h"
#include "common/kernel/transform_rules.h"

namespace kernelfleet::kernel {
namespace {

// The name that `import triton` has at module level; empty: none.
std::string_view TritonName(const Syntax& syntax) {
  NodeId function_end = 0;
  for (NodeId id = 0; id < syntax.size(); ++id) {
    if (syntax.kind(id) == Kind::kFunctionDefinition ||
        syntax.kind(id) == Kind::kClassDefinition) {
      function_end = std::max(function_end, syntax.subtree_end(id));
    }
    if (id < function_end || syntax.kind(id) != Kind::kImportStatement) {
      continue;
    }
    for (NodeId child : syntax.Children(id)) {
      const std::string_view text = syntax.TextOf(child);
      if (syntax.kind(child) == Kind::kDottedName &&
          (text == "triton" || text.starts_with("triton."))) {
        return "triton";
      }
      if (syntax.kind(child) != Kind::kAliasedImport) continue;
      const NodeId name = syntax.Child(child, Field::kName);
      const NodeId alias = syntax.Child(child, Field::kAlias);
      if (name != kNoNode && alias != kNoNode &&
          syntax.TextOf(name) == "triton") {
        return syntax.TextOf(alias);
      }
    }
  }
  return {};
}

bool IsImport(Kind kind) {
  return kind == Kind::kImportStatement || kind == Kind::kImportFromStatement ||
         kind == Kind::kFutureImportStatement;
}

// An import, or a compound statement around imports without definitions: the
// usual try/except and if around optional packages.
bool Imports(const Syntax& syntax, NodeId statement) {
  if (IsImport(syntax.kind(statement))) return true;
  if (syntax.kind(statement) != Kind::kTryStatement &&
      syntax.kind(statement) != Kind::kIfStatement) {
    return false;
  }
  bool imports = false;
  for (NodeId id = statement; id < syntax.subtree_end(statement); ++id) {
    const Kind kind = syntax.kind(id);
    if (kind == Kind::kFunctionDefinition || kind == Kind::kClassDefinition) {
      return false;
    }
    imports |= IsImport(kind);
  }
  return imports;
}

// Behind the line that holds `byte`.
uint32_t NextLine(std::string_view text, uint32_t byte) {
  const size_t at = text.find('\n', byte);
  return static_cast<uint32_t>(at == std::string_view::npos ? text.size()
                                                            : at + 1);
}

// After the last import ahead of the module's first definition; without one,
// after the docstring and the leading comments. Never behind `limit`, where
// the helpers are first called.
uint32_t PlaceOf(const Syntax& syntax, uint32_t limit) {
  const std::string_view text = syntax.text();
  uint32_t place = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  for (const ByteRange& comment : syntax.comments()) {
    if (comment.begin != place) break;
    place = NextLine(text, comment.end);
  }
  bool first = true;
  bool found = false;
  for (NodeId child : syntax.Children(syntax.root())) {
    const Kind kind = syntax.kind(child);
    if (kind == Kind::kFunctionDefinition || kind == Kind::kClassDefinition ||
        kind == Kind::kDecoratedDefinition ||
        NextLine(text, syntax.range(child).end) > limit) {
      break;
    }
    // Several statements may share a line with the one found.
    const uint32_t begin = syntax.range(child).begin;
    const bool docstring = first && kind == Kind::kExpressionStatement &&
                           text.substr(begin).find_first_of("\"'") <= 1;
    if (docstring || Imports(syntax, child) || (found && begin < place)) {
      place = NextLine(text, syntax.range(child).end);
      found = true;
    }
    first = false;
  }
  return place;
}

// The block of an earlier run; an empty range: none.
ByteRange FindBlock(const Syntax& syntax) {
  const std::string_view text = syntax.text();
  ByteRange block;
  for (const ByteRange& comment : syntax.comments()) {
    std::string_view line =
        text.substr(comment.begin, comment.end - comment.begin);
    while (line.ends_with('\r')) line.remove_suffix(1);
    if (line == kBlockBegin) block.begin = comment.begin;
    if (line == kBlockEnd) {
      block.end = NextLine(text, comment.end);
      return block;
    }
  }
  return {};
}

std::string WithLineEndsOf(std::string_view file, const std::string& block) {
  const size_t newline = file.find('\n');
  const bool crlf = newline != std::string_view::npos && newline > 0 &&
                    file[newline - 1] == '\r';
  if (!crlf) return block;
  std::string out;
  for (char c : block) {
    if (c == '\n') out += '\r';
    out += c;
  }
  return out;
}

// Adds what the calls of the helpers that are already in the file need.
void CollectUses(const Syntax& syntax, Draft& draft) {
  for (NodeId id = 0; id < syntax.size(); ++id) {
    if (syntax.kind(id) != Kind::kCall) continue;
    const NodeId callee = syntax.Child(id, Field::kFunction);
    const NodeId list = syntax.Child(id, Field::kArguments);
    if (callee == kNoNode || list == kNoNode) continue;
    const std::string_view name = syntax.TextOf(callee);
    const bool decorator = name == kAutotuneFunction;
    if (!decorator && name != kConfigsFunction) continue;
    const NodeId first = syntax.first_child(list);
    if (first == kNoNode || syntax.kind(first) != Kind::kString) continue;
    const std::string_view quoted = syntax.TextOf(first);
    if (quoted.size() < 2) continue;
    draft.classes.insert(std::string(quoted.substr(1, quoted.size() - 2)));
    draft.needs_decorator |= decorator;
  }
}

bool Covers(std::string_view block, const Draft& draft) {
  for (const std::string& name : draft.classes) {
    if (block.find('"' + name + "\": (") == std::string_view::npos)
      return false;
  }
  return !draft.needs_decorator ||
         block.find("def " + std::string(kAutotuneFunction)) !=
             std::string_view::npos;
}

}  // namespace

void PlaceConfigBlock(Draft& draft) {
  if (draft.edits.empty() || draft.classes.empty()) return;
  const Syntax& syntax = draft.source.syntax;
  const std::string_view text = syntax.text();
  CollectUses(syntax, draft);
  const ByteRange old = FindBlock(syntax);
  if (old.end > old.begin &&
      Covers(text.substr(old.begin, old.end - old.begin), draft)) {
    return;
  }
  std::string block = ConfigBlock(
      draft.classes, TritonName(syntax),
      draft.needs_decorator ? Decorator::kInclude : Decorator::kOmit);
  if (old.end > old.begin) {
    draft.edits.Replace(old, WithLineEndsOf(text, block));
    draft.Applied("gate", "", syntax.At(old.begin).line,
                  "the block of helpers gets the rows of one more class");
    return;
  }
  const uint32_t place = PlaceOf(syntax, draft.edits.first());
  const bool ends_line = place == 0 || text[place - 1] == '\n';
  block = (ends_line ? "\n" : "\n\n") + block;
  draft.edits.Insert(place, WithLineEndsOf(text, block));
  draft.Applied("gate", "", syntax.At(place).line,
                "configs are offered only while TileIR is the active backend; "
                "stock Triton's driver is not even asked");
}

}  // namespace kernelfleet::kernel
