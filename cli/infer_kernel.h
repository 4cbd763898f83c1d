// From a kernel in a file to a module and cases that compile on a bare node:
// the slice and the inferred signature, with the package's files at hand.
#ifndef KERNELFLEET_CLI_INFER_KERNEL_H_
#define KERNELFLEET_CLI_INFER_KERNEL_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/python_package.h"
#include "common/kernel/slice.h"
#include "kernelfleet/v1/case.pb.h"
#include "kernelfleet/v1/kernel.pb.h"

namespace kernelfleet::cli {

struct InferredKernel {
  // module:name, as in Slice::functions.
  std::string name;
  kernel::Slice slice;
  // Best first; never empty.
  std::vector<v1::CompileCase> cases;
};

// Of several files of one submission. Not thread-safe.
class KernelInference {
 public:
  // Launches in these files count as evidence, for every kernel that they
  // import.
  void AddFacts(const std::string& path, const v1::SourceFacts& facts);

  absl::StatusOr<InferredKernel> Infer(const std::string& path,
                                       std::string_view text,
                                       const v1::JitFunction& kernel);

 private:
  PythonPackage& PackageOf(const std::string& path);

  std::map<std::string, std::unique_ptr<PythonPackage>> packages_;
  std::vector<std::pair<std::string, v1::Launch>> launches_;
};

}  // namespace kernelfleet::cli

#endif  // KERNELFLEET_CLI_INFER_KERNEL_H_
