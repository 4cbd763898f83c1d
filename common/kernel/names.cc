#include "common/kernel/names.h"

#include <utility>

namespace kernelfleet::kernel {
namespace {

std::string_view LastPart(std::string_view path) {
  return path.substr(path.rfind('.') + 1);
}

// `head` followed by what comes after `at` in the path.
std::string Rebase(std::string_view head, std::string_view path, size_t at) {
  std::string out(head);
  if (at < path.size()) out.append(path.substr(at));
  return out;
}

// The end of `part` in the path as a whole component, or npos.
size_t EndOfPart(std::string_view path, std::string_view part) {
  for (size_t at = path.rfind(part); at != std::string_view::npos;
       at = at == 0 ? std::string_view::npos : path.rfind(part, at - 1)) {
    const size_t end = at + part.size();
    if ((at == 0 || path[at - 1] == '.') &&
        (end == path.size() || path[end] == '.')) {
      return end;
    }
  }
  return std::string_view::npos;
}

bool StartsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

}  // namespace

std::string CanonicalPath(std::string_view path) {
  constexpr auto kNone = std::string_view::npos;
  if (const size_t end = EndOfPart(path, "libdevice"); end != kNone) {
    return Rebase("libdevice", path, end);
  }
  if (const size_t end = EndOfPart(path, "tldevice"); end != kNone) {
    return Rebase("libdevice", path, end);
  }
  if (const size_t end = EndOfPart(path, "triton_helpers"); end != kNone) {
    // Inductor's helpers re-export Triton's math module.
    if (StartsWith(path.substr(end), ".math")) {
      return Rebase("triton.language", path, end + 5);
    }
    return Rebase("triton_helpers", path, end);
  }
  if (const size_t end = EndOfPart(path, "tl_math"); end != kNone) {
    return Rebase("triton.language", path, end);
  }
  for (std::string_view language :
       {"triton.language.core", "triton.language.standard",
        "triton.language.math", "triton.language.random",
        "triton.experimental.gluon.language", "triton.language"}) {
    if (const size_t end = EndOfPart(path, language); end != kNone) {
      return Rebase("triton.language", path, end);
    }
  }
  if (const size_t end = EndOfPart(path, "tl"); end != kNone) {
    return Rebase("triton.language", path, end);
  }
  // The last `triton` wins: mypkg.utils.triton.jit is triton.jit, but a
  // module of the project below it (ops.triton.softmax) is not Triton's.
  if (StartsWith(path, "triton.") || path == "triton") return std::string(path);
  if (LastPart(path) == "triton") return "triton";
  return std::string(path);
}

Names::Names(const Syntax& syntax) : syntax_(syntax) {
  std::vector<NodeId> assignments;
  NodeId function_end = 0;
  for (NodeId id = 0; id < syntax.size(); ++id) {
    switch (syntax.kind(id)) {
      case Kind::kFunctionDefinition:
        if (id >= function_end) function_end = syntax.subtree_end(id);
        break;
      case Kind::kImportStatement:
        AddImports(id, id < function_end);
        break;
      case Kind::kImportFromStatement:
        AddImportedNames(id, id < function_end);
        break;
      case Kind::kAssignment:
        if (id >= function_end) assignments.push_back(id);
        break;
      default:
        break;
    }
  }
  AddAliases(assignments);
}

void Names::Bind(std::string_view name, std::string path, bool inner) {
  // A module-level import outranks one inside a function; otherwise the first
  // wins, which is the `try` branch of a try/except import.
  if (inner) {
    bindings_.emplace(name, std::move(path));
  } else {
    bindings_.try_emplace(name, std::move(path));
  }
}

void Names::AddImports(NodeId statement, bool inner) {
  for (NodeId child : syntax_.Children(statement)) {
    if (syntax_.kind(child) == Kind::kAliasedImport) {
      const NodeId name = syntax_.Child(child, Field::kName);
      const NodeId alias = syntax_.Child(child, Field::kAlias);
      if (name == kNoNode || alias == kNoNode) continue;
      Bind(syntax_.TextOf(alias), CanonicalPath(syntax_.TextOf(name)), inner);
    } else if (syntax_.kind(child) == Kind::kDottedName) {
      // `import a.b` binds `a`.
      const std::string_view text = syntax_.TextOf(child);
      const std::string_view first = text.substr(0, text.find('.'));
      Bind(first, std::string(first), inner);
    }
  }
}

void Names::AddImportedNames(NodeId statement, bool inner) {
  const NodeId from = syntax_.Child(statement, Field::kModuleName);
  if (from == kNoNode) return;
  const std::string module(syntax_.TextOf(from));
  for (NodeId child : syntax_.Children(statement)) {
    if (child == from) continue;
    if (syntax_.kind(child) == Kind::kWildcardImport) {
      star_import_ |= CanonicalPath(module) == "triton.language";
      continue;
    }
    NodeId name = child;
    NodeId alias = child;
    if (syntax_.kind(child) == Kind::kAliasedImport) {
      name = syntax_.Child(child, Field::kName);
      alias = syntax_.Child(child, Field::kAlias);
    }
    if (name == kNoNode || alias == kNoNode) continue;
    const std::string_view separator = module.ends_with('.') ? "" : ".";
    std::string path = module;
    path.append(separator).append(syntax_.TextOf(name));
    Bind(syntax_.TextOf(alias), CanonicalPath(path), inner);
  }
}

void Names::AddAliases(const std::vector<NodeId>& assignments) {
  for (NodeId assignment : assignments) {
    const NodeId left = syntax_.Child(assignment, Field::kLeft);
    const NodeId right = syntax_.Child(assignment, Field::kRight);
    if (left == kNoNode || right == kNoNode) continue;
    if (syntax_.kind(left) != Kind::kIdentifier) continue;
    if (std::string path = Path(right); !path.empty()) {
      Bind(syntax_.TextOf(left), std::move(path), false);
    }
  }
}

std::string_view Names::Binding(std::string_view name) const {
  const auto found = bindings_.find(name);
  return found == bindings_.end() ? std::string_view() : found->second;
}

std::string Names::Path(NodeId expression) const {
  // An attribute chain is a left spine: descend, then append on the way back.
  std::vector<std::string_view> attributes;
  NodeId at = expression;
  while (syntax_.kind(at) == Kind::kAttribute) {
    const NodeId object = syntax_.Child(at, Field::kObject);
    const NodeId attribute = syntax_.Child(at, Field::kAttribute);
    if (object == kNoNode || attribute == kNoNode) return {};
    attributes.push_back(syntax_.TextOf(attribute));
    at = object;
  }
  if (syntax_.kind(at) != Kind::kIdentifier) return {};
  const std::string_view start = Binding(syntax_.TextOf(at));
  if (start.empty()) return {};
  if (attributes.empty()) return std::string(start);
  std::string path(start);
  for (auto part = attributes.rbegin(); part != attributes.rend(); ++part) {
    path.append(".").append(*part);
  }
  return CanonicalPath(path);
}

}  // namespace kernelfleet::kernel
