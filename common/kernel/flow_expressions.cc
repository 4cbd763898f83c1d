#include <algorithm>

#include "common/kernel/flow_builder.h"

namespace kernelfleet::kernel {
namespace {

constexpr int kMaxDepth = 300;
constexpr size_t kMaxValues = 60000;

}  // namespace

ValueId FlowBuilder::Add(Op op, NodeId node,
                         std::initializer_list<ValueId> operands, int32_t aux) {
  return Add(op, node, std::vector<ValueId>(operands), aux);
}

ValueId FlowBuilder::Add(Op op, NodeId node,
                         const std::vector<ValueId>& operands, int32_t aux) {
  Value value;
  value.op = op;
  value.node = node;
  value.aux = aux;
  value.loop = loop_;
  value.inlined = inlined();
  value.first_operand = static_cast<uint32_t>(flow_.operands.size());
  for (ValueId operand : operands) {
    if (operand != kNoValue) flow_.operands.push_back(operand);
  }
  value.operand_count =
      static_cast<uint32_t>(flow_.operands.size()) - value.first_operand;
  flow_.values.push_back(value);
  return static_cast<ValueId>(flow_.values.size()) - 1;
}

ValueId FlowBuilder::Item(ValueId tuple, int index, NodeId node) {
  if (tuple == kNoValue) return kNoValue;
  if (At(tuple).op == Op::kTuple) {
    const auto items = flow_.OperandsOf(tuple);
    if (static_cast<size_t>(index) < items.size()) {
      return items[static_cast<size_t>(index)];
    }
  }
  return Add(Op::kItem, node, {tuple}, index);
}

ValueId FlowBuilder::MergeValues(const std::vector<ValueId>& values,
                                 NodeId node) {
  std::vector<ValueId> different;
  for (ValueId value : values) {
    if (value != kNoValue && std::find(different.begin(), different.end(),
                                       value) == different.end()) {
      different.push_back(value);
    }
  }
  if (different.empty()) return Add(Op::kConstant, node);
  if (different.size() == 1) return different[0];
  // Tuples of one length merge item by item.
  const size_t length = flow_.OperandsOf(different[0]).size();
  const bool tuples =
      std::all_of(different.begin(), different.end(), [&](ValueId value) {
        return At(value).op == Op::kTuple &&
               flow_.OperandsOf(value).size() == length;
      });
  if (!tuples) return Add(Op::kSelect, node, different);
  std::vector<ValueId> items;
  for (size_t i = 0; i < length; ++i) {
    std::vector<ValueId> choices;
    for (ValueId value : different) {
      choices.push_back(flow_.OperandsOf(value)[i]);
    }
    items.push_back(Add(Op::kSelect, node, choices));
  }
  return Add(Op::kTuple, node, items);
}

ValueId FlowBuilder::Eval(NodeId expression) {
  if (depth_ >= kMaxDepth || flow_.values.size() >= kMaxValues) {
    flow_.truncated = true;
    return Add(Op::kUnknown, expression);
  }
  ++depth_;
  const ValueId value = EvalKind(expression);
  --depth_;
  return value;
}

ValueId FlowBuilder::EvalKind(NodeId expression) {
  switch (syntax_.kind(expression)) {
    case Kind::kIdentifier:
      return EvalIdentifier(expression);
    case Kind::kCall:
      return EvalCall(expression);
    case Kind::kAttribute:
      return EvalAttribute(expression);
    case Kind::kSubscript:
      return EvalSubscript(expression);
    case Kind::kBinaryOperator:
      return EvalBinary(expression, Op::kBinary);
    case Kind::kBooleanOperator:
    case Kind::kComparisonOperator:
    case Kind::kNotOperator:
      return EvalChildren(expression, Op::kCompare);
    case Kind::kUnaryOperator:
      return EvalChildren(expression, Op::kUnary);
    case Kind::kConditionalExpression: {
      // Children: then, condition, else.
      std::vector<ValueId> parts;
      for (NodeId child : syntax_.Children(expression)) {
        parts.push_back(Eval(child));
      }
      if (parts.size() != 3) return Add(Op::kUnknown, expression, parts);
      flow_.conditions.push_back(parts[1]);
      return MergeValues({parts[0], parts[2]}, expression);
    }
    case Kind::kParenthesizedExpression: {
      const NodeId inside = syntax_.first_child(expression);
      return inside == kNoNode ? Add(Op::kConstant, expression) : Eval(inside);
    }
    case Kind::kTuple:
    case Kind::kList:
    case Kind::kExpressionList:
    case Kind::kPatternList:
      return EvalChildren(expression, Op::kTuple);
    case Kind::kInteger:
    case Kind::kFloat:
    case Kind::kString:
    case Kind::kConcatenatedString:
    case Kind::kTrue:
    case Kind::kFalse:
    case Kind::kNone:
    case Kind::kEllipsis:
    case Kind::kLambda:
      return Add(Op::kConstant, expression);
    case Kind::kNamedExpression: {
      const NodeId name = syntax_.Child(expression, Field::kName);
      const NodeId value = syntax_.Child(expression, Field::kValue);
      if (name == kNoNode || value == kNoNode) break;
      const ValueId result = Eval(value);
      Assign(name, result);
      return result;
    }
    case Kind::kAssignment: {
      const ValueId value = RunAssignment(expression);
      return value == kNoValue ? Add(Op::kUnknown, expression) : value;
    }
    default:
      break;
  }
  return EvalChildren(expression, Op::kCall);
}

ValueId FlowBuilder::EvalChildren(NodeId expression, Op op) {
  std::vector<ValueId> operands;
  for (NodeId child : syntax_.Children(expression)) {
    if (syntax_.kind(child) != Kind::kToken) operands.push_back(Eval(child));
  }
  return Add(op, expression, operands);
}

int32_t FlowBuilder::OperatorOf(NodeId expression) const {
  const NodeId token = syntax_.Child(expression, Field::kOperator);
  if (token == kNoNode) return 0;
  const std::string_view text = syntax_.TextOf(token);
  if (text.starts_with("**")) return 'p';
  if (text.starts_with("//")) return 'f';
  return text.empty() ? 0 : text[0];
}

ValueId FlowBuilder::EvalBinary(NodeId expression, Op op) {
  // Long sums lean left; the spine is a loop, not a recursion.
  std::vector<NodeId> spine;
  NodeId at = expression;
  while (syntax_.kind(at) == Kind::kBinaryOperator) {
    const NodeId left = syntax_.Child(at, Field::kLeft);
    if (left == kNoNode) break;
    spine.push_back(at);
    at = left;
  }
  ValueId value = Eval(at);
  for (auto node = spine.rbegin(); node != spine.rend(); ++node) {
    const NodeId right = syntax_.Child(*node, Field::kRight);
    value = Add(op, *node, {value, right == kNoNode ? kNoValue : Eval(right)},
                OperatorOf(*node));
  }
  return value;
}

ValueId FlowBuilder::EvalIdentifier(NodeId identifier) {
  const std::string_view name = syntax_.TextOf(identifier);
  if (const ValueId value = Lookup(name); value != kNoValue) return value;
  if (const int function = source_.functions.FindJit(name, frame().function);
      function >= 0) {
    return Add(Op::kFunction, identifier, {}, function);
  }
  if (!source_.names.Binding(name).empty()) {
    return Add(Op::kReference, identifier);
  }
  return Add(Op::kConstant, identifier);
}

ValueId FlowBuilder::EvalAttribute(NodeId attribute) {
  const NodeId object = syntax_.Child(attribute, Field::kObject);
  const NodeId name = syntax_.Child(attribute, Field::kAttribute);
  if (object == kNoNode || name == kNoNode) {
    return Add(Op::kUnknown, attribute);
  }
  // The object may be a variable that hides an import.
  const bool variable = syntax_.kind(object) != Kind::kIdentifier ||
                        Lookup(syntax_.TextOf(object)) != kNoValue;
  if (!variable || !source_.names.Path(attribute).empty()) {
    return Add(Op::kReference, attribute);
  }
  const ValueId value = Eval(object);
  const std::string_view text = syntax_.TextOf(name);
  if (text == "T") return Add(Op::kTranspose, attribute, {value});
  // x.dtype, x.shape: facts known when compiling, not data.
  if (text == "dtype" || text == "shape" || text == "type" ||
      text == "element_ty" || text == "numel") {
    return Add(Op::kConstant, attribute);
  }
  return Add(Op::kItem, attribute, {value}, -1);
}

ValueId FlowBuilder::EvalSubscript(NodeId subscript) {
  const NodeId object = syntax_.Child(subscript, Field::kValue);
  if (object == kNoNode) return Add(Op::kUnknown, subscript);
  const ValueId value = Eval(object);
  int32_t pattern = 0;
  int count = 0;
  bool expands = true;
  NodeId index = kNoNode;
  const auto letter = [&](NodeId child) {
    const Kind kind = syntax_.kind(child);
    const bool slice = kind == Kind::kSlice;
    expands &= (slice || kind == Kind::kNone) && count < 10;
    pattern = (pattern << 2) | (slice ? 1 : 2);
    ++count;
    index = child;
  };
  for (NodeId child : syntax_.Children(subscript)) {
    if (syntax_.field(child) != Field::kSubscript) continue;
    if (syntax_.kind(child) == Kind::kTuple) {
      for (NodeId part : syntax_.Children(child)) letter(part);
    } else {
      letter(child);
    }
  }
  if (expands && count > 0) {
    return Add(Op::kExpand, subscript, {value}, pattern);
  }
  if (count == 1 && syntax_.kind(index) == Kind::kInteger) {
    const std::string_view digits = syntax_.TextOf(index);
    if (digits.size() == 1) return Item(value, digits[0] - '0', subscript);
  }
  if (index != kNoNode) Eval(index);
  return Add(Op::kItem, subscript, {value}, -1);
}

}  // namespace kernelfleet::kernel
