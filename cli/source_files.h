// The Python files that a submission names.
#ifndef KERNELFLEET_CLI_SOURCE_FILES_H_
#define KERNELFLEET_CLI_SOURCE_FILES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace kernelfleet::cli {

// No kernel file that people write comes near.
inline constexpr int64_t kMaxSourceBytes = 8 << 20;

// A file as it is; a folder as all *.py below it in order of name, without
// hidden folders, __pycache__ and links. NOT_FOUND, INVALID_ARGUMENT.
absl::StatusOr<std::vector<std::string>> FindSources(
    const std::vector<std::string>& paths);

bool IsFolder(const std::string& path);

// The text of one file. INVALID_ARGUMENT for what cannot be Python text: too
// large, not UTF-8, NUL bytes, or a name with control characters.
absl::StatusOr<std::string> ReadSource(const std::string& path);

// "dir/softmax.case.toml" for "dir/softmax.py".
std::string CasePathFor(std::string_view source_path);

}  // namespace kernelfleet::cli

#endif  // KERNELFLEET_CLI_SOURCE_FILES_H_
