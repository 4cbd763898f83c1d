// The smallest module that compiles one kernel: the function, everything it
// calls, and the constants it reads, out of its own file and the siblings of
// its package. What is left needs Triton and the standard library, nothing
// else. Pure and thread-safe.
//
//   absl::StatusOr<Slice> slice =
//       MakeSlice({.text = text, .module = "pkg.ops.norm", .entry = "fwd",
//                  .lookup = read_sibling});
//
// Branches that ask for Triton's own names stay as they are; those that ask
// for anything else (torch, a device, a version of the project) are decided
// here and listed in `guesses`.
#ifndef KERNELFLEET_COMMON_KERNEL_SLICE_H_
#define KERNELFLEET_COMMON_KERNEL_SLICE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace kernelfleet::kernel {

struct ModuleSource {
  std::string text;
  // An __init__.py: relative imports start from it, not from its parent.
  bool is_package = false;
};

// A module of the user's package by dotted name; nothing for any other.
using ModuleLookup =
    std::function<std::optional<ModuleSource>(const std::string& module)>;

struct SliceRequest {
  std::string_view text;
  // Dotted name of the file's module, as far as it is known.
  std::string_view module;
  bool is_package = false;
  // Name of a function at module level.
  std::string_view entry;
  ModuleLookup lookup;
};

struct Slice {
  std::string text;
  // For each line of `text`, the 1-based line of the user's file; 0 for what
  // came from elsewhere.
  std::vector<int32_t> source_lines;
  // The other jit functions that it holds, as module:name. They are helpers,
  // wherever they are called from or passed to.
  std::vector<std::string> functions;
  // What had to be decided without running the package, one sentence each.
  std::vector<std::string> guesses;
};

// NOT_FOUND when the file defines no such function at module level.
absl::StatusOr<Slice> MakeSlice(const SliceRequest& request);

}  // namespace kernelfleet::kernel

#endif  // KERNELFLEET_COMMON_KERNEL_SLICE_H_
