#include "common/kernel/slicer.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/status.h"
#include "common/base/strings.h"

namespace kernelfleet::kernel {

// The parts of a statement that count: of a compiled function the parameters
// and the body, but not its decorators, nor annotations and defaults that need
// what a node lacks.
std::vector<NodeId> Slicer::PartsOf(int module, NodeId statement) {
  if (!IsJit(module, statement)) return {statement};
  const ModuleScope& scope = Scope(module);
  const Syntax& syntax = scope.syntax();
  const NodeId def =
      scope.source().functions.at(scope.FunctionAt(statement)).def;
  std::vector<NodeId> out;
  const Function& function =
      scope.source().functions.at(scope.FunctionAt(statement));
  for (const DecoratorUse& use : function.decorators) {
    if (!use.path.ends_with(".jit") || !use.path.starts_with("triton.")) {
      continue;
    }
    const NodeId list = use.call == kNoNode
                            ? kNoNode
                            : syntax.Child(use.call, Field::kArguments);
    if (list != kNoNode && IsClean(module, list)) out.push_back(list);
  }
  if (const NodeId list = syntax.Child(def, Field::kParameters);
      list != kNoNode) {
    for (NodeId param : syntax.Children(list)) {
      for (Field field : {Field::kType, Field::kValue}) {
        const NodeId part = syntax.Child(param, field);
        if (part != kNoNode && IsClean(module, part)) out.push_back(part);
      }
    }
  }
  if (const NodeId body = syntax.Child(def, Field::kBody); body != kNoNode) {
    out.push_back(def);
  }
  return out;
}

void Slicer::Need(const Ref& ref, std::vector<Key>& dependencies) {
  if (ref.kind != Ref::Kind::kDefined) return;
  needed_names_.insert(std::to_string(ref.module) + ":" + ref.name);
  for (const Binding& binding : Scope(ref.module).BindingsOf(ref.name)) {
    dependencies.push_back({ref.module, binding.unit});
    AddStatement(ref.module, binding);
  }
}

void Slicer::AddNames(int module, NodeId root, std::vector<Key>& dependencies) {
  const Syntax& syntax = Scope(module).syntax();
  const NodeId params = syntax.kind(root) == Kind::kFunctionDefinition
                            ? syntax.Child(root, Field::kParameters)
                            : kNoNode;
  const NodeId returns = syntax.kind(root) == Kind::kFunctionDefinition
                             ? syntax.Child(root, Field::kReturnType)
                             : kNoNode;
  const auto inside = [&](NodeId id, NodeId part) {
    return part != kNoNode && id >= part && id < syntax.subtree_end(part);
  };
  for (NodeId node : Scope(module).FreeNames(root)) {
    // Those of a compiled function are parts of their own.
    if (IsJit(module, root) &&
        (inside(node, params) || inside(node, returns))) {
      continue;
    }
    const Ref ref = ResolveNode(module, node);
    Need(ref, dependencies);
  }
}

void Slicer::AddConditions(int module, const Binding& binding,
                           std::vector<Key>& dependencies) {
  const Syntax& syntax = Scope(module).syntax();
  NodeId at = binding.statement;
  while (at != binding.unit) {
    at = syntax.parent(at);
    // Every clause of the statement around it is written.
    for (NodeId id = at; id < syntax.subtree_end(at); ++id) {
      const Kind kind = syntax.kind(id);
      if (kind != Kind::kIfStatement && kind != Kind::kElifClause) continue;
      const NodeId condition = syntax.Child(id, Field::kCondition);
      if (condition == kNoNode || decided_.contains({module, condition})) {
        continue;
      }
      if (IsClean(module, condition)) {
        AddNames(module, condition, dependencies);
      } else {
        const bool value = GuessTruth(module, condition);
        decided_[{module, condition}] = value;
        NoteGuess(module, condition, value ? "true" : "false");
      }
    }
  }
}

void Slicer::AddStatement(int module, const Binding& binding) {
  if (!needed_.insert({module, binding.statement}).second) return;
  std::vector<Key> dependencies;
  AddConditions(module, binding, dependencies);
  if (binding.is_import) {
    const Ref ref = ResolveImport(module, binding, 0);
    Need(ref, dependencies);
  } else {
    const Syntax& syntax = Scope(module).syntax();
    const bool simple =
        syntax.kind(binding.statement) == Kind::kExpressionStatement;
    if (!simple || IsClean(module, binding.statement)) {
      for (NodeId part : PartsOf(module, binding.statement)) {
        AddNames(module, part, dependencies);
      }
    } else {
      // A guess may keep part of the text: what is clean in it counts.
      for (NodeId node : Scope(module).FreeNames(binding.statement)) {
        const Ref ref = ResolveNode(module, node);
        if (IsCleanRef(ref, module, node)) Need(ref, dependencies);
      }
    }
  }
  auto& all = dependencies_[{module, binding.unit}];
  all.insert(all.end(), dependencies.begin(), dependencies.end());
}

absl::StatusOr<Slice> Slicer::Make() {
  modules_.push_back(std::make_unique<ModuleScope>(
      std::string(request_.module), request_.is_package, request_.text));
  if (!request_.module.empty()) {
    module_index_[std::string(request_.module)] = 0;
  }
  const std::string entry(request_.entry);
  if (Scope(0).BindingsOf(entry).empty()) {
    return NotFound(fmt::format("no function '{}' at module level",
                                Shorten(Printable(entry), 80)));
  }
  taken_ = {"triton", "tl"};
  out_names_ = {{"triton", "triton"}, {"triton.language", "tl"}};
  const Ref root{Ref::Kind::kDefined, 0, entry, {}, kNoNode};
  OutName(root, entry);
  std::vector<Key> roots;
  Need(root, roots);
  Slice body;
  for (const Key& unit : roots) WriteUnit(unit);
  body = std::move(out_);
  out_ = Slice();
  out_.guesses = std::move(body.guesses);
  out_.functions = std::move(body.functions);
  WriteLine("import triton", 0);
  WriteLine("import triton.language as tl", 0);
  for (const std::string& line : head_) WriteLine(line, 0);
  out_.text += body.text;
  out_.source_lines.insert(out_.source_lines.end(), body.source_lines.begin(),
                           body.source_lines.end());
  return std::move(out_);
}

absl::StatusOr<Slice> MakeSlice(const SliceRequest& request) {
  return Slicer(request).Make();
}

}  // namespace kernelfleet::kernel
