#include "common/kernel/infer_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/base/strings.h"

namespace kernelfleet::kernel {
namespace {

struct DtypeName {
  std::string_view python;
  std::string_view triton;
};

// triton.language's names (torch's are the same) and Triton's short ones.
constexpr DtypeName kDtypes[] = {
    {"float16", "fp16"},     {"bfloat16", "bf16"},
    {"float32", "fp32"},     {"float64", "fp64"},
    {"int1", "int1"},        {"int8", "int8"},
    {"int16", "int16"},      {"int32", "int32"},
    {"int64", "int64"},      {"uint8", "uint8"},
    {"uint16", "uint16"},    {"uint32", "uint32"},
    {"uint64", "uint64"},    {"float8e4nv", "fp8e4nv"},
    {"float8e5", "fp8e5"},   {"half", "fp16"},
    {"float", "fp32"},       {"float8_e4m3fn", "fp8e4nv"},
    {"float8_e5m2", "fp8e5"}};

std::optional<v1::Constant> ReadNumber(std::string_view text) {
  std::string digits;
  for (char c : text) {
    if (c != '_') digits += c;
  }
  if (const auto value = ParseInt(digits)) return IntConstant(*value);
  if (const auto value = ParseDouble(digits)) {
    v1::Constant out;
    out.set_float_value(*value);
    return out;
  }
  return {};
}

std::optional<v1::Constant> ReadProduct(std::string_view text) {
  const auto shift = text.find("<<");
  const auto power = text.find("**");
  const auto times = text.find('*');
  const size_t at = shift != std::string_view::npos   ? shift
                    : power != std::string_view::npos ? power
                                                      : times;
  if (at == std::string_view::npos) return {};
  const size_t width = text[at] == '<' || at == power ? 2 : 1;
  const auto left = ParseInt(Trim(text.substr(0, at)));
  const auto right = ParseInt(Trim(text.substr(at + width)));
  if (!left || !right || *right < 0 || *right > 1 << 20) return {};
  if (*left < 0 || *left > 1 << 20) return {};
  if (width == 1) return IntConstant(*left * *right);
  if (*right > 30) return {};
  if (text[at] == '<') return IntConstant(*left << *right);
  int64_t value = 1;
  for (int64_t i = 0; i < *right; ++i) {
    value *= *left;
    if (value > int64_t{1} << 40) return {};
  }
  return IntConstant(value);
}

// The first item of `for NAME in [a, b]` within a computed list of configs.
std::optional<v1::Constant> FirstOf(std::string_view text,
                                    std::string_view name) {
  const std::string start = fmt::format("for {} in ", name);
  const size_t at = text.find(start);
  if (at == std::string_view::npos) return {};
  std::string_view rest = text.substr(at + start.size());
  if (rest.empty() || (rest[0] != '[' && rest[0] != '(')) return {};
  rest.remove_prefix(1);
  return ReadLiteral(rest.substr(0, rest.find_first_of(",])")));
}

}  // namespace

v1::Constant IntConstant(int64_t value) {
  v1::Constant out;
  out.set_int_value(value);
  return out;
}
v1::Constant BoolConstant(bool value) {
  v1::Constant out;
  out.set_bool_value(value);
  return out;
}
v1::Constant StringConstant(std::string_view value) {
  v1::Constant out;
  out.set_string_value(std::string(value));
  return out;
}
v1::Constant DtypeConstant(std::string_view value) {
  v1::Constant out;
  out.set_dtype_value(std::string(value));
  return out;
}
v1::Constant NoneConstant() {
  v1::Constant out;
  out.set_none(true);
  return out;
}

std::optional<v1::Constant> ReadLiteral(std::string_view text) {
  text = Trim(text);
  if (text.empty()) return {};
  if (text == "True" || text == "False") return BoolConstant(text == "True");
  if (text == "None") return NoneConstant();
  const char quote = text.front();
  if ((quote == '"' || quote == '\'') && text.size() >= 2 &&
      text.back() == quote &&
      text.find_first_of("\\\"'", 1) == text.size() - 1) {
    return StringConstant(text.substr(1, text.size() - 2));
  }
  for (std::string_view wrapper : {"tl.constexpr(", "constexpr("}) {
    if (text.starts_with(wrapper) && text.ends_with(')')) {
      text.remove_prefix(wrapper.size());
      text.remove_suffix(1);
      return ReadLiteral(text);
    }
  }
  const size_t dot = text.rfind('.');
  if (dot != std::string_view::npos) {
    const std::string_view module = text.substr(0, dot);
    if (module == "tl" || module == "torch" || module.ends_with("language")) {
      for (const DtypeName& one : kDtypes) {
        if (one.python == text.substr(dot + 1)) {
          return DtypeConstant(one.triton);
        }
      }
    }
  }
  if (auto number = ReadNumber(text)) return number;
  return ReadProduct(text);
}

std::optional<Said> FromAutotune(const v1::JitFunction& kernel,
                                 const std::string& name) {
  const v1::Autotune& tune = kernel.autotune();
  for (const v1::AutotuneConfig& config : tune.configs()) {
    const auto at = config.kwargs().find(name);
    if (at == config.kwargs().end()) continue;
    const std::string from =
        fmt::format("first autotune configuration, line {}", config.line());
    if (auto value = ReadLiteral(at->second)) return Said{*value, from};
    if (auto value = FirstOf(tune.configs_text(), at->second)) {
      return Said{*value, from};
    }
  }
  return {};
}

std::vector<Passed> PassedFor(const InferRequest& request, size_t index) {
  std::vector<Passed> out;
  const v1::JitFunction& kernel = *request.kernel;
  const std::string& name = kernel.params(static_cast<int>(index)).name();
  for (const v1::Launch* launch : request.launches) {
    size_t position = 0;
    bool splat = false;
    for (const v1::LaunchArgument& argument : launch->arguments()) {
      if (argument.name().empty()) {
        splat |= argument.text().starts_with('*');
        if (position++ == index && !splat) {
          out.push_back({argument.text(), launch->line()});
        }
      } else if (argument.name() == name) {
        out.push_back({argument.text(), launch->line()});
      }
    }
  }
  return out;
}

}  // namespace kernelfleet::kernel
