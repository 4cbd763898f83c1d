// The functions of a file, and which of them Triton compiles.
#ifndef KERNELFLEET_COMMON_KERNEL_FUNCTIONS_H_
#define KERNELFLEET_COMMON_KERNEL_FUNCTIONS_H_

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/kernel/names.h"
#include "common/kernel/syntax.h"

namespace kernelfleet::kernel {

struct DecoratorUse {
  NodeId node = kNoNode;
  // What is written after the @, a call's callee included.
  NodeId expression = kNoNode;
  // The call that configures it, after following a variable; kNoNode: none.
  NodeId call = kNoNode;
  // Canonical path of the callee; empty: unknown.
  std::string path;
};

struct Function {
  NodeId def = kNoNode;
  // The decorated definition, or `def` when there is no decorator.
  NodeId outer = kNoNode;
  std::string_view name;
  bool is_jit = false;
  // Outermost first.
  std::vector<DecoratorUse> decorators;
  // The innermost function around it, as an index; -1: none.
  int enclosing = -1;
};

// All functions in file order. Refers to syntax and names.
class Functions {
 public:
  Functions(const Syntax& syntax, const Names& names);

  const std::vector<Function>& all() const { return all_; }
  const Function& at(int index) const {
    return all_[static_cast<size_t>(index)];
  }
  // The jit function that `name` means inside function `from` (an index, -1:
  // the module), or -1. Of several definitions under conditions, the first.
  int FindJit(std::string_view name, int from) const;
  // The call that made the object bound to a module-level variable.
  NodeId AssignedCall(std::string_view variable) const;

 private:
  void Collect();
  void ReadDecorators(Function& function);
  DecoratorUse ReadDecorator(NodeId decorator) const;
  void FollowLocalWrapper(DecoratorUse& use) const;
  bool MakesJit(const DecoratorUse& use) const;
  bool UsesTritonLanguage(NodeId def) const;
  void MarkJitCalls();

  const Syntax& syntax_;
  const Names& names_;
  std::vector<Function> all_;
  std::unordered_map<std::string_view, NodeId> assigned_calls_;
  // Calls that look like `jit(fn)`.
  std::vector<NodeId> jit_calls_;
  std::unordered_map<std::string_view, std::vector<int>> by_name_;
};

}  // namespace kernelfleet::kernel

#endif  // KERNELFLEET_COMMON_KERNEL_FUNCTIONS_H_
