// The small words inside case files and flags. Private to case_file.
#ifndef KERNELFLEET_CLI_CASE_VALUES_H_
#define KERNELFLEET_CLI_CASE_VALUES_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "kernelfleet/v1/case.pb.h"

namespace kernelfleet::cli {

// "*fp16", "*fp16:16", "*fp16:16:32", "*fp16:range=32", "i32:16": the type and
// what is promised about the value.
absl::StatusOr<v1::KernelArg> ParseArgType(std::string_view text);

// "None", "tl.float16"; anything else is a string.
v1::Constant WordConstant(std::string_view text);

// A flag's value: also numbers, True, False and 'quoted strings'.
v1::Constant FlagConstant(std::string_view text);

}  // namespace kernelfleet::cli

#endif  // KERNELFLEET_CLI_CASE_VALUES_H_
