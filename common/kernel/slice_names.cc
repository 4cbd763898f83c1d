#include <algorithm>
#include <array>

#include "common/kernel/slicer.h"
#include "common/kernel/triton_api.h"

namespace kernelfleet::kernel {
namespace {

constexpr int kMaxDepth = 40;
constexpr size_t kMaxModules = 200;

// Of Python's standard library, what module-level code of kernels uses.
constexpr std::string_view kStandard[] = {
    "os",        "sys",         "math",     "operator",  "functools",
    "itertools", "typing",      "enum",     "importlib", "collections",
    "warnings",  "dataclasses", "logging",  "re",        "platform",
    "string",    "struct",      "abc",      "inspect",   "contextlib",
    "copy",      "random",      "numbers",  "pathlib",   "__future__",
    "types",     "time",        "builtins", "ctypes",    "hashlib"};

std::string_view FirstPart(std::string_view path) {
  return path.substr(0, path.find('.'));
}

bool IsTritonPath(std::string_view path) { return FirstPart(path) == "triton"; }

// What asks for a GPU when the module is imported.
bool AsksForDevice(std::string_view path) {
  for (std::string_view part :
       {"driver", "get_current_target", "get_device", "triton.testing"}) {
    if (path.find(part) != std::string_view::npos) return true;
  }
  return false;
}

std::string ImportablePath(const std::string& canonical) {
  return canonical.starts_with("libdevice")
             ? "triton.language.extra." + canonical
             : canonical;
}

}  // namespace

int Slicer::Load(const std::string& name) {
  if (const auto found = module_index_.find(name);
      found != module_index_.end()) {
    return found->second;
  }
  int index = -1;
  if (request_.lookup && !name.empty() && modules_.size() < kMaxModules) {
    if (const auto source = request_.lookup(name); source.has_value()) {
      index = static_cast<int>(modules_.size());
      modules_.push_back(std::make_unique<ModuleScope>(name, source->is_package,
                                                       source->text));
    }
  }
  module_index_[name] = index;
  return index;
}

Ref Slicer::Resolve(int module, std::string_view name, int depth) {
  if (depth > kMaxDepth) return {};
  const ModuleScope& scope = Scope(module);
  const std::vector<Binding>& bindings = scope.BindingsOf(name);
  for (const Binding& binding : bindings) {
    // Triton itself is there, whatever the other branch says.
    if (!binding.is_import) continue;
    std::string path = scope.Absolute(binding.from);
    if (!binding.imported.empty()) path += "." + binding.imported;
    // Gluon's language has Triton's names, and others; a module of Triton's
    // language has fewer.
    const std::string last = path.substr(path.rfind('.') + 1);
    if (path.find("gluon") != std::string::npos) continue;
    if (last != "triton" && last != "language" && last != "tl") continue;
    const std::string canonical = CanonicalPath(path);
    if (canonical == "triton" || canonical == "triton.language") {
      return {Ref::Kind::kImport, -1, {}, canonical, kNoNode};
    }
  }
  if (bindings.size() == 1 && bindings[0].is_import &&
      bindings[0].unit == bindings[0].statement) {
    return ResolveImport(module, bindings[0], depth + 1);
  }
  if (!bindings.empty()) {
    return {Ref::Kind::kDefined, module, std::string(name), {}, kNoNode};
  }
  for (const std::string& star : scope.star_imports()) {
    const std::string absolute = scope.Absolute(star);
    if (CanonicalPath(absolute) == "triton.language" &&
        EffectOfName(name) != Effect::kUnknown) {
      return {Ref::Kind::kImport,
              -1,
              {},
              "triton.language." + std::string(name),
              kNoNode};
    }
    if (const int other = Load(absolute); other >= 0 && other != module) {
      const Ref found = Resolve(other, name, depth + 1);
      if (found.kind != Ref::Kind::kNone) return found;
    }
  }
  return {};
}

Ref Slicer::ResolveImport(int module, const Binding& binding, int depth) {
  const std::string from = Scope(module).Absolute(binding.from);
  const std::string full =
      binding.imported.empty() ? from : from + "." + binding.imported;
  const auto importable = [&](std::string path) {
    return Ref{Ref::Kind::kImport, -1, {}, std::move(path), kNoNode};
  };
  if (IsTritonPath(from)) return importable(full);
  const bool relative = binding.from.starts_with('.');
  if (!relative && std::find(std::begin(kStandard), std::end(kStandard),
                             FirstPart(from)) != std::end(kStandard)) {
    return importable(full);
  }
  if (const int other = Load(from); other >= 0) {
    if (binding.imported.empty()) {
      return {Ref::Kind::kModule, other, {}, from, kNoNode};
    }
    if (other != module) {
      const Ref found = Resolve(other, binding.imported, depth);
      if (found.kind != Ref::Kind::kNone) return found;
    }
  }
  if (const int other = Load(full); other >= 0) {
    return {Ref::Kind::kModule, other, {}, full, kNoNode};
  }
  const std::string canonical = CanonicalPath(full);
  if (IsTritonPath(canonical) || canonical.starts_with("libdevice")) {
    return importable(ImportablePath(canonical));
  }
  // A namespace of the package, without a file of its own.
  if (binding.imported.empty() && request_.module.starts_with(from + ".")) {
    return {Ref::Kind::kModule, -1, {}, from, kNoNode};
  }
  return {Ref::Kind::kForeign, -1, {}, full, kNoNode};
}

Ref Slicer::ResolveNode(int module, NodeId identifier) {
  Ref ref = Resolve(module, Scope(module).syntax().TextOf(identifier));
  ref.node = identifier;
  return Member(std::move(ref), module, identifier);
}

// utils.op.exp: goes on along the attributes while they name modules.
Ref Slicer::Member(Ref ref, int module, NodeId identifier) {
  const Syntax& syntax = Scope(module).syntax();
  NodeId at = identifier;
  while (ref.kind == Ref::Kind::kModule) {
    const NodeId parent = syntax.parent(at);
    if (syntax.kind(parent) != Kind::kAttribute ||
        syntax.Child(parent, Field::kObject) != at) {
      break;
    }
    const NodeId name = syntax.Child(parent, Field::kAttribute);
    if (name == kNoNode) break;
    const std::string text(syntax.TextOf(name));
    Ref next;
    if (ref.module >= 0) next = Resolve(ref.module, text);
    if (next.kind == Ref::Kind::kNone) {
      const std::string path = ref.path + "." + text;
      const int other = Load(path);
      next = {Ref::Kind::kModule, other, {}, path, kNoNode};
      if (other < 0 && !request_.module.starts_with(path + ".")) {
        next.kind = Ref::Kind::kForeign;
      }
    }
    next.node = parent;
    ref = std::move(next);
    at = parent;
  }
  return ref;
}

std::string Slicer::OutName(const Ref& ref, std::string_view wanted) {
  const std::string key = ref.kind == Ref::Kind::kImport
                              ? ref.path
                              : std::to_string(ref.module) + ":" + ref.name;
  if (const auto found = out_names_.find(key); found != out_names_.end()) {
    return found->second;
  }
  std::string name(wanted);
  for (int i = 2; taken_.contains(name); ++i) {
    name = std::string(wanted) + "_" + std::to_string(i);
  }
  taken_.insert(name);
  out_names_[key] = name;
  if (ref.kind != Ref::Kind::kImport) return name;
  const size_t dot = ref.path.rfind('.');
  if (dot == std::string::npos) {
    head_.push_back("import " + ref.path +
                    (name == ref.path ? "" : " as " + name));
  } else {
    const std::string last = ref.path.substr(dot + 1);
    const std::string tail =
        " import " + last + (name == last ? "" : " as " + name);
    const std::string from = ref.path.substr(0, dot);
    if (from == "triton.language.math") {
      // Most of it moved to libdevice with Triton 3.0.
      head_.insert(head_.end(),
                   {"try:", "    from " + from + tail, "except ImportError:",
                    "    from triton.language.extra.libdevice" + tail});
    } else {
      head_.push_back("from " + from + tail);
    }
  }
  return name;
}

bool Slicer::IsJit(int module, NodeId statement) const {
  const ModuleScope& scope = Scope(module);
  const int index = scope.FunctionAt(statement);
  return index >= 0 && scope.source().functions.at(index).is_jit;
}

bool Slicer::IsCleanRef(const Ref& ref, int module, NodeId node) {
  switch (ref.kind) {
    case Ref::Kind::kNone:
      return true;
    case Ref::Kind::kForeign:
    case Ref::Kind::kModule:
      return false;
    case Ref::Kind::kImport: {
      const Syntax& syntax = Scope(module).syntax();
      while (syntax.kind(syntax.parent(node)) == Kind::kAttribute) {
        node = syntax.parent(node);
      }
      return !AsksForDevice(syntax.TextOf(node)) && !AsksForDevice(ref.path);
    }
    case Ref::Kind::kDefined:
      break;
  }
  for (const Binding& binding : Scope(ref.module).BindingsOf(ref.name)) {
    const Kind kind = Scope(ref.module).syntax().kind(binding.statement);
    // What is assigned is written as a guess when it has to be.
    const bool code = kind == Kind::kFunctionDefinition ||
                      kind == Kind::kClassDefinition ||
                      kind == Kind::kDecoratedDefinition;
    if (binding.is_import) {
      if (!IsCleanRef(ResolveImport(ref.module, binding, 0), ref.module,
                      binding.statement)) {
        return false;
      }
      continue;
    }
    if (!code || IsJit(ref.module, binding.statement)) continue;
    const auto [at, fresh] =
        clean_.try_emplace({ref.module, binding.statement}, true);
    if (fresh) {
      const bool clean = IsClean(ref.module, binding.statement);
      clean_[{ref.module, binding.statement}] = clean;
      if (!clean) return false;
    } else if (!at->second) {
      return false;
    }
  }
  return true;
}

bool Slicer::IsClean(int module, NodeId root) {
  for (NodeId node : Scope(module).FreeNames(root)) {
    if (!IsCleanRef(ResolveNode(module, node), module, node)) return false;
  }
  return true;
}

}  // namespace kernelfleet::kernel
