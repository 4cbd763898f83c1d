#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "common/kernel/describe.h"

namespace kernelfleet::kernel {
namespace {

class LaunchFinder {
 public:
  LaunchFinder(const SourceFile& source, v1::SourceFacts& out)
      : source_(source), syntax_(source.syntax), out_(out) {
    for (const v1::JitFunction& kernel : out.kernels()) {
      kernels_.insert(kernel.name());
    }
  }

  void Find() {
    for (NodeId id = 0; id < syntax_.size(); ++id) {
      if (syntax_.kind(id) != Kind::kCall) continue;
      const NodeId callee = syntax_.Child(id, Field::kFunction);
      if (callee == kNoNode) continue;
      if (syntax_.kind(callee) == Kind::kSubscript) {
        Subscripted(id, callee);
      } else if (syntax_.kind(callee) == Kind::kAttribute) {
        Run(id, callee);
      }
    }
  }

 private:
  // The kernel that an expression before [grid] names; empty: none.
  std::string KernelOf(NodeId expression) const {
    // wrap_triton(kernel)[grid] and kernel.fn[grid]
    for (int step = 0; step < 4 && expression != kNoNode; ++step) {
      switch (syntax_.kind(expression)) {
        case Kind::kIdentifier: {
          const std::string name(syntax_.TextOf(expression));
          if (kernels_.contains(name)) return name;
          const std::string_view path = source_.names.Binding(name);
          return std::string(path);
        }
        case Kind::kAttribute: {
          const NodeId name = syntax_.Child(expression, Field::kAttribute);
          if (name == kNoNode) return {};
          const std::string text(syntax_.TextOf(name));
          if (kernels_.contains(text)) return text;
          if (const std::string path = source_.names.Path(expression);
              !path.empty()) {
            return path;
          }
          expression = syntax_.Child(expression, Field::kObject);
          break;
        }
        case Kind::kCall: {
          const NodeId list = syntax_.Child(expression, Field::kArguments);
          expression = list == kNoNode ? kNoNode : syntax_.first_child(list);
          break;
        }
        default:
          return {};
      }
    }
    return {};
  }

  // kernel[grid](arguments)
  void Subscripted(NodeId call, NodeId callee) {
    const NodeId value = syntax_.Child(callee, Field::kValue);
    const std::string kernel = KernelOf(value);
    if (kernel.empty()) return;
    std::string grid;
    for (NodeId child : syntax_.Children(callee)) {
      if (syntax_.field(child) != Field::kSubscript) continue;
      if (!grid.empty()) grid += ", ";
      grid += Quote(syntax_, child);
    }
    Add(call, kernel, std::move(grid));
  }

  // kernel.run(arguments, grid=grid(…)): what TorchInductor writes.
  void Run(NodeId call, NodeId callee) {
    const NodeId name = syntax_.Child(callee, Field::kAttribute);
    const NodeId object = syntax_.Child(callee, Field::kObject);
    if (name == kNoNode || object == kNoNode) return;
    if (syntax_.kind(object) != Kind::kIdentifier ||
        syntax_.TextOf(name) != "run") {
      return;
    }
    const std::string kernel(syntax_.TextOf(object));
    if (kernels_.contains(kernel)) Add(call, kernel, {});
  }

  void Add(NodeId call, const std::string& kernel, std::string grid) {
    v1::Launch& launch = *out_.add_launches();
    launch.set_kernel(kernel);
    launch.set_line(syntax_.line(call));
    SetRange(syntax_, call, launch.mutable_range());
    launch.set_function(Enclosing(call));
    launch.set_grid(std::move(grid));
    const NodeId list = syntax_.Child(call, Field::kArguments);
    if (list == kNoNode) return;
    for (NodeId child : syntax_.Children(list)) {
      const Kind kind = syntax_.kind(child);
      if (kind == Kind::kListSplat || kind == Kind::kDictionarySplat) {
        launch.set_open_ended(true);
        continue;
      }
      v1::LaunchArgument& argument = *launch.add_arguments();
      NodeId value = child;
      if (kind == Kind::kKeywordArgument) {
        const NodeId name = syntax_.Child(child, Field::kName);
        value = syntax_.Child(child, Field::kValue);
        if (name != kNoNode)
          argument.set_name(std::string(syntax_.TextOf(name)));
      }
      argument.set_text(Quote(syntax_, value));
    }
  }

  std::string Enclosing(NodeId at) const {
    for (; at != kNoNode; at = syntax_.parent(at)) {
      if (syntax_.kind(at) != Kind::kFunctionDefinition) continue;
      const NodeId name = syntax_.Child(at, Field::kName);
      return name == kNoNode ? std::string()
                             : std::string(syntax_.TextOf(name));
    }
    return {};
  }

  const SourceFile& source_;
  const Syntax& syntax_;
  v1::SourceFacts& out_;
  std::unordered_set<std::string> kernels_;
};

}  // namespace

void DescribeLaunches(const SourceFile& source, v1::SourceFacts& out) {
  LaunchFinder(source, out).Find();
}

}  // namespace kernelfleet::kernel
