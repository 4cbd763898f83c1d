#include "cli/case_file.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include "cli/case_values.h"
#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/workflow/target.h"
#include "common/workflow/workflow.h"

namespace kernelfleet::cli {
namespace {

std::string Shown(std::string_view text) {
  return Shorten(Printable(text), 80);
}

class Reader {
 public:
  explicit Reader(std::string_view file) : file_(Printable(file)) {}

  std::string Place(const toml::source_region& region) const {
    return fmt::format("{}:{}:{}", file_, region.begin.line,
                       region.begin.column);
  }
  absl::Status Error(const toml::source_region& region,
                     std::string_view text) const {
    return InvalidArgument(fmt::format("{}: {}", Place(region), text));
  }
  absl::Status Error(const toml::node& node, std::string_view text) const {
    return Error(node.source(), text);
  }

  absl::Status ReadTable(const toml::table& table, bool top, KernelCase& out);
  absl::StatusOr<v1::Constant> ReadConstant(const toml::node& node, int depth);

 private:
  absl::Status ReadArgs(const toml::node& node, KernelCase& out);
  absl::StatusOr<v1::KernelArg> ReadArg(const toml::node& node);
  absl::StatusOr<v1::KernelArg> ReadArgTable(const toml::table& table);
  absl::Status ReadConstexprs(const toml::node& node, KernelCase& out);
  absl::Status ReadOptions(const toml::node& node, KernelCase& out);
  absl::Status ReadTargets(const toml::node& node, KernelCase& out);
  absl::StatusOr<v1::Constant> ReadTaggedConstant(const toml::table& table);

  std::string file_;
};

absl::StatusOr<v1::Constant> Reader::ReadTaggedConstant(
    const toml::table& table) {
  v1::Constant constant;
  if (table.size() == 1) {
    // The pair lives in the iterator.
    const auto first = table.begin();
    const auto& [key, node] = *first;
    const std::optional<std::string> word = node.value_exact<std::string>();
    if (word && key.str() == "string") {
      constant.set_string_value(*word);
      return constant;
    }
    if (word && key.str() == "function") {
      constant.set_function_value(*word);
      return constant;
    }
    if (word && key.str() == "dtype") {
      constant = WordConstant("tl." + *word);
      if (constant.value_case() == v1::Constant::kDtypeValue) return constant;
      return Error(node, fmt::format("unknown dtype '{}': expected one of "
                                     "triton.language, such as float16",
                                     Shown(*word)));
    }
  }
  return Error(table,
               "expected {string = …}, {dtype = …} or {function = …} with a "
               "word in quotes");
}

absl::StatusOr<v1::Constant> Reader::ReadConstant(const toml::node& node,
                                                  int depth) {
  v1::Constant constant;
  if (const auto integer = node.value_exact<int64_t>()) {
    constant.set_int_value(*integer);
  } else if (const auto real = node.value_exact<double>()) {
    constant.set_float_value(*real);
  } else if (const auto flag = node.value_exact<bool>()) {
    constant.set_bool_value(*flag);
  } else if (const auto word = node.value_exact<std::string>()) {
    return WordConstant(*word);
  } else if (const toml::table* table = node.as_table()) {
    return ReadTaggedConstant(*table);
  } else if (const toml::array* items = node.as_array(); items && depth < 8) {
    constant.mutable_tuple();
    for (const toml::node& item : *items) {
      KF_ASSIGN_OR_RETURN(*constant.mutable_tuple()->add_items(),
                          ReadConstant(item, depth + 1));
    }
  } else {
    return Error(node,
                 "expected a number, a boolean, a string or a short array");
  }
  return constant;
}

absl::StatusOr<v1::KernelArg> Reader::ReadArgTable(const toml::table& table) {
  v1::KernelArg arg;
  for (const auto& [key, node] : table) {
    if (key.str() == "type" && node.is_string()) {
      arg.set_type(*node.value<std::string>());
      const absl::Status status = workflow::ValidateType(arg.type());
      if (!status.ok()) return Error(node, Text(status));
      continue;
    }
    const auto number = node.value_exact<int64_t>();
    const bool fits = number && *number >= 0 && *number <= 1 << 20;
    if (key.str() == "divisibility" && fits) {
      arg.set_divisibility(static_cast<int32_t>(*number));
    } else if (key.str() == "range" && fits) {
      arg.set_pointer_range(static_cast<int32_t>(*number));
    } else {
      return Error(node,
                   "expected type = \"*fp16\", divisibility = 16 or "
                   "range = 32");
    }
  }
  if (arg.type().empty()) return Error(table, "an argument needs a type");
  return arg;
}

absl::StatusOr<v1::KernelArg> Reader::ReadArg(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) {
    absl::StatusOr<v1::KernelArg> arg = ParseArgType(*text);
    if (!arg.ok()) return Error(node, Text(arg.status()));
    return arg;
  }
  if (const toml::table* table = node.as_table()) return ReadArgTable(*table);
  // A plain value: the argument is specialised on it.
  v1::KernelArg arg;
  KF_ASSIGN_OR_RETURN(*arg.mutable_constant(), ReadConstant(node, 0));
  return arg;
}

absl::Status Reader::ReadArgs(const toml::node& node, KernelCase& out) {
  const toml::table* table = node.as_table();
  if (table == nullptr) return Error(node, "[args] must be a table");
  for (const auto& [key, value] : *table) {
    KF_ASSIGN_OR_RETURN(v1::KernelArg arg, ReadArg(value));
    arg.set_name(std::string(key.str()));
    v1::CompileCase alone;
    *alone.add_args() = arg;
    const absl::Status status = workflow::ValidateCase(alone);
    if (!status.ok()) return Error(key.source(), Text(status));
    PutArg(out.compile, arg);
  }
  return absl::OkStatus();
}

absl::Status Reader::ReadConstexprs(const toml::node& node, KernelCase& out) {
  const toml::table* table = node.as_table();
  if (table == nullptr) return Error(node, "[constexprs] must be a table");
  for (const auto& [key, value] : *table) {
    v1::KernelArg arg;
    arg.set_name(std::string(key.str()));
    KF_ASSIGN_OR_RETURN(*arg.mutable_constant(), ReadConstant(value, 0));
    PutArg(out.compile, arg);
  }
  return absl::OkStatus();
}

absl::Status Reader::ReadOptions(const toml::node& node, KernelCase& out) {
  const toml::table* table = node.as_table();
  if (table == nullptr) return Error(node, "[options] must be a table");
  v1::CompileOptions& options = *out.compile.mutable_options();
  struct Known {
    std::string_view name;
    void (v1::CompileOptions::*set)(int32_t);
  };
  constexpr Known kKnown[] = {
      {"num_warps", &v1::CompileOptions::set_num_warps},
      {"num_stages", &v1::CompileOptions::set_num_stages},
      {"num_ctas", &v1::CompileOptions::set_num_ctas},
  };
  for (const auto& [key, value] : *table) {
    const Known* known = nullptr;
    for (const Known& k : kKnown) {
      if (k.name == key.str()) known = &k;
    }
    if (known != nullptr) {
      const auto number = value.value_exact<int64_t>();
      if (!number || *number < 1 || *number > 1024) {
        return Error(
            value, fmt::format("{} must be a small whole number", known->name));
      }
      (options.*known->set)(static_cast<int32_t>(*number));
    } else {
      KF_ASSIGN_OR_RETURN((*options.mutable_extra())[std::string(key.str())],
                          ReadConstant(value, 0));
    }
  }
  const absl::Status status = workflow::ValidateCase(out.compile);
  return status.ok() ? status : Error(node, Text(status));
}

absl::Status Reader::ReadTargets(const toml::node& node, KernelCase& out) {
  const toml::array* items = node.as_array();
  if (items == nullptr) {
    return Error(node, "targets must be an array, such as [\"cuda:sm_90\"]");
  }
  out.targets.clear();
  for (const toml::node& item : *items) {
    const auto name = item.value_exact<std::string>();
    if (!name) return Error(item, "a target must be a string");
    absl::StatusOr<v1::Target> target = workflow::ParseTarget(*name);
    if (!target.ok()) return Error(item, Text(target.status()));
    out.targets.push_back(*std::move(target));
  }
  return absl::OkStatus();
}

absl::Status Reader::ReadTable(const toml::table& table, bool top,
                               KernelCase& out) {
  for (const auto& [key, node] : table) {
    const std::string_view name = key.str();
    absl::Status status;
    if (name == "args") {
      status = ReadArgs(node, out);
    } else if (name == "constexprs") {
      status = ReadConstexprs(node, out);
    } else if (name == "options") {
      status = ReadOptions(node, out);
    } else if (name == "targets") {
      status = ReadTargets(node, out);
    } else if (name == "name" && node.is_string()) {
      out.kernel = *node.value<std::string>();
    } else if (name != "kernel" || !top) {
      status =
          Error(key.source(),
                fmt::format("unknown key '{}': expected name, targets, args, "
                            "constexprs, options{}",
                            Shown(name), top ? " or [[kernel]] tables" : ""));
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::pair<std::string_view, std::string_view>> SplitFlag(
    std::string_view flag, std::string_view form, std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return InvalidArgument(
        fmt::format("{} '{}': expected {}", flag, Shown(text), form));
  }
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

absl::StatusOr<v1::KernelArg> Checked(std::string_view flag,
                                      v1::KernelArg arg) {
  v1::CompileCase alone;
  *alone.add_args() = arg;
  const absl::Status status = workflow::ValidateCase(alone);
  if (status.ok()) return arg;
  return InvalidArgument(fmt::format("{}: {}", flag, Text(status)));
}

}  // namespace

absl::StatusOr<std::vector<KernelCase>> ParseCaseFile(
    std::string_view file_name, std::string_view text) {
  Reader reader(file_name);
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    return reader.Error(parsed.error().source(),
                        Printable(parsed.error().description()));
  }
  const toml::table& root = parsed.table();
  KernelCase common;
  common.place = reader.Place(root.source());
  KF_RETURN_IF_ERROR(reader.ReadTable(root, true, common));
  const toml::node* kernels = root.get("kernel");
  if (kernels == nullptr) return std::vector<KernelCase>{common};
  const toml::array* tables = kernels->as_array();
  if (tables == nullptr || !tables->is_array_of_tables()) {
    return reader.Error(*kernels, "kernels are written as [[kernel]] tables");
  }
  std::vector<KernelCase> out;
  for (const toml::node& node : *tables) {
    KernelCase one = common;
    one.place = reader.Place(node.source());
    KF_RETURN_IF_ERROR(reader.ReadTable(*node.as_table(), false, one));
    if (one.kernel.empty()) return reader.Error(node, "a kernel needs a name");
    for (const KernelCase& other : out) {
      if (other.kernel == one.kernel) {
        return reader.Error(
            node, fmt::format("kernel '{}' is given twice", Shown(one.kernel)));
      }
    }
    out.push_back(std::move(one));
  }
  return out;
}

absl::StatusOr<v1::KernelArg> ParseArgFlag(std::string_view text) {
  KF_ASSIGN_OR_RETURN(
      const auto parts,
      SplitFlag("--arg", "NAME=TYPE, such as x_ptr=*fp16:16", text));
  absl::StatusOr<v1::KernelArg> arg = ParseArgType(parts.second);
  if (!arg.ok()) {
    return InvalidArgument(
        fmt::format("--arg {}: {}", Shown(parts.first), Text(arg.status())));
  }
  arg->set_name(std::string(parts.first));
  return Checked("--arg", *std::move(arg));
}

absl::StatusOr<v1::KernelArg> ParseConstFlag(std::string_view text) {
  KF_ASSIGN_OR_RETURN(
      const auto parts,
      SplitFlag("--const", "NAME=VALUE, such as BLOCK=1024", text));
  v1::KernelArg arg;
  arg.set_name(std::string(parts.first));
  *arg.mutable_constant() = FlagConstant(parts.second);
  return Checked("--const", std::move(arg));
}

void PutArg(v1::CompileCase& compile_case, const v1::KernelArg& arg) {
  for (v1::KernelArg& other : *compile_case.mutable_args()) {
    if (other.name() == arg.name()) {
      other = arg;
      return;
    }
  }
  *compile_case.add_args() = arg;
}

}  // namespace kernelfleet::cli
