#include "common/kernel/infer.h"

#include <set>

#include "common/kernel/infer_case.h"

namespace kernelfleet::kernel {
namespace {

// Likeliest first, by judgement: the order itself was not measured.
constexpr Assumptions kAssumptions[] = {
    Assumptions(),
    {.real = "fp32"},
    {.flags = true},
    {.real = "fp32", .flags = true},
    {.real = "fp32", .none = true},
    {.real = "fp32", .whole = "i64"},
    {.real = "fp16", .tile = 32, .size = 8},
    {.real = "fp32", .choice = 1},
    {.real = "fp32", .choice = 2},
    {.real = "fp32", .choice = 3},
    {.real = "fp16", .tile = 16},
    {.real = "fp32", .tile = 16},
    {.real = "fp32", .tile = 16, .said = false},
    {.real = "fp32", .flags = true, .tile = 16, .said = false, .choice = 1},
    {.real = "bf16", .tile = 32, .said = false, .choice = 1},
    {.real = "fp32", .tile = 32, .choice = 2, .flip = true},
};

int FunctionNamed(const SourceFile& source, std::string_view name) {
  const auto& all = source.functions.all();
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].name == name && all[i].enclosing < 0) return static_cast<int>(i);
  }
  return -1;
}

// Which number each constexpr is, from how it is used.
std::vector<Number> NumbersOf(const Flow& flow, const Uses& uses) {
  std::vector<Number> out(flow.params.size(), Number::kUnknown);
  for (size_t i = 0; i < out.size(); ++i) {
    const ParamUses& use = uses.params[i];
    if (use.arange > 0 || use.shape > 0 || use.integer > 0) {
      out[i] = Number::kInt;
    } else if (use.truth > 0) {
      out[i] = Number::kBool;
    }
  }
  return out;
}

}  // namespace

std::vector<v1::CompileCase> Infer(const InferRequest& request) {
  const Syntax syntax = Syntax::Parse(request.slice);
  const SourceFile source(syntax);
  const int index = FunctionNamed(source, request.kernel->name());
  if (index < 0) return {};
  const Flow flow = BuildFlow(source, index);
  Evidence evidence;
  evidence.request = &request;
  evidence.flow = &flow;
  evidence.uses = FindUses(source, index);
  evidence.types = FindTypes(source, flow, NumbersOf(flow, evidence.uses));
  std::vector<v1::CompileCase> out;
  std::set<std::string> seen;
  for (const Assumptions& assume : kAssumptions) {
    v1::CompileCase made = MakeCase(evidence, assume);
    // Two cases that differ only in their reasons are one.
    v1::CompileCase bare = made;
    for (v1::KernelArg& arg : *bare.mutable_args()) arg.clear_guessed_from();
    if (seen.insert(bare.SerializeAsString()).second) {
      out.push_back(std::move(made));
    }
  }
  return out;
}

}  // namespace kernelfleet::kernel
