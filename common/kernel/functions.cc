#include "common/kernel/functions.h"

#include <algorithm>

#include "common/kernel/triton_api.h"

namespace kernelfleet::kernel {
namespace {

// triton.jit, triton.runtime.jit, triton.experimental.gluon.jit, and the same
// under a project's own module.
bool IsJitPath(std::string_view path) {
  return path.ends_with(".jit") &&
         path.find("triton") != std::string_view::npos;
}

bool IsTritonDecorator(std::string_view path) {
  return path.starts_with("triton.");
}

}  // namespace

Functions::Functions(const Syntax& syntax, const Names& names)
    : syntax_(syntax), names_(names) {
  Collect();
  for (Function& function : all_) ReadDecorators(function);
  MarkJitCalls();
}

void Functions::Collect() {
  std::vector<int> open;
  for (NodeId id = 0; id < syntax_.size(); ++id) {
    while (
        !open.empty() &&
        id >= syntax_.subtree_end(all_[static_cast<size_t>(open.back())].def)) {
      open.pop_back();
    }
    const Kind kind = syntax_.kind(id);
    if (kind == Kind::kFunctionDefinition) {
      const NodeId name = syntax_.Child(id, Field::kName);
      if (name == kNoNode) continue;
      Function function;
      function.def = id;
      const NodeId parent = syntax_.parent(id);
      function.outer = parent != kNoNode && syntax_.kind(parent) ==
                                                Kind::kDecoratedDefinition
                           ? parent
                           : id;
      function.name = syntax_.TextOf(name);
      function.enclosing = open.empty() ? -1 : open.back();
      open.push_back(static_cast<int>(all_.size()));
      by_name_[function.name].push_back(static_cast<int>(all_.size()));
      all_.push_back(std::move(function));
    } else if (kind == Kind::kAssignment && open.empty()) {
      const NodeId left = syntax_.Child(id, Field::kLeft);
      const NodeId right = syntax_.Child(id, Field::kRight);
      if (left != kNoNode && right != kNoNode &&
          syntax_.kind(right) == Kind::kCall &&
          syntax_.kind(left) == Kind::kIdentifier) {
        assigned_calls_.try_emplace(syntax_.TextOf(left), right);
      }
    } else if (kind == Kind::kCall) {
      const NodeId callee = syntax_.Child(id, Field::kFunction);
      if (callee != kNoNode && syntax_.TextOf(callee).ends_with("jit")) {
        jit_calls_.push_back(id);
      }
    }
  }
}

NodeId Functions::AssignedCall(std::string_view variable) const {
  const auto found = assigned_calls_.find(variable);
  return found == assigned_calls_.end() ? kNoNode : found->second;
}

DecoratorUse Functions::ReadDecorator(NodeId decorator) const {
  DecoratorUse use;
  use.node = decorator;
  use.expression = syntax_.first_child(decorator);
  if (use.expression == kNoNode) return use;
  NodeId callee = use.expression;
  if (syntax_.kind(callee) == Kind::kIdentifier) {
    // @tuned, where tuned = triton.autotune(...).
    if (const NodeId call = AssignedCall(syntax_.TextOf(callee));
        call != kNoNode) {
      callee = call;
    }
  }
  if (syntax_.kind(callee) == Kind::kCall) {
    use.call = callee;
    callee = syntax_.Child(callee, Field::kFunction);
  }
  if (callee == kNoNode) return use;
  use.path = names_.Path(callee);
  if (use.path == "functools.partial" && use.call != kNoNode) {
    // functools.partial(triton.jit, …) decorates like its first argument.
    const NodeId arguments = syntax_.Child(use.call, Field::kArguments);
    const NodeId first =
        arguments == kNoNode ? kNoNode : syntax_.first_child(arguments);
    if (first != kNoNode) use.path = names_.Path(first);
  }
  if (use.path.empty() && syntax_.kind(callee) == Kind::kIdentifier) {
    use.path = std::string(syntax_.TextOf(callee));
    FollowLocalWrapper(use);
  }
  return use;
}

// A function of this file that makes one of Triton's decorators counts as the
// decorator it makes: def tuned(): return triton.autotune(...).
void Functions::FollowLocalWrapper(DecoratorUse& use) const {
  const auto found = by_name_.find(use.path);
  if (found == by_name_.end()) return;
  const NodeId def = at(found->second.front()).def;
  for (NodeId id = def; id < syntax_.subtree_end(def); ++id) {
    if (syntax_.kind(id) != Kind::kAttribute &&
        syntax_.kind(id) != Kind::kIdentifier) {
      continue;
    }
    const std::string path = names_.Path(id);
    if (IsJitPath(path)) {
      use.path = path;
      return;
    }
    if (path == "triton.autotune" || path == "triton.heuristics") {
      use.path = path;
      const NodeId parent = syntax_.parent(id);
      use.call = syntax_.kind(parent) == Kind::kCall ? parent : kNoNode;
      return;
    }
  }
}

bool Functions::MakesJit(const DecoratorUse& use) const {
  return IsJitPath(use.path);
}

// A project's own decorator may wrap triton.jit in another file; then the body
// tells: only compiled code calls tl.load, tl.store or tl.program_id.
bool Functions::UsesTritonLanguage(NodeId def) const {
  for (NodeId id = def; id < syntax_.subtree_end(def); ++id) {
    if (syntax_.kind(id) != Kind::kCall) continue;
    const NodeId callee = syntax_.Child(id, Field::kFunction);
    if (callee == kNoNode || syntax_.kind(callee) != Kind::kAttribute) continue;
    const std::string path = names_.Path(callee);
    if (!path.starts_with("triton.language.")) continue;
    switch (EffectOfPath(path)) {
      case Effect::kLoad:
      case Effect::kStore:
      case Effect::kProgramId:
      case Effect::kReduce:
      case Effect::kDot:
        return true;
      default:
        break;
    }
  }
  return false;
}

void Functions::ReadDecorators(Function& function) {
  if (function.outer == function.def) return;
  bool foreign = false;
  for (NodeId child : syntax_.Children(function.outer)) {
    if (syntax_.kind(child) != Kind::kDecorator) continue;
    DecoratorUse use = ReadDecorator(child);
    function.is_jit |= MakesJit(use);
    foreign |= !IsTritonDecorator(use.path);
    function.decorators.push_back(std::move(use));
  }
  if (!function.is_jit && foreign) {
    // Host functions define kernels inside them; only their own body counts.
    const bool encloses =
        std::any_of(all_.begin(), all_.end(), [&](const Function& other) {
          return other.enclosing >= 0 &&
                 at(other.enclosing).def == function.def;
        });
    function.is_jit = !encloses && UsesTritonLanguage(function.def);
  }
}

// kernel = triton.jit(function)
void Functions::MarkJitCalls() {
  for (NodeId call : jit_calls_) {
    if (!IsJitPath(names_.Path(syntax_.Child(call, Field::kFunction))))
      continue;
    const NodeId arguments = syntax_.Child(call, Field::kArguments);
    if (arguments == kNoNode) continue;
    const NodeId first = syntax_.first_child(arguments);
    if (first == kNoNode || syntax_.kind(first) != Kind::kIdentifier) continue;
    const auto found = by_name_.find(syntax_.TextOf(first));
    if (found == by_name_.end()) continue;
    for (int index : found->second) {
      all_[static_cast<size_t>(index)].is_jit = true;
    }
  }
}

int Functions::FindJit(std::string_view name, int from) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return -1;
  // Innermost scope first.
  for (int scope = from;; scope = at(scope).enclosing) {
    for (int index : found->second) {
      if (at(index).is_jit && at(index).enclosing == scope) return index;
    }
    if (scope < 0) break;
  }
  return -1;
}

}  // namespace kernelfleet::kernel
