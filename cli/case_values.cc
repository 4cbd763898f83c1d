#include "cli/case_values.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>

#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/workflow/workflow.h"

namespace kernelfleet::cli {
namespace {

struct Dtype {
  // Attribute of triton.language, and Triton's own name of that type.
  std::string_view attribute;
  std::string_view name;
};

// triton/language/core.py, Triton 3.9.
constexpr std::array<Dtype, 20> kDtypes = {{
    {"int1", "int1"},
    {"int8", "int8"},
    {"int16", "int16"},
    {"int32", "int32"},
    {"int64", "int64"},
    {"uint8", "uint8"},
    {"uint16", "uint16"},
    {"uint32", "uint32"},
    {"uint64", "uint64"},
    {"float8e5", "fp8e5"},
    {"float8e5b16", "fp8e5b16"},
    {"float8e4nv", "fp8e4nv"},
    {"float8e4b8", "fp8e4b8"},
    {"float8e4b15", "fp8e4b15"},
    {"float16", "fp16"},
    {"bfloat16", "bf16"},
    {"float32", "fp32"},
    {"float64", "fp64"},
    {"half", "fp16"},
    {"double", "fp64"},
}};

std::optional<std::string_view> DtypeOf(std::string_view word) {
  if (!word.starts_with("tl.")) return {};
  word.remove_prefix(3);
  for (const Dtype& dtype : kDtypes) {
    if (dtype.attribute == word) return dtype.name;
  }
  return {};
}

absl::Status ApplyPromise(std::string_view part, bool first,
                          v1::KernelArg& arg) {
  const bool range = part.starts_with("range=") || !first;
  if (part.starts_with("range=")) part.remove_prefix(6);
  const std::optional<int64_t> value = ParseInt(part);
  if (!value || *value <= 0 || *value > 1 << 20) {
    return InvalidArgument(
        fmt::format("'{}' is neither a divisibility such as 16 nor range=32",
                    Shorten(Printable(part), 40)));
  }
  if (range) {
    arg.set_pointer_range(static_cast<int32_t>(*value));
  } else {
    arg.set_divisibility(static_cast<int32_t>(*value));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::KernelArg> ParseArgType(std::string_view text) {
  const auto parts = Split(text, ':');
  v1::KernelArg arg;
  arg.set_type(std::string(Trim(parts[0])));
  KF_RETURN_IF_ERROR(workflow::ValidateType(arg.type()));
  if (parts.size() > 3) {
    return InvalidArgument(
        fmt::format("'{}' has too many parts: expected "
                    "TYPE:DIVISIBILITY:RANGE",
                    Shorten(Printable(text), 80)));
  }
  for (size_t i = 1; i < parts.size(); ++i) {
    KF_RETURN_IF_ERROR(ApplyPromise(Trim(parts[i]), i == 1, arg));
  }
  return arg;
}

v1::Constant WordConstant(std::string_view text) {
  v1::Constant constant;
  if (text == "None") {
    constant.set_none(true);
  } else if (const auto dtype = DtypeOf(text)) {
    constant.set_dtype_value(std::string(*dtype));
  } else {
    constant.set_string_value(std::string(text));
  }
  return constant;
}

v1::Constant FlagConstant(std::string_view text) {
  v1::Constant constant;
  if (const auto integer = ParseInt(text)) {
    constant.set_int_value(*integer);
  } else if (const auto real = ParseDouble(text)) {
    constant.set_float_value(*real);
  } else if (text == "True" || text == "true") {
    constant.set_bool_value(true);
  } else if (text == "False" || text == "false") {
    constant.set_bool_value(false);
  } else if (text.size() >= 2 && text.front() == text.back() &&
             (text.front() == '"' || text.front() == '\'')) {
    constant.set_string_value(std::string(text.substr(1, text.size() - 2)));
  } else {
    constant = WordConstant(text);
  }
  return constant;
}

}  // namespace kernelfleet::cli
