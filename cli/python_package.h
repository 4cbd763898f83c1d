// The Python package around a file: which module the file is, and the text of
// its siblings.
#ifndef KERNELFLEET_CLI_PYTHON_PACKAGE_H_
#define KERNELFLEET_CLI_PYTHON_PACKAGE_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/kernel/slice.h"
#include "kernelfleet/v1/kernel.pb.h"

namespace kernelfleet::cli {

// Reads each file at most once. Not thread-safe.
class PythonPackage {
 public:
  // The package of `path`: everything below the outermost folder around it
  // that has an __init__.py, or the file's own folder.
  explicit PythonPackage(const std::string& path);

  // The folder that absolute imports start from.
  const std::string& root() const { return root_; }

  // The dotted name of a file of the package: "fla.ops.gla.chunk".
  std::string ModuleOf(const std::string& path) const;

  // A module by dotted name; nothing when no file below the root, or beside
  // `from`, is that module.
  std::optional<kernel::ModuleSource> Find(const std::string& from,
                                           const std::string& module);

 private:
  std::string root_;
  std::map<std::string, std::optional<kernel::ModuleSource>> found_;
};

}  // namespace kernelfleet::cli

#endif  // KERNELFLEET_CLI_PYTHON_PACKAGE_H_
