// One module as the slicer sees it: which statement binds each name. Private
// to the room.
#ifndef KERNELFLEET_COMMON_KERNEL_SLICE_MODULE_H_
#define KERNELFLEET_COMMON_KERNEL_SLICE_MODULE_H_

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/kernel/flow.h"
#include "common/kernel/syntax.h"

namespace kernelfleet::kernel {

// A statement at module level, or in a branch at module level, that binds a
// name.
struct Binding {
  // The child of the module that holds the statement, and the statement.
  NodeId unit = kNoNode;
  NodeId statement = kNoNode;
  // For imports: the module with its dots, and the name imported from it
  // (empty: the module itself).
  std::string from;
  std::string imported;
  bool is_import = false;
};

class ModuleScope {
 public:
  ModuleScope(std::string name, bool is_package, std::string_view text);
  ModuleScope(const ModuleScope&) = delete;

  const std::string& name() const { return name_; }
  const Syntax& syntax() const { return syntax_; }
  const SourceFile& source() const { return source_; }

  // Every binding of a name, in file order; empty: none.
  const std::vector<Binding>& BindingsOf(std::string_view name) const;
  const std::vector<std::string>& star_imports() const { return stars_; }

  // The absolute name of `from`, which may start with dots.
  std::string Absolute(std::string_view from) const;

  // The names that a statement reads and does not bind itself, as nodes.
  std::vector<NodeId> FreeNames(NodeId root) const;

  // The index in source().functions of a definition, or -1.
  int FunctionAt(NodeId def) const;

 private:
  void Collect(NodeId unit, NodeId statement);
  void CollectImport(NodeId unit, NodeId statement);
  void CollectFrom(NodeId unit, NodeId statement);
  void Bind(NodeId unit, NodeId statement, NodeId target);

  std::string name_;
  bool is_package_;
  Syntax syntax_;
  SourceFile source_;
  std::unordered_map<std::string_view, std::vector<Binding>> bindings_;
  std::vector<std::string> stars_;
};

}  // namespace kernelfleet::kernel

#endif  // KERNELFLEET_COMMON_KERNEL_SLICE_MODULE_H_
