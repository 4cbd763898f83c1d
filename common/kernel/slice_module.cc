#include "common/kernel/slice_module.h"

#include <utility>

namespace kernelfleet::kernel {
namespace {

constexpr int kMaxNesting = 40;

// Roles in which an identifier names no variable.
bool IsVariable(const Syntax& syntax, NodeId id) {
  const Kind parent = syntax.kind(syntax.parent(id));
  const Field field = syntax.field(id);
  if (parent == Kind::kAttribute) return field == Field::kObject;
  if (parent == Kind::kKeywordArgument) return field != Field::kName;
  if (parent == Kind::kFunctionDefinition || parent == Kind::kClassDefinition) {
    return field != Field::kName;
  }
  return parent != Kind::kDottedName;
}

// Adds the names that a function binds: parameters, targets, its own imports.
void AddLocals(const Syntax& syntax, NodeId def,
               std::unordered_set<std::string_view>& out) {
  const auto targets = [&](NodeId root) {
    for (NodeId id = root; id < syntax.subtree_end(root);) {
      const Kind kind = syntax.kind(id);
      if (kind == Kind::kSubscript || kind == Kind::kAttribute) {
        id = syntax.subtree_end(id);
        continue;
      }
      if (kind == Kind::kIdentifier) out.insert(syntax.TextOf(id));
      ++id;
    }
  };
  for (NodeId id = def; id < syntax.subtree_end(def); ++id) {
    switch (syntax.kind(id)) {
      case Kind::kAssignment:
      case Kind::kAugmentedAssignment:
      case Kind::kForStatement:
      case Kind::kForInClause:
        if (const NodeId left = syntax.Child(id, Field::kLeft);
            left != kNoNode) {
          targets(left);
        }
        break;
      case Kind::kNamedExpression:
        if (const NodeId name = syntax.Child(id, Field::kName);
            name != kNoNode) {
          targets(name);
        }
        break;
      case Kind::kParameters:
      case Kind::kLambdaParameters:
        for (NodeId child : syntax.Children(id)) {
          NodeId name = syntax.Child(child, Field::kName);
          if (syntax.kind(child) == Kind::kIdentifier) name = child;
          if (name == kNoNode) name = syntax.first_child(child);
          if (name != kNoNode) targets(name);
        }
        break;
      default:
        break;
    }
  }
}

}  // namespace

ModuleScope::ModuleScope(std::string name, bool is_package,
                         std::string_view text)
    : name_(std::move(name)),
      is_package_(is_package),
      syntax_(Syntax::Parse(text)),
      source_(syntax_) {
  for (NodeId unit : syntax_.Children(Syntax::root())) Collect(unit, unit);
}

const std::vector<Binding>& ModuleScope::BindingsOf(
    std::string_view name) const {
  static const std::vector<Binding> kNone;
  const auto found = bindings_.find(name);
  return found == bindings_.end() ? kNone : found->second;
}

std::string ModuleScope::Absolute(std::string_view from) const {
  size_t dots = 0;
  while (dots < from.size() && from[dots] == '.') ++dots;
  if (dots == 0) return std::string(from);
  std::string base = name_;
  for (size_t up = is_package_ ? 1 : 0; up < dots; ++up) {
    const size_t dot = base.rfind('.');
    base = dot == std::string::npos ? std::string() : base.substr(0, dot);
  }
  const std::string_view rest = from.substr(dots);
  if (rest.empty()) return base;
  return base.empty() ? std::string(rest) : base + "." + std::string(rest);
}

void ModuleScope::Bind(NodeId unit, NodeId statement, NodeId target) {
  for (NodeId id = target; id < syntax_.subtree_end(target);) {
    const Kind kind = syntax_.kind(id);
    if (kind == Kind::kSubscript || kind == Kind::kAttribute) {
      id = syntax_.subtree_end(id);
      continue;
    }
    if (kind == Kind::kIdentifier) {
      bindings_[syntax_.TextOf(id)].push_back({unit, statement, {}, {}, false});
    }
    ++id;
  }
}

void ModuleScope::CollectImport(NodeId unit, NodeId statement) {
  for (NodeId child : syntax_.Children(statement)) {
    if (syntax_.kind(child) == Kind::kAliasedImport) {
      const NodeId name = syntax_.Child(child, Field::kName);
      const NodeId alias = syntax_.Child(child, Field::kAlias);
      if (name == kNoNode || alias == kNoNode) continue;
      bindings_[syntax_.TextOf(alias)].push_back(
          {unit, statement, std::string(syntax_.TextOf(name)), {}, true});
    } else if (syntax_.kind(child) == Kind::kDottedName) {
      const std::string_view text = syntax_.TextOf(child);
      const std::string_view first = text.substr(0, text.find('.'));
      bindings_[first].push_back(
          {unit, statement, std::string(first), {}, true});
    }
  }
}

void ModuleScope::CollectFrom(NodeId unit, NodeId statement) {
  const NodeId from = syntax_.Child(statement, Field::kModuleName);
  if (from == kNoNode) return;
  const std::string module(syntax_.TextOf(from));
  for (NodeId child : syntax_.Children(statement)) {
    if (child == from) continue;
    if (syntax_.kind(child) == Kind::kWildcardImport) {
      stars_.push_back(module);
      continue;
    }
    NodeId name = child;
    NodeId alias = child;
    if (syntax_.kind(child) == Kind::kAliasedImport) {
      name = syntax_.Child(child, Field::kName);
      alias = syntax_.Child(child, Field::kAlias);
    }
    if (name == kNoNode || alias == kNoNode) continue;
    bindings_[syntax_.TextOf(alias)].push_back(
        {unit, statement, module, std::string(syntax_.TextOf(name)), true});
  }
}

void ModuleScope::Collect(NodeId unit, NodeId statement) {
  int depth = 0;
  for (NodeId at = statement; at != unit && at != kNoNode;
       at = syntax_.parent(at)) {
    if (++depth > kMaxNesting) return;
  }
  switch (syntax_.kind(statement)) {
    case Kind::kImportStatement:
      CollectImport(unit, statement);
      break;
    case Kind::kImportFromStatement:
      CollectFrom(unit, statement);
      break;
    case Kind::kDecoratedDefinition: {
      const NodeId inner = syntax_.Child(statement, Field::kDefinition);
      const NodeId name =
          inner == kNoNode ? kNoNode : syntax_.Child(inner, Field::kName);
      if (name != kNoNode) Bind(unit, statement, name);
      break;
    }
    case Kind::kFunctionDefinition:
    case Kind::kClassDefinition:
      if (const NodeId name = syntax_.Child(statement, Field::kName);
          name != kNoNode) {
        Bind(unit, statement, name);
      }
      break;
    case Kind::kExpressionStatement:
      for (NodeId child : syntax_.Children(statement)) {
        const Kind kind = syntax_.kind(child);
        if (kind != Kind::kAssignment && kind != Kind::kAugmentedAssignment) {
          continue;
        }
        // a = b = value binds both.
        for (NodeId at = child; at != kNoNode;
             at = syntax_.Child(at, Field::kRight)) {
          if (syntax_.kind(at) != Kind::kAssignment &&
              syntax_.kind(at) != Kind::kAugmentedAssignment) {
            break;
          }
          const NodeId left = syntax_.Child(at, Field::kLeft);
          if (left != kNoNode) Bind(unit, statement, left);
        }
      }
      break;
    case Kind::kIfStatement:
    case Kind::kTryStatement:
    case Kind::kElifClause:
    case Kind::kElseClause:
    case Kind::kExceptClause:
    case Kind::kFinallyClause:
    case Kind::kWithStatement:
    case Kind::kBlock:
      for (NodeId child : syntax_.Children(statement)) Collect(unit, child);
      break;
    default:
      break;
  }
}

std::vector<NodeId> ModuleScope::FreeNames(NodeId root) const {
  std::vector<NodeId> out;
  std::unordered_set<std::string_view> locals;
  NodeId locals_end = root;
  for (NodeId id = root; id < syntax_.subtree_end(root); ++id) {
    if (id >= locals_end) locals.clear();
    const Kind kind = syntax_.kind(id);
    if ((kind == Kind::kFunctionDefinition || kind == Kind::kLambda ||
         kind == Kind::kListComprehension ||
         kind == Kind::kGeneratorExpression ||
         kind == Kind::kSetComprehension ||
         kind == Kind::kDictionaryComprehension) &&
        id >= locals_end) {
      AddLocals(syntax_, id, locals);
      locals_end = syntax_.subtree_end(id);
    }
    if (kind != Kind::kIdentifier || !IsVariable(syntax_, id)) continue;
    if (!locals.contains(syntax_.TextOf(id))) out.push_back(id);
  }
  return out;
}

int ModuleScope::FunctionAt(NodeId def) const {
  const auto& all = source_.functions.all();
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].def == def || all[i].outer == def) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace kernelfleet::kernel
