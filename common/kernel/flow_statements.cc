#include <algorithm>

#include "common/base/strings.h"
#include "common/kernel/flow_builder.h"

namespace kernelfleet::kernel {
namespace {

// Deeper code is not written by people; the walk must not exhaust the stack.
constexpr int kMaxDepth = 300;
constexpr size_t kMaxLoops = 4000;
// Taps of a stencil are few; longer literal loops run over data.
constexpr int64_t kMaxUnrolled = 8;

}  // namespace

size_t FlowBuilder::SlotOf(std::string_view name) {
  const size_t next = frame().slots.size();
  const size_t slot = frame().slots.try_emplace(name, next).first->second;
  // A branch starts from a copy that may be older than the slot.
  std::vector<ValueId>& variables = frame().variables;
  if (slot >= variables.size()) variables.resize(slot + 1, kNoValue);
  return slot;
}

ValueId FlowBuilder::Lookup(std::string_view name) const {
  const Frame& top = frames_.back();
  const auto found = top.slots.find(name);
  if (found == top.slots.end()) return kNoValue;
  return found->second < top.variables.size() ? top.variables[found->second]
                                              : kNoValue;
}

void FlowBuilder::RunBlock(NodeId block) {
  if (block == kNoNode) return;
  for (NodeId statement : syntax_.Children(block)) {
    if (frame().ended) return;
    Run(statement);
  }
}

void FlowBuilder::RunChildren(NodeId statement) {
  for (NodeId child : syntax_.Children(statement)) {
    if (frame().ended) return;
    Run(child);
  }
}

void FlowBuilder::Run(NodeId statement) {
  if (depth_ >= kMaxDepth) {
    flow_.truncated = true;
    return;
  }
  ++depth_;
  switch (syntax_.kind(statement)) {
    case Kind::kIfStatement:
      RunIf(statement);
      break;
    case Kind::kForStatement:
    case Kind::kWhileStatement:
      RunLoop(statement);
      break;
    case Kind::kReturnStatement:
      RunReturn(statement);
      break;
    case Kind::kMatchStatement:
      RunMatch(statement);
      break;
    case Kind::kBlock:
      RunBlock(statement);
      break;
    case Kind::kExpressionStatement:
    case Kind::kWithStatement:
    case Kind::kWithClause:
    case Kind::kTryStatement:
    case Kind::kExceptClause:
    case Kind::kFinallyClause:
    case Kind::kElseClause:
    case Kind::kError:
      RunChildren(statement);
      break;
    case Kind::kAssignment:
      RunAssignment(statement);
      break;
    case Kind::kAugmentedAssignment:
      RunAugmented(statement);
      break;
    case Kind::kWithItem: {
      if (const NodeId value = syntax_.Child(statement, Field::kValue);
          value != kNoNode) {
        Eval(value);
      }
      break;
    }
    case Kind::kFunctionDefinition:
    case Kind::kDecoratedDefinition:
    case Kind::kClassDefinition:
    case Kind::kImportStatement:
    case Kind::kImportFromStatement:
    case Kind::kPassStatement:
    case Kind::kBreakStatement:
    case Kind::kContinueStatement:
    case Kind::kGlobalStatement:
    case Kind::kNonlocalStatement:
    case Kind::kDeleteStatement:
      break;
    default:
      Eval(statement);
      break;
  }
  --depth_;
}

void FlowBuilder::RunReturn(NodeId statement) {
  const NodeId value = syntax_.first_child(statement);
  if (value != kNoNode) frame().returns.push_back(Eval(value));
  frame().ended = true;
}

ValueId FlowBuilder::RunAssignment(NodeId assignment) {
  const NodeId right = syntax_.Child(assignment, Field::kRight);
  const NodeId left = syntax_.Child(assignment, Field::kLeft);
  if (right == kNoNode || left == kNoNode) return kNoValue;
  ValueId value = kNoValue;
  if (syntax_.kind(right) == Kind::kAssignment && depth_ < kMaxDepth) {
    ++depth_;
    value = RunAssignment(right);
    --depth_;
  } else {
    value = Eval(right);
  }
  Assign(left, value);
  return value;
}

void FlowBuilder::RunAugmented(NodeId assignment) {
  const NodeId left = syntax_.Child(assignment, Field::kLeft);
  const NodeId right = syntax_.Child(assignment, Field::kRight);
  if (left == kNoNode || right == kNoNode) return;
  const ValueId before = Eval(left);
  const ValueId operand = Eval(right);
  Assign(left, Add(Op::kBinary, assignment, {before, operand},
                   OperatorOf(assignment)));
}

void FlowBuilder::Assign(NodeId target, ValueId value) {
  switch (syntax_.kind(target)) {
    case Kind::kIdentifier:
      frame().variables[SlotOf(syntax_.TextOf(target))] = value;
      break;
    case Kind::kPatternList:
    case Kind::kTuplePattern:
    case Kind::kListPattern:
    case Kind::kExpressionList:
    case Kind::kTuple: {
      if (++depth_ < kMaxDepth) {
        int index = 0;
        for (NodeId child : syntax_.Children(target)) {
          Assign(child, Item(value, index++, target));
        }
      }
      --depth_;
      break;
    }
    default:
      // A subscript or an attribute: no variable of ours.
      break;
  }
}

void FlowBuilder::RunIf(NodeId statement) {
  std::vector<std::vector<ValueId>> branches;
  bool has_else = false;
  const auto branch = [&](NodeId body, const std::vector<ValueId>& before) {
    frame().variables = before;
    frame().ended = false;
    RunBlock(body);
    if (!frame().ended) branches.push_back(frame().variables);
  };
  const NodeId condition = syntax_.Child(statement, Field::kCondition);
  if (condition != kNoNode) flow_.conditions.push_back(Eval(condition));
  const std::vector<ValueId> before = frame().variables;
  branch(syntax_.Child(statement, Field::kConsequence), before);
  for (NodeId child : syntax_.Children(statement)) {
    if (syntax_.kind(child) == Kind::kElifClause) {
      frame().variables = before;
      const NodeId test = syntax_.Child(child, Field::kCondition);
      if (test != kNoNode) flow_.conditions.push_back(Eval(test));
      branch(syntax_.Child(child, Field::kConsequence), before);
    } else if (syntax_.kind(child) == Kind::kElseClause) {
      has_else = true;
      branch(syntax_.Child(child, Field::kBody), before);
    }
  }
  if (!has_else) branches.push_back(before);
  frame().ended = branches.empty();
  if (!branches.empty()) Merge(branches);
}

void FlowBuilder::RunMatch(NodeId statement) {
  if (const NodeId subject = syntax_.Child(statement, Field::kSubject);
      subject != kNoNode) {
    Eval(subject);
  }
  const std::vector<ValueId> before = frame().variables;
  std::vector<std::vector<ValueId>> branches = {before};
  const NodeId body = syntax_.Child(statement, Field::kBody);
  if (body == kNoNode) return;
  for (NodeId clause : syntax_.Children(body)) {
    if (syntax_.kind(clause) != Kind::kCaseClause) continue;
    frame().variables = before;
    frame().ended = false;
    RunBlock(syntax_.Child(clause, Field::kConsequence));
    if (!frame().ended) branches.push_back(frame().variables);
  }
  frame().ended = false;
  Merge(branches);
}

void FlowBuilder::Merge(const std::vector<std::vector<ValueId>>& branches) {
  std::vector<ValueId> merged = branches.back();
  size_t count = 0;
  for (const auto& branch : branches) count = std::max(count, branch.size());
  merged.resize(count, kNoValue);
  std::vector<ValueId> different;
  for (size_t slot = 0; slot < count; ++slot) {
    different.clear();
    for (const auto& branch : branches) {
      const ValueId value = slot < branch.size() ? branch[slot] : kNoValue;
      if (value != kNoValue && std::find(different.begin(), different.end(),
                                         value) == different.end()) {
        different.push_back(value);
      }
    }
    if (different.size() == 1) merged[slot] = different[0];
    if (different.size() > 1) {
      merged[slot] = Add(Op::kSelect, At(different[0]).node, different);
    }
  }
  merged.resize(frame().slots.size(), kNoValue);
  frame().variables = std::move(merged);
}

void FlowBuilder::CollectTargets(NodeId target, std::vector<size_t>& slots) {
  // No variable is bound through a subscript or an attribute.
  for (NodeId id = target; id < syntax_.subtree_end(target);) {
    const Kind kind = syntax_.kind(id);
    if (kind == Kind::kSubscript || kind == Kind::kAttribute) {
      id = syntax_.subtree_end(id);
      continue;
    }
    if (kind == Kind::kIdentifier) slots.push_back(SlotOf(syntax_.TextOf(id)));
    ++id;
  }
}

std::vector<size_t> FlowBuilder::AssignedSlots(NodeId body) {
  std::vector<size_t> slots;
  for (NodeId id = body; id < syntax_.subtree_end(body); ++id) {
    switch (syntax_.kind(id)) {
      case Kind::kAssignment:
      case Kind::kAugmentedAssignment:
      case Kind::kForStatement:
        if (const NodeId left = syntax_.Child(id, Field::kLeft);
            left != kNoNode) {
          CollectTargets(left, slots);
        }
        break;
      case Kind::kNamedExpression:
        if (const NodeId name = syntax_.Child(id, Field::kName);
            name != kNoNode) {
          CollectTargets(name, slots);
        }
        break;
      default:
        break;
    }
  }
  std::sort(slots.begin(), slots.end());
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  return slots;
}

// for i in tl.static_range(2)
bool FlowBuilder::HasLiteralRange(NodeId loop) const {
  const NodeId range = syntax_.Child(loop, Field::kRight);
  if (range == kNoNode || syntax_.kind(range) != Kind::kCall) return false;
  const NodeId arguments = syntax_.Child(range, Field::kArguments);
  if (arguments == kNoNode) return false;
  bool literal = syntax_.first_child(arguments) != kNoNode;
  for (NodeId bound : syntax_.Children(arguments)) {
    const auto number = ParseInt(syntax_.TextOf(bound));
    literal &= number.has_value() && *number <= kMaxUnrolled;
  }
  return literal;
}

ValueId FlowBuilder::LoopVariable(NodeId statement, uint16_t loop) {
  std::vector<ValueId> bounds;
  const NodeId range = syntax_.Child(statement, Field::kRight);
  if (range != kNoNode) bounds.push_back(Eval(range));
  return Add(Op::kIndex, statement, bounds, loop);
}

void FlowBuilder::RunLoop(NodeId statement) {
  const NodeId body = syntax_.Child(statement, Field::kBody);
  if (body == kNoNode || flow_.loops.size() >= kMaxLoops) {
    flow_.truncated |= body != kNoNode;
    return;
  }
  const uint16_t outer = loop_;
  const auto loop = static_cast<uint16_t>(flow_.loops.size());
  const auto depth = static_cast<uint16_t>(flow_.loops[outer].depth + 1);
  flow_.loops.push_back({outer, depth, statement, HasLiteralRange(statement)});

  // Whatever the body assigns and somebody set before is carried around.
  std::vector<std::pair<size_t, ValueId>> carried;
  const std::vector<size_t> assigned = AssignedSlots(body);
  const bool is_for = syntax_.kind(statement) == Kind::kForStatement;
  ValueId index = is_for ? LoopVariable(statement, loop) : kNoValue;
  loop_ = loop;
  for (size_t slot : assigned) {
    const ValueId before = frame().variables[slot];
    if (before == kNoValue) continue;
    const ValueId phi = Add(Op::kPhi, At(before).node, {before, before}, loop);
    frame().variables[slot] = phi;
    carried.emplace_back(slot, phi);
  }
  if (is_for) {
    if (const NodeId left = syntax_.Child(statement, Field::kLeft);
        left != kNoNode) {
      Assign(left, index);
    }
  } else if (const NodeId test = syntax_.Child(statement, Field::kCondition);
             test != kNoNode) {
    Eval(test);
  }
  const bool ended_before = frame().ended;
  RunBlock(body);
  frame().ended = ended_before;
  loop_ = outer;
  for (const auto& [slot, phi] : carried) {
    const ValueId after =
        slot < frame().variables.size() ? frame().variables[slot] : phi;
    if (after == kNoValue) continue;
    flow_.operands[At(phi).first_operand + 1] = after;
    frame().variables[slot] =
        after == phi ? phi : Add(Op::kExit, At(after).node, {phi}, loop);
  }
  if (const NodeId otherwise = syntax_.Child(statement, Field::kAlternative);
      otherwise != kNoNode) {
    RunBlock(syntax_.Child(otherwise, Field::kBody));
  }
}

}  // namespace kernelfleet::kernel
