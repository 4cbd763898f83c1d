#include <algorithm>

#include "common/base/strings.h"
#include "common/kernel/slicer.h"

namespace kernelfleet::kernel {
namespace {

std::string Blank(int count) {
  return std::string(static_cast<size_t>(std::max(count, 0)), ' ');
}

}  // namespace

void Slicer::WriteLine(const std::string& line, int source_line) {
  out_.text += line;
  out_.text += '\n';
  out_.source_lines.push_back(source_line);
}

bool Slicer::IsNeeded(int module, NodeId node) const {
  const auto at = needed_.lower_bound({module, node});
  return at != needed_.end() && at->first == module &&
         at->second < Scope(module).syntax().subtree_end(node);
}

void Slicer::WriteUnit(Key unit) {
  if (!written_.insert(unit).second) return;
  const std::vector<Key> dependencies = dependencies_[unit];
  for (const Key& dependency : dependencies) WriteUnit(dependency);
  WriteStatement(unit.first, unit.second, 0);
}

void Slicer::WriteBlock(int module, NodeId block, int indent) {
  const size_t before = out_.source_lines.size();
  if (block != kNoNode) {
    for (NodeId child : Scope(module).syntax().Children(block)) {
      WriteStatement(module, child, indent);
    }
  }
  if (out_.source_lines.size() == before) {
    WriteLine(Blank(indent) + "pass", 0);
  }
}

bool Slicer::HasForeignImport(int module, NodeId block) {
  const ModuleScope& scope = Scope(module);
  const Syntax& syntax = scope.syntax();
  for (NodeId id = block; id < syntax.subtree_end(block); ++id) {
    if (syntax.kind(id) != Kind::kImportStatement &&
        syntax.kind(id) != Kind::kImportFromStatement) {
      continue;
    }
    Binding binding;
    binding.is_import = true;
    NodeId name = syntax.Child(id, Field::kModuleName);
    if (name == kNoNode) name = syntax.Child(id, Field::kName);
    if (name == kNoNode) continue;
    if (syntax.kind(name) == Kind::kAliasedImport) {
      name = syntax.Child(name, Field::kName);
    }
    binding.from = std::string(syntax.TextOf(name));
    const Ref ref = ResolveImport(module, binding, 0);
    if (ref.kind == Ref::Kind::kForeign) return true;
  }
  return false;
}

// `if …:`, `except …:` and their kind, with the block behind it.
void Slicer::WriteClause(int module, NodeId clause, int indent) {
  const Syntax& syntax = Scope(module).syntax();
  const NodeId condition = syntax.Child(clause, Field::kCondition);
  NodeId block = syntax.Child(clause, Field::kConsequence);
  if (block == kNoNode) block = syntax.Child(clause, Field::kBody);
  if (block == kNoNode) block = syntax.Child(clause, Kind::kBlock);
  const int line = module == 0 ? syntax.line(clause) : 0;
  std::string head;
  const Kind kind = syntax.kind(clause);
  if (condition != kNoNode) {
    const auto decided = decided_.find({module, condition});
    head = kind == Kind::kElifClause ? "elif " : "if ";
    head += decided == decided_.end() ? Edited(module, condition)
            : decided->second         ? "True"
                                      : "False";
    // A condition over several lines needs its own brackets.
    std::replace(head.begin(), head.end(), '\n', ' ');
  } else if (kind == Kind::kElseClause) {
    head = "else";
  } else if (kind == Kind::kTryStatement) {
    head = "try";
  } else if (kind == Kind::kFinallyClause) {
    head = "finally";
  } else {
    head = "except Exception";
  }
  WriteLine(Blank(indent) + head + ":", line);
  if (kind == Kind::kTryStatement && block != kNoNode &&
      HasForeignImport(module, block)) {
    WriteLine(Blank(indent + 4) + "raise ImportError", 0);
    return;
  }
  const NodeId first = block == kNoNode ? kNoNode : syntax.first_child(block);
  const int column =
      first == kNoNode ? 0 : syntax.At(syntax.range(first).begin).column - 1;
  // A block on the line of its head has no column of its own.
  const bool own_line =
      first != kNoNode && syntax.line(first) != syntax.line(clause);
  WriteBlock(module, block, own_line ? column : indent + 4);
}

void Slicer::WriteStatement(int module, NodeId statement, int indent) {
  if (!IsNeeded(module, statement)) return;
  const Syntax& syntax = Scope(module).syntax();
  switch (syntax.kind(statement)) {
    case Kind::kImportStatement:
    case Kind::kImportFromStatement:
      WriteImport(module, statement, indent);
      break;
    case Kind::kFunctionDefinition:
    case Kind::kDecoratedDefinition:
      WriteFunction(module, statement, indent);
      break;
    case Kind::kExpressionStatement:
      WriteAssignment(module, statement, indent);
      break;
    case Kind::kIfStatement:
    case Kind::kTryStatement:
      WriteClause(module, statement, indent);
      for (NodeId child : syntax.Children(statement)) {
        const Kind kind = syntax.kind(child);
        if (kind == Kind::kElifClause || kind == Kind::kElseClause ||
            kind == Kind::kExceptClause || kind == Kind::kFinallyClause) {
          WriteClause(module, child, indent);
        }
      }
      break;
    case Kind::kWithStatement:
      WriteBlock(module, syntax.Child(statement, Field::kBody), indent);
      break;
    default:
      WriteText(module, syntax.range(statement), indent,
                Renames(module, {statement}));
      break;
  }
}

void Slicer::WriteImport(int module, NodeId statement, int indent) {
  const ModuleScope& scope = Scope(module);
  const Syntax& syntax = scope.syntax();
  const int line = module == 0 ? syntax.line(statement) : 0;
  for (NodeId id = statement; id < syntax.subtree_end(statement); ++id) {
    const Kind kind = syntax.kind(id);
    if (kind != Kind::kIdentifier && kind != Kind::kDottedName) continue;
    const std::string name(syntax.TextOf(id));
    for (const Binding& binding : scope.BindingsOf(name)) {
      if (binding.statement != statement) continue;
      const std::string key = std::to_string(module) + ":" + name;
      if (!needed_names_.contains(key)) continue;
      const std::string out =
          OutName({Ref::Kind::kDefined, module, name, {}, kNoNode}, name);
      const Ref ref = ResolveImport(module, binding, 0);
      if (ref.kind == Ref::Kind::kImport) {
        const size_t dot = ref.path.rfind('.');
        WriteLine(Blank(indent) +
                      (dot == std::string::npos
                           ? "import " + ref.path + " as " + out
                           : "from " + ref.path.substr(0, dot) + " import " +
                                 ref.path.substr(dot + 1) + " as " + out),
                  line);
      } else if (ref.kind == Ref::Kind::kDefined) {
        WriteLine(Blank(indent) + out + " = " + OutName(ref, ref.name), line);
      } else {
        WriteLine(Blank(indent) + out + " = None", line);
      }
      // `import a as a` names it twice.
      if (kind == Kind::kDottedName) id = syntax.subtree_end(id) - 1;
    }
  }
}

std::vector<Slicer::Edit> Slicer::Renames(int module,
                                          const std::vector<NodeId>& roots) {
  std::vector<Edit> edits;
  const Syntax& syntax = Scope(module).syntax();
  for (NodeId root : roots) {
    for (NodeId node : Scope(module).FreeNames(root)) {
      const Ref ref = ResolveNode(module, node);
      if (ref.kind != Ref::Kind::kDefined && ref.kind != Ref::Kind::kImport) {
        continue;
      }
      const bool chain = ref.node != node;
      const std::string_view wanted =
          chain || ref.kind == Ref::Kind::kImport
              ? syntax.TextOf(chain ? syntax.Child(ref.node, Field::kAttribute)
                                    : node)
              : std::string_view(ref.name);
      std::string name = OutName(ref, wanted);
      if (name != syntax.TextOf(ref.node)) {
        edits.push_back({syntax.range(ref.node), std::move(name)});
      }
    }
  }
  return edits;
}

std::string Slicer::Edited(int module, NodeId node) {
  Slice kept;
  std::swap(kept, out_);
  WriteText(module, Scope(module).syntax().range(node), 0,
            Renames(module, {node}));
  std::swap(kept, out_);
  return std::string(Trim(kept.text));
}

void Slicer::WriteText(int module, ByteRange range, int indent,
                       std::vector<Edit> edits) {
  const Syntax& syntax = Scope(module).syntax();
  std::sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) {
    return a.range.begin < b.range.begin;
  });
  std::string line = Blank(indent);
  int number = syntax.At(range.begin).line;
  size_t next = 0;
  uint32_t at = range.begin;
  const auto flush = [&] {
    WriteLine(line, module == 0 ? number : 0);
    line.clear();
  };
  while (at < range.end) {
    if (next < edits.size() && at >= edits[next].range.begin) {
      const Edit& edit = edits[next++];
      if (at > edit.range.begin) continue;
      line += edit.text;
      for (; at < edit.range.end; ++at) {
        if (syntax.text()[at] == '\n') ++number;
      }
      continue;
    }
    const char c = syntax.text()[at++];
    if (c == '\n') {
      flush();
      ++number;
    } else if (c != '\r') {
      line += c;
    }
  }
  flush();
}

void Slicer::WriteFunction(int module, NodeId statement, int indent) {
  const ModuleScope& scope = Scope(module);
  const Syntax& syntax = scope.syntax();
  const int index = scope.FunctionAt(statement);
  if (index < 0 || !scope.source().functions.at(index).is_jit) {
    WriteText(module, syntax.range(statement), indent,
              Renames(module, {statement}));
    return;
  }
  const Function& function = scope.source().functions.at(index);
  if (module != 0 || function.name != request_.entry) {
    out_.functions.push_back(scope.name() + ":" + std::string(function.name));
  }
  std::string decorator = "@triton.jit";
  for (const DecoratorUse& use : function.decorators) {
    if (!use.path.ends_with(".jit") || !use.path.starts_with("triton.")) {
      continue;
    }
    if (use.path == "triton.jit" && use.call != kNoNode) {
      const NodeId list = syntax.Child(use.call, Field::kArguments);
      if (list != kNoNode && IsClean(module, list)) {
        decorator += Edited(module, list);
        std::replace(decorator.begin(), decorator.end(), '\n', ' ');
      }
    } else if (use.path.find("gluon") != std::string::npos) {
      decorator = "@" + Edited(module, use.expression);
    }
  }
  WriteLine(Blank(indent) + decorator,
            module == 0 ? syntax.line(statement) : 0);
  std::vector<Edit> edits = Renames(module, {function.def});
  const NodeId name = syntax.Child(function.def, Field::kName);
  const std::string own(function.name);
  const std::string out =
      OutName({Ref::Kind::kDefined, module, own, {}, kNoNode}, own);
  if (out != own) edits.push_back({syntax.range(name), out});
  const NodeId params = syntax.Child(function.def, Field::kParameters);
  const auto drop = [&](uint32_t begin, NodeId until, std::string text) {
    const uint32_t end = syntax.range(until).end;
    std::erase_if(edits, [&](const Edit& edit) {
      return edit.range.begin >= begin && edit.range.begin < end;
    });
    edits.push_back({{begin, end}, std::move(text)});
  };
  if (params != kNoNode) {
    for (NodeId param : syntax.Children(params)) {
      const NodeId type = syntax.Child(param, Field::kType);
      const NodeId value = syntax.Child(param, Field::kValue);
      if (type != kNoNode && !IsClean(module, type)) {
        const NodeId first = syntax.first_child(param);
        drop(syntax.range(first).end, type, "");
      }
      if (value != kNoNode && !IsClean(module, value)) {
        drop(syntax.range(value).begin, value, "None");
      }
    }
    const NodeId result = syntax.Child(function.def, Field::kReturnType);
    if (result != kNoNode && !IsClean(module, result)) {
      drop(syntax.range(params).end, result, "");
    }
  }
  WriteText(module, syntax.range(function.def), indent, std::move(edits));
}

void Slicer::WriteAssignment(int module, NodeId statement, int indent) {
  const Syntax& syntax = Scope(module).syntax();
  std::vector<Edit> edits;
  const NodeId assignment = syntax.first_child(statement);
  const NodeId right =
      assignment == kNoNode ? kNoNode : syntax.Child(assignment, Field::kRight);
  if (right != kNoNode && !IsClean(module, right)) {
    const NodeId left = syntax.Child(assignment, Field::kLeft);
    const std::string value =
        GuessValue(module, right,
                   left == kNoNode ? std::string_view() : syntax.TextOf(left));
    NoteGuess(module, right, value);
    edits = Renames(module, {left});
    edits.push_back({syntax.range(right), value});
    WriteText(module, syntax.range(statement), indent, std::move(edits));
    return;
  }
  WriteText(module, syntax.range(statement), indent,
            Renames(module, {statement}));
}

}  // namespace kernelfleet::kernel
