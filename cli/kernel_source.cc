#include "cli/kernel_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/file.h"
#include "common/base/status.h"
#include "common/base/strings.h"
#include "common/kernel/analyze.h"
#include "google/protobuf/util/json_util.h"

namespace kernelfleet::cli {
namespace {

constexpr int64_t kMaxBytes = int64_t{256} << 20;

}  // namespace

absl::StatusOr<v1::SourceFacts> AnalyzeFile(const std::string& path) {
  KF_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxBytes));
  return kernel::Analyze(path, text);
}

absl::Status KeepKernel(const std::string& name, v1::SourceFacts& facts) {
  auto& kernels = *facts.mutable_kernels();
  std::string names;
  for (const v1::JitFunction& kernel : kernels) {
    names += (names.empty() ? "" : ", ") + kernel.name();
  }
  kernels.erase(std::remove_if(kernels.begin(), kernels.end(),
                               [&](const v1::JitFunction& kernel) {
                                 return kernel.name() != name;
                               }),
                kernels.end());
  if (!kernels.empty()) return absl::OkStatus();
  return NotFound(fmt::format("{} has no jit function '{}'; it has {}",
                              Printable(facts.file()), Printable(name),
                              names.empty() ? "none" : Shorten(names, 400)));
}

absl::Status PrintJson(const google::protobuf::Message& message,
                       Terminal& terminal) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string json;
  const auto status =
      google::protobuf::util::MessageToJsonString(message, &json, options);
  if (!status.ok()) return Internal("cannot write the result as JSON");
  terminal.Print(json);
  return absl::OkStatus();
}

void SayProblems(const v1::SourceFacts& facts, Terminal& terminal) {
  for (const v1::SourceProblem& problem : facts.problems()) {
    terminal.Say(fmt::format("{}:{}:{}: {}\n", Printable(facts.file()),
                             problem.line(), problem.column(),
                             Printable(problem.text())));
  }
}

}  // namespace kernelfleet::cli
