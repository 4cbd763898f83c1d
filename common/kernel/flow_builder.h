// How BuildFlow works: an abstract run of the function's body, both branches
// of every condition, each loop once. Private to the room.
#ifndef KERNELFLEET_COMMON_KERNEL_FLOW_BUILDER_H_
#define KERNELFLEET_COMMON_KERNEL_FLOW_BUILDER_H_

#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/kernel/flow.h"

namespace kernelfleet::kernel {

class FlowBuilder {
 public:
  explicit FlowBuilder(const SourceFile& source)
      : source_(source), syntax_(source.syntax) {}

  Flow Build(int index);

 private:
  // A running function: its variables and what it returned.
  struct Frame {
    int function = -1;
    std::unordered_map<std::string_view, size_t> slots;
    std::vector<ValueId> variables;
    std::vector<ValueId> returns;
    // The branch being run has returned.
    bool ended = false;
  };
  struct Argument {
    // Empty: positional.
    std::string_view name;
    NodeId node = kNoNode;
    ValueId value = kNoValue;
  };
  struct Call {
    NodeId node = kNoNode;
    Effect effect = Effect::kUnknown;
    std::string name;
    std::vector<Argument> arguments;
    // Method calls: the receiver is also arguments[0].
    bool method = false;
  };

  // Statements (flow_statements.cc).
  void RunBlock(NodeId block);
  void Run(NodeId statement);
  void RunIf(NodeId statement);
  void RunLoop(NodeId statement);
  void RunReturn(NodeId statement);
  void RunMatch(NodeId statement);
  void RunChildren(NodeId statement);
  ValueId RunAssignment(NodeId assignment);
  void RunAugmented(NodeId assignment);
  void Assign(NodeId target, ValueId value);
  void Merge(const std::vector<std::vector<ValueId>>& branches);
  std::vector<size_t> AssignedSlots(NodeId body);
  void CollectTargets(NodeId target, std::vector<size_t>& slots);
  bool HasLiteralRange(NodeId loop) const;
  ValueId LoopVariable(NodeId statement, uint16_t loop);

  // Expressions (flow_expressions.cc).
  ValueId Eval(NodeId expression);
  ValueId EvalKind(NodeId expression);
  ValueId EvalIdentifier(NodeId identifier);
  ValueId EvalAttribute(NodeId attribute);
  ValueId EvalSubscript(NodeId subscript);
  ValueId EvalChildren(NodeId expression, Op op);
  ValueId EvalBinary(NodeId expression, Op op);
  // Its first character; 'p' for **, 'f' for //.
  int32_t OperatorOf(NodeId expression) const;

  // Calls (flow_calls.cc).
  ValueId EvalCall(NodeId call);
  ValueId CallByName(Call& call, NodeId callee);
  ValueId CallByAttribute(Call& call, NodeId callee);
  ValueId CallValue(Call& call, ValueId callee);
  ValueId CallPath(Call& call, std::string_view path);
  ValueId Apply(Call& call);
  ValueId ApplyMemory(const Call& call);
  ValueId ApplySimple(const Call& call, Op op);
  ValueId Inline(const Call& call, int function);
  ValueId Opaque(const Call& call);
  void ReadArguments(Call& call);
  const Argument* Find(const Call& call, std::string_view name,
                       size_t position) const;
  void Note(const Call& call);

  // Values.
  ValueId Add(Op op, NodeId node, std::initializer_list<ValueId> operands = {},
              int32_t aux = 0);
  ValueId Add(Op op, NodeId node, const std::vector<ValueId>& operands,
              int32_t aux = 0);
  ValueId Item(ValueId tuple, int index, NodeId node);
  ValueId MergeValues(const std::vector<ValueId>& values, NodeId node);
  Value& At(ValueId id) { return flow_.values[static_cast<size_t>(id)]; }
  Frame& frame() { return frames_.back(); }
  bool inlined() const { return frames_.size() > 1; }
  // The variable's slot in the running frame, made on first use.
  size_t SlotOf(std::string_view name);
  ValueId Lookup(std::string_view name) const;

  const SourceFile& source_;
  const Syntax& syntax_;
  Flow flow_;
  // A deque: evaluating an argument may push a frame under a held reference.
  std::deque<Frame> frames_;
  uint16_t loop_ = 0;
  int depth_ = 0;
};

}  // namespace kernelfleet::kernel

#endif  // KERNELFLEET_COMMON_KERNEL_FLOW_BUILDER_H_
