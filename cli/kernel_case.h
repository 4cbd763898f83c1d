// One kernel's signature and what the user said about it, joined into a case.
// Private to plan_submission.
#ifndef KERNELFLEET_CLI_KERNEL_CASE_H_
#define KERNELFLEET_CLI_KERNEL_CASE_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "cli/case_file.h"
#include "kernelfleet/v1/kernel.pb.h"

namespace kernelfleet::cli {

// A Python literal as a constant: numbers, True, False, None, strings without
// escapes, dtypes of triton.language. Nothing for any other expression.
std::optional<v1::Constant> LiteralConstant(std::string_view text);

// Arguments in the order of the signature. What the user left out is taken
// from defaults and from the first autotune configuration, marked in
// `guessed_from`. INVALID_ARGUMENT names every parameter that is still without
// a type or value, and contradictions between signature and case.
absl::StatusOr<v1::CompileCase> CompleteCase(std::string_view file,
                                             const v1::JitFunction& kernel,
                                             const v1::CompileCase& said);

}  // namespace kernelfleet::cli

#endif  // KERNELFLEET_CLI_KERNEL_CASE_H_
