#include <fmt/format.h>

#include "common/kernel/slicer.h"

namespace kernelfleet::kernel {
namespace {

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool ContainsAny(std::string_view text,
                 std::initializer_list<std::string_view> parts) {
  for (std::string_view part : parts) {
    if (Contains(text, part)) return true;
  }
  return false;
}

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace

void Slicer::NoteGuess(int module, NodeId node, std::string_view value) {
  const ModuleScope& scope = Scope(module);
  std::string text(scope.syntax().TextOf(node).substr(0, 80));
  text = text.substr(0, text.find('\n'));
  out_.guesses.push_back(fmt::format("{}:{}: '{}' is taken to be {}",
                                     scope.name(), scope.syntax().line(node),
                                     text, value));
}

// A question that only the user's machine could answer. Versions are taken to
// be new; of the vendors' own branches the plain one is taken.
bool Slicer::GuessTruth(int module, NodeId expression) {
  const Syntax& syntax = Scope(module).syntax();
  const std::string_view text = syntax.TextOf(expression);
  switch (syntax.kind(expression)) {
    case Kind::kTrue:
      return true;
    case Kind::kFalse:
    case Kind::kNone:
      return false;
    case Kind::kParenthesizedExpression:
    case Kind::kNotOperator: {
      const NodeId inner = syntax.first_child(expression);
      if (inner == kNoNode) return false;
      const bool value = GuessTruth(module, inner);
      return syntax.kind(expression) == Kind::kNotOperator ? !value : value;
    }
    case Kind::kBooleanOperator: {
      const NodeId left = syntax.Child(expression, Field::kLeft);
      const NodeId right = syntax.Child(expression, Field::kRight);
      const NodeId token = syntax.Child(expression, Field::kOperator);
      if (left == kNoNode || right == kNoNode || token == kNoNode) return false;
      const bool a = GuessTruth(module, left);
      const bool b = GuessTruth(module, right);
      return syntax.TextOf(token) == "and" ? a && b : a || b;
    }
    default:
      break;
  }
  const std::string lower = Lower(text);
  const bool version =
      ContainsAny(lower, {"version", "triton_above", "triton_ge"});
  if (version) {
    if (ContainsAny(lower, {"operator.lt", "operator.le"})) return false;
    if (ContainsAny(lower, {"operator.g", ">="})) return true;
    if (Contains(lower, "<") || Contains(lower, "==")) return false;
    return !Contains(lower, ".hip");
  }
  return ContainsAny(lower, {"is_cuda", "is_nvidia", "triton_above"}) &&
         !ContainsAny(lower, {"hopper", "blackwell", "ada"});
}

std::string Slicer::GuessValue(int module, NodeId expression,
                               std::string_view name) {
  const ModuleScope& scope = Scope(module);
  const Syntax& syntax = scope.syntax();
  const Kind kind = syntax.kind(expression);
  if (kind == Kind::kParenthesizedExpression &&
      syntax.first_child(expression) != kNoNode) {
    return GuessValue(module, syntax.first_child(expression), name);
  }
  if (kind == Kind::kConditionalExpression) {
    std::vector<NodeId> parts;
    for (NodeId child : syntax.Children(expression)) parts.push_back(child);
    if (parts.size() == 3) {
      const NodeId taken = GuessTruth(module, parts[1]) ? parts[0] : parts[2];
      if (IsClean(module, taken)) return Edited(module, taken);
      return GuessValue(module, taken, name);
    }
  }
  if (kind == Kind::kCall) {
    // tl.constexpr(question)
    const NodeId callee = syntax.Child(expression, Field::kFunction);
    const NodeId list = syntax.Child(expression, Field::kArguments);
    if (callee != kNoNode && list != kNoNode &&
        syntax.TextOf(callee).ends_with("constexpr") &&
        syntax.first_child(list) != kNoNode) {
      return Edited(module, callee) + "(" +
             GuessValue(module, syntax.first_child(list), name) + ")";
    }
  }
  const std::string lower = Lower(name);
  if (ContainsAny(lower, {"num_sm", "sm_count", "num_core", "cores",
                          "multiprocessor"})) {
    return "108";
  }
  if (ContainsAny(lower, {"warp_size", "wave_size"})) return "32";
  if (ContainsAny(lower, {"num_warps"})) return "4";
  if (ContainsAny(lower, {"block", "max_fused", "tile"})) return "64";
  if (ContainsAny(lower, {"device", "platform", "backend"}) &&
      !lower.starts_with("is_") && !lower.starts_with("has_")) {
    return "\"cuda\"";
  }
  if (lower.ends_with("dtype")) return "None";
  return GuessTruth(module, expression) ? "True" : "False";
}

}  // namespace kernelfleet::kernel
