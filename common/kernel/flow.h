// The data flow of one jit function: each expression once, as a value that
// names its operands; helpers of the same file are inlined. Variables are gone:
// where control flow joins there is a kSelect, at the head of a loop a kPhi,
// and behind the loop a kExit.
#ifndef KERNELFLEET_COMMON_KERNEL_FLOW_H_
#define KERNELFLEET_COMMON_KERNEL_FLOW_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/kernel/functions.h"
#include "common/kernel/names.h"
#include "common/kernel/syntax.h"
#include "common/kernel/triton_api.h"

namespace kernelfleet::kernel {

using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;

enum class Op : uint8_t {
  kUnknown,
  kConstant,
  // aux: index into Flow::params.
  kParam,
  // A module's function, dtype or variable by path.
  kReference,
  // A jit function of the file; aux: its index.
  kFunction,
  // aux: the operator's first character; 'p' for **, 'f' for //.
  kBinary,
  kUnary,
  kCompare,
  // Operands: condition, then, else.
  kWhere,
  // Operands: what each branch leaves in the variable.
  kSelect,
  // An element-wise call; operands: its arguments.
  kCall,
  // Operands: address, and where given mask and other.
  kLoad,
  kAtomicResult,
  kReduce,
  kNormalize,
  kScan,
  kPermuteLanes,
  kHistogram,
  kDot,
  kArange,
  kFull,
  kProgramId,
  kCast,
  kReshape,
  kTranspose,
  kBroadcast,
  // x[:, None]; aux: one letter per subscript, ':' as 1 and None as 2, base 4.
  kExpand,
  kJoin,
  kRandom,
  // Operand 0 is the base pointer.
  kBlockPointer,
  kDescriptor,
  kTuple,
  // aux: which.
  kItem,
  // Operands: before the loop, after the body. aux: the loop.
  kPhi,
  // Operand 0: the kPhi.
  kExit,
  // The variable of a for loop; aux: the loop; operands: the bounds.
  kIndex,
};

struct Value {
  Op op = Op::kUnknown;
  Effect effect = Effect::kUnknown;
  // Made by the body of a helper.
  bool inlined = false;
  uint16_t loop = 0;
  NodeId node = kNoNode;
  uint32_t first_operand = 0;
  uint32_t operand_count = 0;
  int32_t aux = 0;
};

// Loop 0 is the function itself.
struct Loop {
  uint16_t parent = 0;
  uint16_t depth = 0;
  NodeId node = kNoNode;
  // A literal number of rounds, written as a loop: no dimension of the data.
  bool literal = false;
};

struct FlowParam {
  std::string_view name;
  NodeId node = kNoNode;
  NodeId annotation = kNoNode;
  NodeId default_value = kNoNode;
  bool is_constexpr = false;
  // *args or **kwargs.
  bool is_vararg = false;
};

// A load, store or atomic, in execution order.
struct MemoryAccess {
  Effect effect = Effect::kLoad;
  NodeId node = kNoNode;
  ValueId address = kNoValue;
  NodeId address_node = kNoNode;
  // Stored or combined; kNoValue for a load.
  ValueId value = kNoValue;
  NodeId value_node = kNoNode;
  ValueId mask = kNoValue;
  NodeId mask_node = kNoNode;
  NodeId other_node = kNoNode;
  // What a load gives.
  ValueId result = kNoValue;
  uint16_t loop = 0;
  bool inlined = false;
  // Called as a method: desc.load([...]).
  bool method = false;
};

// Any other call worth telling: dots, reductions, barriers …
struct NotableCall {
  Effect effect = Effect::kUnknown;
  NodeId node = kNoNode;
  // "dot", "libdevice.tanh".
  std::string name;
  uint16_t loop = 0;
  bool inlined = false;
};

struct Flow {
  std::vector<Value> values;
  std::vector<ValueId> operands;
  std::vector<Loop> loops;
  std::vector<FlowParam> params;
  std::vector<MemoryAccess> accesses;
  std::vector<NotableCall> calls;
  std::vector<ValueId> returns;
  // What `if` statements and conditional expressions test.
  std::vector<ValueId> conditions;
  // Jit functions called in the function's own body, as indices.
  std::vector<int> callees;
  // Paths of functions whose body is elsewhere.
  std::vector<std::string> foreign;
  int unseen_calls = 0;
  // The body passed a limit and is described in part.
  bool truncated = false;

  std::span<const ValueId> OperandsOf(ValueId id) const {
    const Value& value = at(id);
    return std::span(operands).subspan(value.first_operand,
                                       value.operand_count);
  }
  const Value& at(ValueId id) const { return values[static_cast<size_t>(id)]; }
  // The parameter or other value that an address starts from: through sums,
  // casts, loops and branches. kNoValue: none or several.
  ValueId RootOf(ValueId address) const;
};

// One file, parsed: what the analysis of its functions shares.
struct SourceFile {
  explicit SourceFile(const Syntax& tree)
      : syntax(tree), names(tree), functions(tree, names) {}
  const Syntax& syntax;
  Names names;
  Functions functions;
};

// The parameters of a definition, in order.
std::vector<FlowParam> ParamsOf(const SourceFile& source, NodeId def);

// The data flow of function `index` of the file.
Flow BuildFlow(const SourceFile& source, int index);

}  // namespace kernelfleet::kernel

#endif  // KERNELFLEET_COMMON_KERNEL_FLOW_H_
