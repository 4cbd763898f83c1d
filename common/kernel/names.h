// What the names of a file stand for: imports and the aliases made of them.
//
//   import triton.language as T
//   exp = T.exp
//   names.Path(<node `exp`>) == "triton.language.exp"
//
// Projects re-export Triton through modules of their own, so a path is also
// canonical when only its last part says Triton: `from mypkg.compat import
// triton, tl`.
#ifndef KERNELFLEET_COMMON_KERNEL_NAMES_H_
#define KERNELFLEET_COMMON_KERNEL_NAMES_H_

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/kernel/syntax.h"

namespace kernelfleet::kernel {

// Immutable after construction. Refers to the syntax, which must outlive it.
class Names {
 public:
  explicit Names(const Syntax& syntax);

  // The dotted path behind an identifier or attribute chain; empty when its
  // first name is none of the file's imports or aliases.
  std::string Path(NodeId expression) const;

  // The path bound to one name; empty: none.
  std::string_view Binding(std::string_view name) const;

  // Whether `from triton.language import *` may bring unknown names.
  bool star_import() const { return star_import_; }

 private:
  void AddImports(NodeId statement, bool inner);
  void AddImportedNames(NodeId statement, bool inner);
  void AddAliases(const std::vector<NodeId>& assignments);
  void Bind(std::string_view name, std::string path, bool inner);

  const Syntax& syntax_;
  std::unordered_map<std::string_view, std::string> bindings_;
  bool star_import_ = false;
};

// The path with the spellings of Triton's modules made one: "triton",
// "triton.language.…", "libdevice.…", "triton_helpers.…".
std::string CanonicalPath(std::string_view path);

}  // namespace kernelfleet::kernel

#endif  // KERNELFLEET_COMMON_KERNEL_NAMES_H_
