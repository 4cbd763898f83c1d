#include <algorithm>
#include <string_view>
#include <vector>

#include "common/kernel/describe.h"

namespace kernelfleet::kernel {
namespace {

// Longer sums are no addresses that a rewrite could understand.
constexpr int kMaxTerms = 24;
// x = x + x, again and again: every part of the sum is the base.
constexpr int kMaxParts = 200;
constexpr int kStepBudget = 50;

class AccessReader {
 public:
  AccessReader(const SourceFile& source, const Flow& flow, const Lanes& lanes,
               v1::JitFunction& out)
      : syntax_(source.syntax),
        source_(source),
        flow_(flow),
        lanes_(lanes),
        out_(out) {}

  void Read(const MemoryAccess& access) {
    root_ =
        access.address == kNoValue ? kNoValue : flow_.RootOf(access.address);
    const v1::Access::Form form = FormOf(access);
    const int argument = ArgumentOf(root_);
    if (argument >= 0) Mark(argument, form, access);
    if (access.inlined) return;
    v1::Access& described = *out_.add_accesses();
    described.set_kind(KindOf(access.effect));
    described.set_form(form);
    described.set_operation(NameOf(access, form));
    described.set_line(syntax_.line(access.node));
    SetRange(syntax_, access.node, described.mutable_range());
    described.set_loop_depth(flow_.loops[access.loop].depth);
    if (argument >= 0) described.set_argument(out_.params(argument).name());
    described.set_address(Quote(syntax_, access.address_node));
    described.set_mask(Quote(syntax_, access.mask_node));
    described.set_other(Quote(syntax_, access.other_node));
    described.set_value(Quote(syntax_, access.value_node));
    ReadOptions(access.node, described);
    if (form == v1::Access::pointer && access.address != kNoValue) {
      ReadAddress(access, described);
    } else {
      described.set_rank(-1);
    }
  }

 private:
  static v1::Access::Kind KindOf(Effect effect) {
    switch (effect) {
      case Effect::kLoad:
        return v1::Access::load;
      case Effect::kStore:
        return v1::Access::store;
      default:
        return v1::Access::atomic;
    }
  }

  v1::Access::Form FormOf(const MemoryAccess& access) const {
    if (root_ != kNoValue) {
      if (flow_.at(root_).op == Op::kBlockPointer) {
        return v1::Access::block_pointer;
      }
      if (flow_.at(root_).op == Op::kDescriptor) {
        return v1::Access::tensor_descriptor;
      }
    }
    return access.method ? v1::Access::tensor_descriptor : v1::Access::pointer;
  }

  std::string NameOf(const MemoryAccess& access, v1::Access::Form form) const {
    const NodeId callee = syntax_.Child(access.node, Field::kFunction);
    if (callee == kNoNode) return {};
    std::string_view name = syntax_.TextOf(callee);
    name = name.substr(name.rfind('.') + 1);
    if (access.method && form == v1::Access::tensor_descriptor) {
      return "descriptor." + std::string(name);
    }
    if (const std::string path = source_.names.Path(callee); !path.empty()) {
      return path.substr(path.rfind('.') + 1);
    }
    return std::string(name);
  }

  // The parameter behind a root, through block pointers and descriptors.
  int ArgumentOf(ValueId root) const {
    for (int step = 0; root != kNoValue && step < 4; ++step) {
      const Value& value = flow_.at(root);
      if (value.op == Op::kParam) return value.aux;
      if (value.operand_count == 0 || value.op == Op::kLoad) return -1;
      root = flow_.RootOf(flow_.OperandsOf(root)[0]);
    }
    return -1;
  }

  void Mark(int argument, v1::Access::Form form, const MemoryAccess& access) {
    v1::Parameter& param = *out_.mutable_params(argument);
    const bool passed = form == v1::Access::tensor_descriptor &&
                        flow_.at(root_).op == Op::kParam;
    if (passed) {
      param.set_is_descriptor(true);
    } else {
      param.set_is_pointer(true);
    }
    const auto add = [&](auto* names) {
      if (std::find(names->begin(), names->end(), param.name()) ==
          names->end()) {
        *names->Add() = param.name();
      }
    };
    if (access.effect != Effect::kStore) add(out_.mutable_read_args());
    if (access.effect != Effect::kLoad) add(out_.mutable_written_args());
  }

  void ReadOptions(NodeId call, v1::Access& described) {
    const NodeId arguments = syntax_.Child(call, Field::kArguments);
    if (arguments == kNoNode) return;
    for (NodeId child : syntax_.Children(arguments)) {
      if (syntax_.kind(child) != Kind::kKeywordArgument) continue;
      const NodeId name = syntax_.Child(child, Field::kName);
      const NodeId value = syntax_.Child(child, Field::kValue);
      if (name == kNoNode || value == kNoNode) continue;
      const std::string_view text = syntax_.TextOf(name);
      if (text == "mask" || text == "other" || text == "value" ||
          text == "val" || text == "pointer") {
        continue;
      }
      (*described.mutable_options())[std::string(text)] = Quote(syntax_, value);
    }
  }

  // A part of the address's sum: its value, and the text where it was used.
  struct Part {
    ValueId value;
    NodeId node;
    bool negative;
  };

  NodeId Unwrap(NodeId node) const {
    while (node != kNoNode &&
           syntax_.kind(node) == Kind::kParenthesizedExpression) {
      node = syntax_.first_child(node);
    }
    return node;
  }

  // The nodes of a binary value's operands as written where the value is made.
  std::pair<NodeId, NodeId> OperandNodes(const Value& value) const {
    const NodeId left = syntax_.Child(value.node, Field::kLeft);
    const NodeId right = syntax_.Child(value.node, Field::kRight);
    return {Unwrap(left), Unwrap(right)};
  }

  void ReadAddress(const MemoryAccess& access, v1::Access& described) {
    const Lane& lane = lanes_.at(access.address);
    described.set_rank(lane.rank);
    plain_.clear();
    std::vector<Part> stack = {
        {access.address, Unwrap(access.address_node), false}};
    int steps = 0;
    while (!stack.empty() && described.terms_size() < kMaxTerms &&
           steps++ < kMaxParts) {
      const Part part = stack.back();
      stack.pop_back();
      if (part.value == root_) continue;
      if (Split(part, stack)) continue;
      AddTerm(part, described);
    }
    described.set_last_axis(Contiguity(lane, described));
  }

  // Pushes the operands of a sum, right first, so that terms keep their order.
  bool Split(const Part& part, std::vector<Part>& stack) {
    const Value& value = flow_.at(part.value);
    const auto operands = flow_.OperandsOf(part.value);
    if (value.op == Op::kBinary && operands.size() == 2 &&
        (value.aux == '+' || value.aux == '-')) {
      const auto [left, right] = OperandNodes(value);
      stack.push_back(
          {operands[1], right, part.negative != (value.aux == '-')});
      stack.push_back({operands[0], left, part.negative});
      return true;
    }
    if (operands.empty()) return false;
    // On the way to the base pointer: casts, loops and branches.
    const bool leads = flow_.RootOf(part.value) == root_ && root_ != kNoValue;
    if (!leads) return false;
    switch (value.op) {
      case Op::kCast:
      case Op::kExpand:
      case Op::kBroadcast:
      case Op::kReshape:
      case Op::kSelect:
      case Op::kExit:
        stack.push_back({operands[0], kNoNode, part.negative});
        return true;
      case Op::kPhi: {
        // ptr += step, each time around.
        const Value& back = flow_.at(operands[1]);
        if (back.op == Op::kBinary && back.operand_count == 2) {
          const ValueId step = flow_.OperandsOf(operands[1])[1];
          const NodeId node = syntax_.Child(back.node, Field::kRight);
          stack.push_back({step, Unwrap(node), part.negative});
        }
        stack.push_back({operands[0], kNoNode, part.negative});
        return true;
      }
      default:
        return false;
    }
  }

  void AddTerm(const Part& part, v1::Access& described) {
    v1::AddressTerm& term = *described.add_terms();
    const Value& value = flow_.at(part.value);
    const NodeId node = part.node != kNoNode ? part.node : value.node;
    std::string index = Quote(syntax_, node);
    std::string stride;
    const auto operands = flow_.OperandsOf(part.value);
    if (value.op == Op::kBinary && value.aux == '*' && operands.size() == 2) {
      const auto [left, right] = OperandNodes(value);
      const bool left_varies = lanes_.at(operands[0]).rank != 0;
      const bool right_varies = lanes_.at(operands[1]).rank != 0;
      if (right_varies && !left_varies) {
        index = Quote(syntax_, right);
        stride = Quote(syntax_, left);
      } else if (!right_varies) {
        index = Quote(syntax_, left);
        stride = Quote(syntax_, right);
      }
    }
    if (part.negative) index.insert(0, "-");
    plain_.push_back(Steps(part.value, kStepBudget));
    term.set_index(std::move(index));
    term.set_stride(std::move(stride));
    term.set_axis(AxisOf(lanes_.at(part.value), described.rank()));
    term.set_loaded(HoldsLoad(part.value));
  }

  // The one axis of the tile along which a term varies, counted from the front
  // of the whole address.
  static int AxisOf(const Lane& lane, int rank) {
    if (lane.rank == 0) return -1;
    if (lane.rank < 0 || rank < lane.rank) return -2;
    int found = -1;
    for (int i = 0; i < lane.rank; ++i) {
      if (lane.axis[static_cast<size_t>(i)] == kUniformAxis) continue;
      if (found >= 0) return -2;
      found = rank - lane.rank + i;
    }
    return found;
  }

  // Grows by one from lane to lane, but for a factor: tl.arange, plus what does
  // not vary. Division and remainder do not qualify.
  bool Steps(ValueId id, int budget) const {
    while (budget-- > 0) {
      const Value& value = flow_.at(id);
      const auto operands = flow_.OperandsOf(id);
      if (value.op == Op::kArange) return true;
      if (operands.empty()) return false;
      switch (value.op) {
        case Op::kCast:
        case Op::kExpand:
        case Op::kBroadcast:
        case Op::kPhi:
        case Op::kExit:
          id = operands[0];
          break;
        case Op::kBinary: {
          if (operands.size() != 2) return false;
          if (value.aux != '+' && value.aux != '-' && value.aux != '*') {
            return false;
          }
          const bool left = lanes_.at(operands[0]).rank != 0;
          const bool right = lanes_.at(operands[1]).rank != 0;
          if (left == right || (value.aux == '-' && right)) return false;
          id = left ? operands[0] : operands[1];
          break;
        }
        default:
          return false;
      }
    }
    return false;
  }

  bool HoldsLoad(ValueId id) const { return lanes_.at(id).sources != 0; }

  v1::Access::Contiguity Contiguity(const Lane& lane,
                                    const v1::Access& described) const {
    if (lane.rank == 0) return v1::Access::scalar;
    if (lane.rank < 0) return v1::Access::contiguity_unknown;
    bool found = false;
    v1::Access::Contiguity result = v1::Access::contiguous;
    for (int i = 0; i < described.terms_size(); ++i) {
      const v1::AddressTerm& term = described.terms(i);
      if (term.axis() == -2) return v1::Access::contiguity_unknown;
      if (term.axis() != lane.rank - 1) continue;
      found = true;
      if (term.loaded()) return v1::Access::gathered;
      if (!plain_[static_cast<size_t>(i)]) {
        return v1::Access::contiguity_unknown;
      }
      if (!term.stride().empty() && term.stride() != "1") {
        result = v1::Access::strided;
      }
    }
    return found ? result : v1::Access::contiguity_unknown;
  }

  const Syntax& syntax_;
  const SourceFile& source_;
  const Flow& flow_;
  const Lanes& lanes_;
  v1::JitFunction& out_;
  ValueId root_ = kNoValue;
  // For each term: whether it Steps.
  std::vector<bool> plain_;
};

}  // namespace

void DescribeAccesses(const SourceFile& source, const Flow& flow,
                      const Lanes& lanes, v1::JitFunction& out) {
  AccessReader reader(source, flow, lanes, out);
  for (const MemoryAccess& access : flow.accesses) reader.Read(access);
}

}  // namespace kernelfleet::kernel
