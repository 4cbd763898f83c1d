// What one launches a kernel with, as people write it: case files in TOML and
// the flags --arg and --const.
//
//   targets = ["cuda:sm_90", "hip:gfx942"]
//   [args]
//   x_ptr = "*fp16:16"          # pointer, divisible by 16
//   y_ptr = "*fp16:16:32"       # … and the tensor lies within 2^32 bits of it:
//                               # tt.pointer_range = 32
//   n = "i32"
//   [constexprs]
//   BLOCK = 1024
//   DTYPE = "tl.float16"        # a dtype; "None" is None; else a string
//   [options]
//   num_warps = 4
//
// A file with several kernels has [[kernel]] tables with a `name` and the same
// keys; what stands above the first one applies to all of them.
#ifndef KERNELFLEET_CLI_CASE_FILE_H_
#define KERNELFLEET_CLI_CASE_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "kernelfleet/v1/case.pb.h"

namespace kernelfleet::cli {

struct KernelCase {
  // Empty: any kernel that no other table names.
  std::string kernel;
  // Arguments in no particular order: the signature decides it.
  v1::CompileCase compile;
  std::vector<v1::Target> targets;
  // "softmax.case.toml:3:1", for messages.
  std::string place;
};

// INVALID_ARGUMENT with file:line:column for anything but the form above.
absl::StatusOr<std::vector<KernelCase>> ParseCaseFile(
    std::string_view file_name, std::string_view text);

// "x_ptr=*fp16:16" and "BLOCK=1024": a flag's words. `what` names the flag.
absl::StatusOr<v1::KernelArg> ParseArgFlag(std::string_view text);
absl::StatusOr<v1::KernelArg> ParseConstFlag(std::string_view text);

// Adds `arg`, or replaces the one of that name.
void PutArg(v1::CompileCase& compile_case, const v1::KernelArg& arg);

}  // namespace kernelfleet::cli

#endif  // KERNELFLEET_CLI_CASE_FILE_H_
