// Rules sigmoid and exp2: single calls inside kernels.
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "common/kernel/transform_rules.h"

namespace kernelfleet::kernel {
namespace {

constexpr std::string_view kLog2E = "1.4426950408889634";

struct FunctionCall {
  NodeId call = kNoNode;
  NodeId callee = kNoNode;
  const Subject* subject = nullptr;
};

std::vector<FunctionCall> CallsOf(const Draft& draft, std::string_view path) {
  const Syntax& syntax = draft.source.syntax;
  std::vector<FunctionCall> out;
  NodeId done = 0;
  for (const Subject& subject : draft.subjects) {
    const NodeId def = subject.function->def;
    if (def < done) continue;  // Inside the one before.
    done = syntax.subtree_end(def);
    for (NodeId id = def; id < done; ++id) {
      if (syntax.kind(id) != Kind::kCall) continue;
      const NodeId callee = syntax.Child(id, Field::kFunction);
      if (callee != kNoNode && draft.source.names.Path(callee) == path) {
        out.push_back({id, callee, &subject});
      }
    }
  }
  return out;
}

// f(x) alone: a module's attribute, one positional argument, no comma that
// would make a tuple of it.
bool IsPlain(const Syntax& syntax, const FunctionCall& use) {
  if (syntax.kind(use.callee) != Kind::kAttribute) return false;
  const NodeId list = syntax.Child(use.call, Field::kArguments);
  if (list == kNoNode || syntax.kind(list) != Kind::kArgumentList) return false;
  const NodeId argument = syntax.first_child(list);
  if (argument == kNoNode || syntax.next_sibling(argument) != kNoNode) {
    return false;
  }
  const Kind kind = syntax.kind(argument);
  if (kind == Kind::kKeywordArgument || kind == Kind::kListSplat ||
      kind == Kind::kDictionarySplat) {
    return false;
  }
  const uint32_t from = syntax.range(argument).end;
  return syntax.text().substr(from, syntax.range(list).end - from).find(',') ==
         std::string_view::npos;
}

// The callee without its last name: "tl." of "tl.sigmoid".
std::string_view ModuleOf(const Syntax& syntax, NodeId callee) {
  const std::string_view text = syntax.TextOf(callee);
  return text.substr(0, text.rfind('.') + 1);
}

void DeclineCall(Draft& draft, std::string_view rule, const FunctionCall& use) {
  draft.Declined(rule, use.subject->facts->name(),
                 draft.source.syntax.line(use.call),
                 "not called as module.function(argument)");
}

// One line per kernel, at its first call.
void DeclineAll(Draft& draft, std::string_view rule,
                const std::vector<FunctionCall>& uses, std::string_view why) {
  const Subject* last = nullptr;
  for (const FunctionCall& use : uses) {
    if (use.subject == last) continue;
    last = use.subject;
    draft.Declined(rule, last->facts->name(),
                   draft.source.syntax.line(use.call), std::string(why));
  }
}

}  // namespace

void ExpandSigmoid(Draft& draft) {
  constexpr std::string_view kRule = "sigmoid";
  const std::vector<FunctionCall> uses =
      CallsOf(draft, "triton.language.sigmoid");
  if (!draft.options.expand_sigmoid) {
    DeclineAll(draft, kRule, uses,
               "every stock Triton 3 has tl.sigmoid; --with sigmoid writes it "
               "out for builds that lack it");
    return;
  }
  const Syntax& syntax = draft.source.syntax;
  for (const FunctionCall& use : uses) {
    if (!IsPlain(syntax, use)) {
      DeclineCall(draft, kRule, use);
      continue;
    }
    const std::string_view module = ModuleOf(syntax, use.callee);
    std::string head = fmt::format("(1 / (1 + {}exp(-", module);
    if (draft.options.fold_exp2) {
      head = fmt::format("(1 / (1 + {}exp2(-{} * ", module, kLog2E);
    }
    draft.edits.Replace(syntax.range(use.callee), head);
    draft.edits.Insert(syntax.range(use.call).end, ")))");
    draft.Applied(kRule, use.subject->facts->name(), syntax.line(use.call),
                  "tl.sigmoid written out, for builds of Triton without it");
  }
}

void FoldExp2(Draft& draft) {
  constexpr std::string_view kRule = "exp2";
  const std::vector<FunctionCall> uses = CallsOf(draft, "triton.language.exp");
  if (!draft.options.fold_exp2) {
    DeclineAll(draft, kRule, uses,
               "tl.exp2 with a folded log2(e) saves a multiplication per "
               "element under TileIR, and the numbers change in the last "
               "digits: --with exp2");
    return;
  }
  const Syntax& syntax = draft.source.syntax;
  for (const FunctionCall& use : uses) {
    if (!IsPlain(syntax, use)) {
      DeclineCall(draft, kRule, use);
      continue;
    }
    draft.edits.Replace(syntax.range(use.callee),
                        fmt::format("{}exp2(", ModuleOf(syntax, use.callee)));
    draft.edits.Insert(syntax.range(use.call).end,
                       fmt::format(" * {})", kLog2E));
    draft.Applied(kRule, use.subject->facts->name(), syntax.line(use.call),
                  "exp(x) as exp2(x * log2(e))");
  }
}

}  // namespace kernelfleet::kernel
