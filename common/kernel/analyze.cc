#include "common/kernel/analyze.h"

#include <unordered_map>

#include "common/base/strings.h"
#include "common/kernel/describe.h"
#include "common/kernel/evidence.h"
#include "common/kernel/flow.h"
#include "common/kernel/lanes.h"
#include "common/kernel/syntax.h"

namespace kernelfleet::kernel {
namespace {

constexpr size_t kQuotedBytes = 200;

void DescribeParams(const SourceFile& source, const Flow& flow,
                    v1::JitFunction& out) {
  for (const FlowParam& param : flow.params) {
    v1::Parameter* described = out.add_params();
    described->set_name(std::string(param.name));
    described->set_line(source.syntax.line(param.node));
    described->set_is_constexpr(param.is_constexpr);
    described->set_is_vararg(param.is_vararg);
    if (param.annotation != kNoNode) {
      described->set_annotation(Quote(source.syntax, param.annotation));
    }
    if (param.default_value != kNoNode) {
      described->set_default_text(Quote(source.syntax, param.default_value));
    }
  }
}

void DescribeScope(const SourceFile& source, const Function& function,
                   v1::JitFunction& out) {
  const Syntax& syntax = source.syntax;
  for (NodeId at = syntax.parent(function.def); at != kNoNode;
       at = syntax.parent(at)) {
    const Kind kind = syntax.kind(at);
    if (kind != Kind::kFunctionDefinition && kind != Kind::kClassDefinition) {
      continue;
    }
    const NodeId name = syntax.Child(at, Field::kName);
    if (name != kNoNode) out.add_scope(std::string(syntax.TextOf(name)));
  }
  // Collected from the inside; read from the outside.
  for (int i = 0, j = out.scope_size() - 1; i < j; ++i, --j) {
    out.mutable_scope()->SwapElements(i, j);
  }
}

void DescribeFunction(const SourceFile& source, int index,
                      v1::JitFunction& out) {
  const Syntax& syntax = source.syntax;
  const Function& function = source.functions.at(index);
  out.set_name(std::string(function.name));
  out.set_line(syntax.line(function.def));
  out.set_first_line(syntax.line(function.outer));
  const ByteRange range = syntax.range(function.outer);
  out.set_end_line(
      syntax.At(range.end > range.begin ? range.end - 1 : range.end).line);
  SetRange(syntax, function.outer, out.mutable_range());
  const Flow flow = BuildFlow(source, index);
  const Lanes lanes(source, flow);
  DescribeParams(source, flow, out);
  DescribeScope(source, function, out);
  DescribeDecorators(source, function, out);
  DescribeAccesses(source, flow, lanes, out);
  DescribeCalls(source, flow, out);
  for (int callee : flow.callees) {
    out.add_calls(std::string(source.functions.at(callee).name));
  }
  for (const std::string& path : flow.foreign) out.add_foreign_calls(path);
  *out.mutable_evidence() = FindEvidence(source, flow, lanes);
}

void LinkCallers(v1::SourceFacts& facts) {
  std::unordered_map<std::string, std::vector<std::string>> callers;
  for (const v1::JitFunction& kernel : facts.kernels()) {
    for (const std::string& callee : kernel.calls()) {
      if (callee != kernel.name()) callers[callee].push_back(kernel.name());
    }
  }
  for (v1::JitFunction& kernel : *facts.mutable_kernels()) {
    const auto found = callers.find(kernel.name());
    kernel.set_is_entry(found == callers.end());
    if (found == callers.end()) continue;
    for (std::string& caller : found->second) kernel.add_callers(caller);
  }
}

}  // namespace

std::string Quote(const Syntax& syntax, NodeId node) {
  if (node == kNoNode) return {};
  const std::string_view text = syntax.TextOf(node);
  if (text.size() <= kQuotedBytes &&
      text.find('\n') == std::string_view::npos) {
    return std::string(text);
  }
  // A line break and the indent behind it read as one blank.
  std::string line;
  for (char c : text) {
    const bool blank = c == '\n' || c == '\r' || c == '\t' || c == ' ';
    if (!blank) {
      line.push_back(c);
    } else if (!line.empty() && line.back() != ' ') {
      line.push_back(' ');
    }
  }
  return Shorten(line, kQuotedBytes);
}

void SetRange(const Syntax& syntax, NodeId node, v1::SourceRange* range) {
  const ByteRange bytes = syntax.range(node);
  range->set_begin(bytes.begin);
  range->set_end(bytes.end);
}

namespace {

void AddFacts(const SourceFile& source, v1::SourceFacts& out) {
  for (size_t i = 0; i < source.functions.all().size(); ++i) {
    if (!source.functions.all()[i].is_jit) continue;
    DescribeFunction(source, static_cast<int>(i), *out.add_kernels());
  }
  DescribeInductor(source, out);
}

void AddProblems(const Syntax& syntax, v1::SourceFacts& out) {
  for (const SyntaxProblem& problem : syntax.problems()) {
    const Position at = syntax.At(problem.byte);
    v1::SourceProblem* described = out.add_problems();
    described->set_line(at.line);
    described->set_column(at.column);
    described->set_text(problem.text);
  }
}

// TorchInductor's output keeps each kernel's source in a string:
// async_compile.triton('name', '''…'''). All of them as one text, each where it
// stands in the file and blanks elsewhere, so that lines and bytes agree; empty
// when there is none.
std::string EmbeddedSources(const Syntax& syntax) {
  std::string out;
  for (NodeId id = 0; id < syntax.size(); ++id) {
    if (syntax.kind(id) != Kind::kCall) continue;
    const NodeId callee = syntax.Child(id, Field::kFunction);
    const NodeId arguments = syntax.Child(id, Field::kArguments);
    if (callee == kNoNode || arguments == kNoNode) continue;
    if (!syntax.TextOf(callee).ends_with("async_compile.triton")) continue;
    for (NodeId argument : syntax.Children(arguments)) {
      const std::string_view text = syntax.TextOf(argument);
      if (syntax.kind(argument) != Kind::kString || text.size() < 6) continue;
      if (!text.starts_with("'''") && !text.starts_with("\"\"\"")) continue;
      if (out.empty()) {
        out.assign(syntax.text().size(), ' ');
        for (size_t i = 0; i < out.size(); ++i) {
          if (syntax.text()[i] == '\n') out[i] = '\n';
        }
      }
      out.replace(syntax.range(argument).begin + 3, text.size() - 6,
                  text.substr(3, text.size() - 6));
    }
  }
  return out;
}

}  // namespace

v1::SourceFacts Analyze(std::string_view file_name, const Syntax& syntax) {
  v1::SourceFacts out;
  out.set_file(IsValidUtf8(file_name) ? std::string(file_name)
                                      : Printable(file_name));
  AddProblems(syntax, out);
  const SourceFile source(syntax);
  AddFacts(source, out);
  if (const std::string embedded = EmbeddedSources(syntax); !embedded.empty()) {
    const Syntax inner = Syntax::Parse(embedded);
    AddProblems(inner, out);
    AddFacts(SourceFile(inner), out);
  }
  LinkCallers(out);
  DescribeLaunches(source, out);
  return out;
}

v1::SourceFacts Analyze(std::string_view file_name, std::string_view text) {
  return Analyze(file_name, Syntax::Parse(text));
}

}  // namespace kernelfleet::kernel
