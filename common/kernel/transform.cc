#include "common/kernel/transform.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/strings.h"
#include "common/kernel/analyze.h"
#include "common/kernel/transform_rules.h"

namespace kernelfleet::kernel {
namespace {

// docs/tileir-rules.md describes each. In order: later rules may count on what
// earlier ones decided.
struct Rule {
  std::string_view name;
  void (*run)(Draft& draft);
};
constexpr Rule kRules[] = {
    {"extend-configs", &ExtendConfigs},
    {"add-autotuner", &AddAutotuners},
    {"sigmoid", &ExpandSigmoid},
    {"exp2", &FoldExp2},
    {"unsupported-operation", &ReportUnsupported},
    {"descriptor", &ReportAccesses},
    {"approximation", &AdviseApproximation},
    {"backend-test", &AdviseBackendTests},
    {"gate", &PlaceConfigBlock},
};

v1::Change& Add(google::protobuf::RepeatedPtrField<v1::Change>* list,
                std::string_view rule, std::string_view kernel, int line,
                std::string reason) {
  v1::Change& change = *list->Add();
  change.set_rule(std::string(rule));
  change.set_kernel(std::string(kernel));
  change.set_line(line);
  change.set_reason(std::move(reason));
  return change;
}

void AddSubjects(const SourceFile& source, const v1::SourceFacts& facts,
                 Draft& draft) {
  int next = 0;
  for (const Function& function : source.functions.all()) {
    if (!function.is_jit) continue;
    const v1::JitFunction& kernel = facts.kernels(next++);
    if (!draft.options.kernel.empty() &&
        kernel.name() != draft.options.kernel) {
      continue;
    }
    draft.subjects.push_back({&function, &kernel, Classify(kernel)});
  }
}

void SortByLine(google::protobuf::RepeatedPtrField<v1::Change>* changes) {
  std::stable_sort(changes->begin(), changes->end(),
                   [](const v1::Change& a, const v1::Change& b) {
                     return a.line() < b.line();
                   });
}

}  // namespace

v1::Change& Draft::Applied(std::string_view rule, std::string_view kernel,
                           int line, std::string reason) {
  return Add(out_.mutable_changes_applied(), rule, kernel, line,
             std::move(reason));
}

v1::Change& Draft::Declined(std::string_view rule, std::string_view kernel,
                            int line, std::string reason) {
  return Add(out_.mutable_changes_declined(), rule, kernel, line,
             std::move(reason));
}

v1::Change& Draft::Advise(std::string_view rule, std::string_view kernel,
                          int line, std::string reason) {
  return Add(out_.mutable_advice(), rule, kernel, line, std::move(reason));
}

std::string PythonList(const std::vector<std::string>& names) {
  std::string out = "[";
  for (const std::string& name : names) {
    if (out.size() > 1) out += ", ";
    out += fmt::format("\"{}\"", name);
  }
  return out + "]";
}

v1::TransformResult Transform(std::string_view file_name, std::string_view text,
                              const TransformOptions& options) {
  v1::TransformResult out;
  out.set_file(Printable(file_name));
  if (!IsValidUtf8(text)) {
    Add(out.mutable_changes_declined(), "file", "", 1, "the file is not UTF-8");
    return out;
  }
  out.set_optimized_code(std::string(text));
  const Syntax syntax = Syntax::Parse(text);
  if (!syntax.problems().empty()) {
    const SyntaxProblem& problem = syntax.problems().front();
    Add(out.mutable_changes_declined(), "file", "",
        syntax.At(problem.byte).line,
        fmt::format("the file is not Python as it stands: {}", problem.text));
    return out;
  }
  const v1::SourceFacts facts = Analyze(file_name, syntax);
  const SourceFile source(syntax);
  Draft draft(source, facts, options, out);
  AddSubjects(source, facts, draft);
  if (draft.subjects.empty() && !options.kernel.empty()) {
    Add(out.mutable_changes_declined(), "file", "", 1,
        fmt::format("it has no jit function named {}",
                    Shorten(Printable(options.kernel), 80)));
    return out;
  }
  for (const Rule& rule : kRules) rule.run(draft);
  SortByLine(out.mutable_changes_applied());
  SortByLine(out.mutable_changes_declined());
  SortByLine(out.mutable_advice());
  if (draft.edits.empty()) return out;
  std::string edited = draft.edits.Apply(text);
  if (!Syntax::Parse(edited).problems().empty()) {
    out.clear_changes_applied();
    Add(out.mutable_changes_declined(), "file", "", 1,
        "the edited file would not parse; it is left as it was");
    return out;
  }
  out.set_optimized_code(std::move(edited));
  return out;
}

}  // namespace kernelfleet::kernel
