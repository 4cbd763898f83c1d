#include "cli/infer_kernel.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/kernel/infer.h"

namespace kernelfleet::cli {
PythonPackage& KernelInference::PackageOf(const std::string& path) {
  std::error_code error;
  const std::string folder =
      std::filesystem::absolute(path, error).parent_path().string();
  std::unique_ptr<PythonPackage>& slot = packages_[folder];
  if (slot == nullptr) slot = std::make_unique<PythonPackage>(path);
  return *slot;
}

void KernelInference::AddFacts(const std::string& path,
                               const v1::SourceFacts& facts) {
  for (const v1::Launch& launch : facts.launches()) {
    launches_.emplace_back(path, launch);
  }
}

absl::StatusOr<InferredKernel> KernelInference::Infer(
    const std::string& path, std::string_view text,
    const v1::JitFunction& kernel) {
  PythonPackage& package = PackageOf(path);
  const std::string module = package.ModuleOf(path);
  InferredKernel out;
  out.name = module + ":" + kernel.name();
  kernel::SliceRequest slice;
  slice.text = text;
  slice.module = module;
  slice.is_package = path.ends_with("__init__.py");
  slice.entry = kernel.name();
  slice.lookup = [&](const std::string& name) {
    return package.Find(path, name);
  };
  KF_ASSIGN_OR_RETURN(out.slice, kernel::MakeSlice(slice));
  kernel::InferRequest request;
  request.slice = out.slice.text;
  request.kernel = &kernel;
  for (const auto& [from, launch] : launches_) {
    const bool own = from == path && launch.kernel() == kernel.name();
    const bool other =
        from != path && launch.kernel().ends_with("." + kernel.name());
    if (own || other) request.launches.push_back(&launch);
  }
  out.cases = kernel::Infer(request);
  if (out.cases.empty()) {
    return Internal(fmt::format("{}: the slice of '{}' does not hold it",
                                Printable(path), Printable(kernel.name())));
  }
  return out;
}

}  // namespace kernelfleet::cli
