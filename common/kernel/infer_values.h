// Values written in Python, and what launches and decorators say of a
// parameter. Private to the room.
#ifndef KERNELFLEET_COMMON_KERNEL_INFER_VALUES_H_
#define KERNELFLEET_COMMON_KERNEL_INFER_VALUES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/kernel/infer.h"

namespace kernelfleet::kernel {

// A literal: number, string, True, None, a dtype of triton.language. Small
// products such as 4 * 1024 count. Nothing for any other text.
std::optional<v1::Constant> ReadLiteral(std::string_view text);

v1::Constant IntConstant(int64_t value);
v1::Constant BoolConstant(bool value);
v1::Constant StringConstant(std::string_view value);
v1::Constant DtypeConstant(std::string_view value);
v1::Constant NoneConstant();

struct Said {
  v1::Constant value;
  std::string from;
};

// The value of a meta-parameter in the first autotune configuration; a
// comprehension's variable stands for the first of its list.
std::optional<Said> FromAutotune(const v1::JitFunction& kernel,
                                 const std::string& name);

// One text per launch of what is passed for parameter `index`.
struct Passed {
  std::string text;
  int line = 0;
};
std::vector<Passed> PassedFor(const InferRequest& request, size_t index);

}  // namespace kernelfleet::kernel

#endif  // KERNELFLEET_COMMON_KERNEL_INFER_VALUES_H_
