#include "cli/kernel_case.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "cli/case_values.h"
#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/workflow/workflow.h"

namespace kernelfleet::cli {
namespace {

const v1::KernelArg* FindArg(const v1::CompileCase& said,
                             std::string_view name) {
  for (const v1::KernelArg& arg : said.args()) {
    if (arg.name() == name) return &arg;
  }
  return nullptr;
}

// Contradictions that no compiler needs to be asked about.
absl::Status CheckArg(std::string_view where, const v1::Parameter& param,
                      const v1::KernelArg& arg) {
  if (param.is_constexpr() && !arg.type().empty()) {
    return InvalidArgument(
        fmt::format("{}: '{}' is a constexpr: give it a value under "
                    "[constexprs] or with --const, not the type {}",
                    where, param.name(), arg.type()));
  }
  if (param.is_pointer() && arg.type().starts_with("fp")) {
    return InvalidArgument(fmt::format(
        "{}: '{}' is used as a pointer, not as a number: did you mean *{}?",
        where, param.name(), arg.type()));
  }
  return absl::OkStatus();
}

std::optional<v1::KernelArg> FromAutotune(const v1::JitFunction& kernel,
                                          const std::string& name) {
  if (kernel.autotune().configs().empty()) return {};
  const v1::AutotuneConfig& first = kernel.autotune().configs(0);
  const auto at = first.kwargs().find(name);
  if (at == first.kwargs().end()) return {};
  const std::optional<v1::Constant> value = LiteralConstant(at->second);
  if (!value) return {};
  v1::KernelArg arg;
  *arg.mutable_constant() = *value;
  arg.set_guessed_from(
      fmt::format("first autotune configuration, line {}", first.line()));
  return arg;
}

std::optional<v1::KernelArg> FromDefault(const v1::Parameter& param) {
  const std::optional<v1::Constant> value =
      LiteralConstant(param.default_text());
  // A number by default is a run-time argument all the same.
  if (!value || (!param.is_constexpr() && !value->has_none())) return {};
  v1::KernelArg arg;
  *arg.mutable_constant() = *value;
  arg.set_guessed_from(fmt::format("default in line {}", param.line()));
  return arg;
}

void OptionsFromAutotune(const v1::JitFunction& kernel,
                         v1::CompileOptions& options) {
  if (kernel.autotune().configs().empty()) return;
  const auto& from = kernel.autotune().configs(0).options();
  const auto number = [&](const std::string& name) {
    const auto at = from.find(name);
    const auto value = at == from.end() ? std::nullopt : ParseInt(at->second);
    return value && *value > 0 && *value <= 64 ? static_cast<int32_t>(*value)
                                               : 0;
  };
  if (options.num_warps() == 0) options.set_num_warps(number("num_warps"));
  if (options.num_stages() == 0) options.set_num_stages(number("num_stages"));
  if (options.num_ctas() == 0) options.set_num_ctas(number("num_ctas"));
}

}  // namespace

std::optional<v1::Constant> LiteralConstant(std::string_view text) {
  text = Trim(text);
  if (text.empty()) return {};
  // Of strings only those whose text stands for itself.
  const bool quoted = text.size() >= 2 && text.front() == text.back() &&
                      (text.front() == '"' || text.front() == '\'');
  if (quoted && (text.find('\\') != std::string_view::npos ||
                 text.substr(1, text.size() - 2).find(text.front()) !=
                     std::string_view::npos)) {
    return {};
  }
  const v1::Constant constant = FlagConstant(text);
  if (constant.value_case() == v1::Constant::kStringValue && !quoted) return {};
  if (text == "true" || text == "false") return {};
  return constant;
}

absl::StatusOr<v1::CompileCase> CompleteCase(std::string_view file,
                                             const v1::JitFunction& kernel,
                                             const v1::CompileCase& said) {
  const std::string where =
      fmt::format("{}:{}: kernel '{}'", Printable(file), kernel.line(),
                  Printable(kernel.name()));
  v1::CompileCase out;
  *out.mutable_options() = said.options();
  std::vector<std::string> without;
  for (const v1::Parameter& param : kernel.params()) {
    if (param.is_vararg()) {
      return InvalidArgument(fmt::format(
          "{}: takes *{}, which has no fixed signature", where, param.name()));
    }
    std::optional<v1::KernelArg> arg;
    if (const v1::KernelArg* given = FindArg(said, param.name())) {
      KF_RETURN_IF_ERROR(CheckArg(where, param, *given));
      arg = *given;
    }
    if (!arg) arg = FromAutotune(kernel, param.name());
    if (!arg) arg = FromDefault(param);
    if (!arg) {
      without.push_back(param.name());
      continue;
    }
    arg->set_name(param.name());
    *out.add_args() = *std::move(arg);
  }
  if (!without.empty()) {
    return InvalidArgument(fmt::format(
        "{}: nothing says what {} {}: give a case file or --arg NAME=TYPE "
        "and --const NAME=VALUE",
        where, Join(without, ", "), without.size() == 1 ? "is" : "are"));
  }
  OptionsFromAutotune(kernel, *out.mutable_options());
  const absl::Status status = workflow::ValidateCase(out);
  if (!status.ok()) {
    return InvalidArgument(fmt::format("{}: {}", where, Text(status)));
  }
  return out;
}

}  // namespace kernelfleet::cli
