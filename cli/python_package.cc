#include "cli/python_package.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "common/base/file.h"

namespace kernelfleet::cli {
namespace {

namespace fs = std::filesystem;

// No package is nested deeper.
constexpr int kMaxLevels = 16;
constexpr int64_t kMaxModuleBytes = 8 << 20;

bool IsFile(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

std::optional<kernel::ModuleSource> Read(const fs::path& base,
                                         const std::string& module) {
  std::string relative = module;
  std::replace(relative.begin(), relative.end(), '.', '/');
  for (const bool package : {false, true}) {
    const fs::path path =
        package ? base / relative / "__init__.py" : base / (relative + ".py");
    if (!IsFile(path)) continue;
    auto text = ReadFile(path.string(), kMaxModuleBytes);
    if (text.ok()) return kernel::ModuleSource{*std::move(text), package};
  }
  return {};
}

}  // namespace

PythonPackage::PythonPackage(const std::string& path) {
  std::error_code error;
  fs::path at = fs::absolute(path, error).lexically_normal().parent_path();
  root_ = at.string();
  for (int level = 0; level < kMaxLevels && at.has_relative_path(); ++level) {
    if (IsFile(at / "__init__.py")) root_ = at.parent_path().string();
    at = at.parent_path();
  }
}

std::string PythonPackage::ModuleOf(const std::string& path) const {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error).lexically_normal();
  std::string name = absolute.lexically_relative(root_).string();
  if (name.ends_with(".py")) name.resize(name.size() - 3);
  if (name.ends_with("/__init__")) name.resize(name.size() - 9);
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

std::optional<kernel::ModuleSource> PythonPackage::Find(
    const std::string& from, const std::string& module) {
  const bool usable =
      !module.empty() &&
      std::all_of(module.begin(), module.end(), [](unsigned char c) {
        return std::isalnum(c) || c == '_' || c == '.' || c >= 0x80;
      });
  if (!usable || module.find("..") != std::string::npos) return {};
  const auto [at, fresh] = found_.try_emplace(module);
  if (fresh) {
    at->second = Read(root_, module);
    if (!at->second) {
      std::error_code error;
      at->second = Read(fs::absolute(from, error).parent_path(), module);
    }
  }
  return at->second;
}

}  // namespace kernelfleet::cli
