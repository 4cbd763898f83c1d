#include "common/kernel/flow.h"

#include <utility>

#include "common/kernel/flow_builder.h"

namespace kernelfleet::kernel {
namespace {

bool IsConstexpr(std::string_view annotation) {
  return annotation.find("constexpr") != std::string_view::npos;
}

FlowParam ParamOf(const SourceFile& source, NodeId node) {
  const Syntax& syntax = source.syntax;
  FlowParam param;
  param.node = node;
  NodeId name = syntax.Child(node, Field::kName);
  if (name == kNoNode) name = syntax.first_child(node);
  if (syntax.kind(node) == Kind::kIdentifier) name = node;
  param.annotation = syntax.Child(node, Field::kType);
  param.default_value = syntax.Child(node, Field::kValue);
  if (name != kNoNode) {
    const Kind kind = syntax.kind(name);
    param.is_vararg = kind == Kind::kListSplatPattern ||
                      kind == Kind::kDictionarySplatPattern ||
                      syntax.kind(node) == Kind::kListSplatPattern ||
                      syntax.kind(node) == Kind::kDictionarySplatPattern;
    const NodeId inner =
        kind == Kind::kIdentifier ? name : syntax.first_child(name);
    if (inner != kNoNode) param.name = syntax.TextOf(inner);
  }
  param.is_constexpr = param.annotation != kNoNode &&
                       IsConstexpr(syntax.TextOf(param.annotation));
  return param;
}

// Of two operands of a sum, the one that can be an address.
bool IsAddress(const Flow& flow, ValueId root) {
  if (root == kNoValue) return false;
  switch (flow.at(root).op) {
    case Op::kParam:
      return !flow.params[static_cast<size_t>(flow.at(root).aux)].is_constexpr;
    case Op::kBlockPointer:
    case Op::kDescriptor:
      return true;
    default:
      return false;
  }
}

bool NamedPointer(const Flow& flow, ValueId root) {
  if (flow.at(root).op != Op::kParam) return true;
  const std::string_view name =
      flow.params[static_cast<size_t>(flow.at(root).aux)].name;
  for (std::string_view mark : {"ptr", "Ptr", "PTR"}) {
    if (name.find(mark) != std::string_view::npos) return true;
  }
  return false;
}

// Sums share operands; without a budget the search doubles at each of them.
constexpr int kRootBudget = 600;

ValueId FindRoot(const Flow& flow, ValueId id, int& budget) {
  while (id != kNoValue && budget-- > 0) {
    const Value& value = flow.at(id);
    const auto operands = flow.OperandsOf(id);
    switch (value.op) {
      case Op::kParam:
      case Op::kBlockPointer:
      case Op::kDescriptor:
      case Op::kLoad:
        return id;
      case Op::kCast:
      case Op::kExpand:
      case Op::kReshape:
      case Op::kBroadcast:
      case Op::kTranspose:
      case Op::kPhi:
      case Op::kExit:
      case Op::kSelect:
      case Op::kItem:
        id = operands.empty() ? kNoValue : operands[0];
        break;
      case Op::kWhere:
        id = operands.size() < 2 ? kNoValue : operands[1];
        break;
      case Op::kBinary: {
        if (operands.size() != 2) return kNoValue;
        if (value.aux != '+' && value.aux != '-') return kNoValue;
        const ValueId left = FindRoot(flow, operands[0], budget);
        const ValueId right = FindRoot(flow, operands[1], budget);
        if (!IsAddress(flow, left))
          return IsAddress(flow, right) ? right : left;
        if (!IsAddress(flow, right)) return left;
        return NamedPointer(flow, right) && !NamedPointer(flow, left) ? right
                                                                      : left;
      }
      default:
        return kNoValue;
    }
  }
  return kNoValue;
}

}  // namespace

ValueId Flow::RootOf(ValueId address) const {
  int budget = kRootBudget;
  return FindRoot(*this, address, budget);
}

std::vector<FlowParam> ParamsOf(const SourceFile& source, NodeId def) {
  std::vector<FlowParam> out;
  const NodeId list = source.syntax.Child(def, Field::kParameters);
  if (list == kNoNode) return out;
  for (NodeId child : source.syntax.Children(list)) {
    const Kind kind = source.syntax.kind(child);
    if (kind == Kind::kKeywordSeparator || kind == Kind::kPositionalSeparator) {
      continue;
    }
    FlowParam param = ParamOf(source, child);
    if (!param.name.empty()) out.push_back(param);
  }
  return out;
}

Flow FlowBuilder::Build(int index) {
  flow_.loops.emplace_back();
  const NodeId def = source_.functions.at(index).def;
  flow_.params = ParamsOf(source_, def);
  Frame outer;
  outer.function = index;
  frames_.push_back(std::move(outer));
  for (size_t i = 0; i < flow_.params.size(); ++i) {
    frame().variables[SlotOf(flow_.params[i].name)] =
        Add(Op::kParam, flow_.params[i].node, {}, static_cast<int32_t>(i));
  }
  RunBlock(syntax_.Child(def, Field::kBody));
  flow_.returns = std::move(frame().returns);
  return std::move(flow_);
}

Flow BuildFlow(const SourceFile& source, int index) {
  return FlowBuilder(source).Build(index);
}

}  // namespace kernelfleet::kernel
