#include "cli/source_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "common/base/file.h"
#include "common/base/status.h"
#include "common/base/strings.h"

namespace kernelfleet::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFiles = 100'000;

std::string Shown(std::string_view path) {
  return Shorten(Printable(path), 200);
}

absl::Status CheckName(const std::string& path) {
  if (Printable(path) == path) return absl::OkStatus();
  return InvalidArgument(fmt::format(
      "{}: the name has control characters or is not UTF-8", Shown(path)));
}

bool IsLeftOut(const fs::directory_entry& entry) {
  const std::string name = entry.path().filename();
  return name.starts_with('.') || name == "__pycache__";
}

absl::Status AddFolder(const std::string& path, std::vector<std::string>& out) {
  std::error_code error;
  fs::recursive_directory_iterator at(
      path, fs::directory_options::skip_permission_denied, error);
  const size_t before = out.size();
  for (const fs::recursive_directory_iterator end; !error && at != end;
       at.increment(error)) {
    if (IsLeftOut(*at)) {
      if (at->is_directory()) at.disable_recursion_pending();
    } else if (at->path().extension() == ".py" && !at->is_symlink() &&
               at->is_regular_file()) {
      out.push_back(at->path());
    }
    if (out.size() > kMaxFiles) {
      return InvalidArgument(
          fmt::format("{}: more than {} Python files", Shown(path), kMaxFiles));
    }
  }
  if (error) return ErrnoError(Shown(path), error.value());
  if (out.size() == before) {
    return InvalidArgument(
        fmt::format("{}: no Python file in this folder", Shown(path)));
  }
  std::sort(out.begin() + static_cast<ptrdiff_t>(before), out.end());
  return absl::OkStatus();
}

}  // namespace

bool IsFolder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

absl::StatusOr<std::vector<std::string>> FindSources(
    const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  for (const std::string& path : paths) {
    KF_RETURN_IF_ERROR(CheckName(path));
    if (!PathExists(path)) {
      return NotFound(fmt::format("{}: no such file or folder", Shown(path)));
    }
    if (IsFolder(path)) {
      KF_RETURN_IF_ERROR(AddFolder(path, out));
    } else {
      out.push_back(path);
    }
  }
  // The same file named twice is one file.
  std::set<std::string> seen;
  std::vector<std::string> once;
  for (std::string& path : out) {
    if (seen.insert(path).second) once.push_back(std::move(path));
  }
  return once;
}

absl::StatusOr<std::string> ReadSource(const std::string& path) {
  KF_RETURN_IF_ERROR(CheckName(path));
  absl::StatusOr<std::string> text = ReadFile(path, kMaxSourceBytes);
  if (text.status().code() == absl::StatusCode::kResourceExhausted) {
    return InvalidArgument(
        fmt::format("{}: larger than {} MiB, which no kernel source is",
                    Shown(path), kMaxSourceBytes >> 20));
  }
  KF_RETURN_IF_ERROR(text.status());
  if (text->find('\0') != std::string::npos || !IsValidUtf8(*text)) {
    return InvalidArgument(
        fmt::format("{}: not Python text (binary or not UTF-8)", Shown(path)));
  }
  return text;
}

std::string CasePathFor(std::string_view source_path) {
  if (source_path.ends_with(".py")) source_path.remove_suffix(3);
  return fmt::format("{}.case.toml", source_path);
}

}  // namespace kernelfleet::cli
