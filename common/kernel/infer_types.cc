#include "common/kernel/infer_types.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace kernelfleet::kernel {
namespace {

bool IsOneOf(std::string_view name,
             std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool IsReal(Number n) {
  return n == Number::kReal || n == Number::kFp16 || n == Number::kBf16 ||
         n == Number::kFp32;
}

Number Join(Number a, Number b) {
  if (a == b || b == Number::kUnknown) return a;
  if (a == Number::kUnknown) return b;
  if (a == Number::kFp32 || b == Number::kFp32) return Number::kFp32;
  if (IsReal(a) && IsReal(b)) return Number::kReal;
  if (IsReal(a)) return a;
  if (IsReal(b)) return b;
  return Number::kInt;
}

std::string_view LastPart(std::string_view path) {
  return path.substr(path.rfind('.') + 1);
}

// Strength of evidence.
constexpr int kCertain = 8;
constexpr int kStrong = 5;
constexpr int kFair = 3;
constexpr int kWeak = 1;

// Sums share operands; without a budget the search doubles at each of them.
constexpr int kRootBudget = 600;

class Solver {
 public:
  Solver(const SourceFile& source, const Flow& flow,
         const std::vector<Number>& constants)
      : source_(source),
        syntax_(source.syntax),
        flow_(flow),
        constants_(constants) {
    have_.resize(flow.values.size());
    wants_.resize(flow.values.size());
    out_.resize(flow.params.size());
    loads_.resize(flow.values.size());
  }

  std::vector<ParamTypes> Solve() {
    FindPointers();
    for (int round = 0; round < 4; ++round) {
      for (ValueId id = 0; id < Size(); ++id) Forward(id);
      if (round == 0) Addresses();
      for (ValueId id = Size() - 1; id >= 0; --id) Backward(id);
      Accesses();
    }
    for (ValueId id = 0; id < Size(); ++id) {
      if (flow_.at(id).op != Op::kParam) continue;
      ParamTypes& param = out_[static_cast<size_t>(flow_.at(id).aux)];
      if (!param.pointer && !param.descriptor) param.wants = Want(id);
    }
    return std::move(out_);
  }

 private:
  ValueId Size() const { return static_cast<ValueId>(flow_.values.size()); }
  Number& Have(ValueId id) { return have_[static_cast<size_t>(id)]; }
  Wants& Want(ValueId id) { return wants_[static_cast<size_t>(id)]; }
  int Line(ValueId id) const {
    return flow_.at(id).node == kNoNode ? 0 : syntax_.line(flow_.at(id).node);
  }

  std::string CalleeOf(NodeId call) const {
    if (call == kNoNode || syntax_.kind(call) != Kind::kCall) return {};
    const NodeId callee = syntax_.Child(call, Field::kFunction);
    if (callee == kNoNode) return {};
    const std::string path = source_.names.Path(callee);
    return std::string(LastPart(path.empty() ? syntax_.TextOf(callee) : path));
  }

  // Parameters that an address starts from.
  void Roots(ValueId id, std::set<ValueId>& seen, std::set<size_t>& out) {
    if (id == kNoValue || !seen.insert(id).second || seen.size() > 2000) return;
    const Value& value = flow_.at(id);
    const auto operands = flow_.OperandsOf(id);
    switch (value.op) {
      case Op::kParam:
        if (!flow_.params[static_cast<size_t>(value.aux)].is_constexpr) {
          out.insert(static_cast<size_t>(value.aux));
        }
        break;
      case Op::kBlockPointer:
      case Op::kDescriptor:
      case Op::kCast:
      case Op::kExpand:
      case Op::kReshape:
      case Op::kBroadcast:
      case Op::kTranspose:
      case Op::kExit:
      case Op::kItem:
        if (!operands.empty()) Roots(operands[0], seen, out);
        break;
      case Op::kPhi:
        // Before the loop; what the loop adds to it is an offset.
        if (!operands.empty()) Roots(operands[0], seen, out);
        break;
      case Op::kSelect:
        for (ValueId operand : operands) Roots(operand, seen, out);
        break;
      case Op::kWhere:
        for (size_t i = 1; i < operands.size(); ++i) {
          Roots(operands[i], seen, out);
        }
        break;
      case Op::kBinary: {
        if (operands.size() != 2 || (value.aux != '+' && value.aux != '-')) {
          break;
        }
        std::set<size_t> left;
        std::set<size_t> right;
        // Each side afresh: a base that another path has met is met again.
        std::set<ValueId> seen_left = seen;
        std::set<ValueId> seen_right = seen;
        if (--root_budget_ < 0) break;
        Roots(operands[0], seen_left, left);
        Roots(operands[1], seen_right, right);
        if (!left.empty() && !right.empty()) {
          // One of them is an offset: not the one that says pointer.
          const bool swap = !Named(left) && Named(right);
          (swap ? left : right).clear();
        }
        out.insert(left.begin(), left.end());
        out.insert(right.begin(), right.end());
        break;
      }
      default:
        break;
    }
  }

  bool Named(const std::set<size_t>& params) const {
    for (size_t index : params) {
      const std::string_view name = flow_.params[index].name;
      for (std::string_view mark : {"ptr", "Ptr", "PTR"}) {
        if (name.find(mark) != std::string_view::npos) return true;
      }
    }
    return false;
  }

  void FindPointers() {
    roots_.resize(flow_.accesses.size());
    for (size_t i = 0; i < flow_.accesses.size(); ++i) {
      const MemoryAccess& access = flow_.accesses[i];
      std::set<ValueId> seen;
      root_budget_ = kRootBudget;
      Roots(access.address, seen, roots_[i]);
      const ValueId root = flow_.RootOf(access.address);
      const bool made =
          root != kNoValue && (flow_.at(root).op == Op::kDescriptor ||
                               flow_.at(root).op == Op::kBlockPointer);
      for (size_t index : roots_[i]) {
        ParamTypes& param = out_[index];
        (access.method && !made ? param.descriptor : param.pointer) = true;
        param.pointer_line = syntax_.line(access.node);
        if (access.method && !made) {
          param.descriptor_rank =
              std::max(param.descriptor_rank, OffsetsOf(access.node));
        }
      }
      if (access.result != kNoValue) {
        loads_[static_cast<size_t>(access.result)] = static_cast<int>(i) + 1;
      }
    }
    for (const Value& value : flow_.values) {
      // A base that nothing is loaded through is a pointer all the same.
      if (value.op != Op::kBlockPointer && value.op != Op::kDescriptor) {
        continue;
      }
      std::set<ValueId> seen;
      root_budget_ = kRootBudget;
      std::set<size_t> bases;
      const auto id = static_cast<ValueId>(&value - flow_.values.data());
      Roots(id, seen, bases);
      for (size_t index : bases) out_[index].pointer = true;
    }
  }

  // Items of the list of offsets: desc.load([a, b]).
  int OffsetsOf(NodeId call) const {
    const NodeId list = syntax_.Child(call, Field::kArguments);
    const NodeId first = list == kNoNode ? kNoNode : syntax_.first_child(list);
    if (first == kNoNode) return 0;
    if (syntax_.kind(first) != Kind::kList &&
        syntax_.kind(first) != Kind::kTuple) {
      return 0;
    }
    int count = 0;
    for (NodeId child : syntax_.Children(first)) count += child != kNoNode;
    return count;
  }

  Number OfDtype(std::string_view text) const {
    if (text.find("dtype") != std::string_view::npos) return Number::kUnknown;
    const std::string_view name = LastPart(text);
    if (name == "float32" || name == "float64") return Number::kFp32;
    if (name == "float16") return Number::kFp16;
    if (name == "bfloat16") return Number::kBf16;
    if (name.starts_with("float8")) return Number::kReal;
    if (name == "int1") return Number::kBool;
    if (name.starts_with("int") || name.starts_with("uint")) {
      return Number::kInt;
    }
    return Number::kUnknown;
  }

  // The type that a cast or a tile names, as text; empty: none.
  std::string DtypeText(NodeId call, int position) const {
    if (call == kNoNode || syntax_.kind(call) != Kind::kCall) return {};
    const NodeId list = syntax_.Child(call, Field::kArguments);
    if (list == kNoNode) return {};
    int at = 0;
    for (NodeId child : syntax_.Children(list)) {
      if (syntax_.kind(child) == Kind::kKeywordArgument) {
        const NodeId name = syntax_.Child(child, Field::kName);
        const NodeId value = syntax_.Child(child, Field::kValue);
        if (name != kNoNode && value != kNoNode &&
            syntax_.TextOf(name) == "dtype") {
          return std::string(syntax_.TextOf(value));
        }
      } else if (at++ == position) {
        return std::string(syntax_.TextOf(child));
      }
    }
    return {};
  }

  std::string CastText(ValueId id) const {
    const NodeId node = flow_.at(id).node;
    const std::string name = CalleeOf(node);
    if (name == "to") return DtypeText(node, 0);
    if (name == "cast") return DtypeText(node, 1);
    return {};
  }

  Number JoinOperands(ValueId id, size_t from) {
    Number out = Number::kUnknown;
    const auto operands = flow_.OperandsOf(id);
    for (size_t i = from; i < operands.size(); ++i) {
      out = Join(out, Have(operands[i]));
    }
    return out;
  }

  Number OfCall(ValueId id) {
    const Value& value = flow_.at(id);
    const std::string name = CalleeOf(value.node);
    if (value.effect == Effect::kStatic) return Number::kInt;
    if (value.effect == Effect::kElementwise ||
        value.effect == Effect::kLibdevice) {
      if (IsOneOf(name, {"abs", "maximum", "minimum", "max", "min", "clamp",
                         "add", "sub", "mul"})) {
        return JoinOperands(id, 0);
      }
      if (IsOneOf(name, {"cdiv", "umulhi", "int"})) return Number::kInt;
      if (IsOneOf(name, {"logical_and", "logical_or", "isnan", "isinf"})) {
        return Number::kBool;
      }
      if (TakesReal(name) || value.effect == Effect::kLibdevice) {
        return Number::kFp32;
      }
      return JoinOperands(id, 0);
    }
    return Number::kUnknown;
  }

  static bool TakesReal(std::string_view name) {
    return IsOneOf(name, {"exp",   "exp2",  "log",     "log2",    "sqrt",
                          "rsqrt", "sin",   "cos",     "sigmoid", "erf",
                          "tanh",  "log1p", "sqrt_rn", "div_rn",  "softmax",
                          "floor", "ceil",  "fdiv",    "fma",     "pow"});
  }

  void Forward(ValueId id) {
    const Value& value = flow_.at(id);
    Number& have = Have(id);
    switch (value.op) {
      case Op::kConstant:
        have = OfConstant(value.node);
        break;
      case Op::kParam:
        have = OfParam(id);
        break;
      case Op::kBinary:
        have = value.aux == '/' ? Number::kReal : JoinOperands(id, 0);
        break;
      case Op::kCompare:
        have = Number::kBool;
        break;
      case Op::kWhere:
        have = JoinOperands(id, 1);
        break;
      case Op::kUnary:
      case Op::kSelect:
      case Op::kPhi:
      case Op::kExit:
      case Op::kExpand:
      case Op::kReshape:
      case Op::kBroadcast:
      case Op::kTranspose:
      case Op::kJoin:
      case Op::kItem:
      case Op::kScan:
      case Op::kPermuteLanes:
        have = JoinOperands(id, 0);
        break;
      case Op::kReduce:
        have = CalleeOf(value.node).starts_with("arg") ? Number::kInt
                                                       : JoinOperands(id, 0);
        break;
      case Op::kLoad:
        have = OfLoad(id);
        break;
      case Op::kDot:
      case Op::kNormalize:
      case Op::kRandom:
        have = Number::kFp32;
        break;
      case Op::kHistogram:
      case Op::kArange:
      case Op::kProgramId:
      case Op::kIndex:
        have = Number::kInt;
        break;
      case Op::kFull: {
        const std::string name = CalleeOf(value.node);
        have = OfDtype(DtypeText(value.node, name == "full" ? 2 : 1));
        break;
      }
      case Op::kCast: {
        const std::string text = CastText(id);
        have = text.empty() ? JoinOperands(id, 0) : OfDtype(text);
        break;
      }
      case Op::kCall:
        have = OfCall(id);
        break;
      default:
        break;
    }
  }

  Number OfConstant(NodeId node) const {
    if (node == kNoNode) return Number::kUnknown;
    switch (syntax_.kind(node)) {
      case Kind::kInteger:
        return Number::kInt;
      case Kind::kFloat:
        return Number::kReal;
      case Kind::kTrue:
      case Kind::kFalse:
        return Number::kBool;
      case Kind::kCall: {
        const std::string name = CalleeOf(node);
        if (name == "cdiv" || name == "next_power_of_2") return Number::kInt;
        return Number::kUnknown;
      }
      default:
        return Number::kUnknown;
    }
  }

  Number OfParam(ValueId id) {
    const auto index = static_cast<size_t>(flow_.at(id).aux);
    if (flow_.params[index].is_constexpr) return constants_[index];
    if (out_[index].pointer) return Number::kUnknown;
    return Decide(Want(id));
  }

  static Number Decide(const Wants& wants) {
    const int real = std::max({wants.real, wants.fp32, wants.dot});
    const int whole = std::max(wants.integer, wants.boolean);
    if (wants.integer >= kCertain || whole > real) return Number::kInt;
    if (wants.fp32 > 0) return Number::kFp32;
    return real > 0 ? Number::kReal : Number::kUnknown;
  }

  Number OfLoad(ValueId id) {
    const int access = loads_[static_cast<size_t>(id)];
    if (access == 0) return Number::kUnknown;
    Number out = Number::kUnknown;
    for (size_t index : roots_[static_cast<size_t>(access - 1)]) {
      out = Join(out, Decide(out_[index].wants));
    }
    return out;
  }

  void Raise(int& slot, int strength, ValueId id, Wants& wants) {
    if (strength <= slot) return;
    slot = strength;
    if (Line(id) > 0) wants.line = Line(id);
  }
  void AskInt(ValueId id, int strength, ValueId by) {
    if (id != kNoValue) Raise(Want(id).integer, strength, by, Want(id));
  }
  void AskBool(ValueId id, int strength, ValueId by) {
    if (id != kNoValue) Raise(Want(id).boolean, strength, by, Want(id));
  }
  void AskReal(ValueId id, int strength, ValueId by) {
    if (id != kNoValue) Raise(Want(id).real, strength, by, Want(id));
  }

  // Whatever is added to a base is a whole number.
  void Offset(ValueId id, std::set<ValueId>& seen) {
    if (id == kNoValue || !seen.insert(id).second || seen.size() > 4000) return;
    const Value& value = flow_.at(id);
    const auto operands = flow_.OperandsOf(id);
    switch (value.op) {
      case Op::kParam:
        if (!out_[static_cast<size_t>(value.aux)].pointer) {
          AskInt(id, kCertain, id);
        }
        break;
      case Op::kLoad:
        AskInt(id, kCertain, id);
        break;
      case Op::kBinary:
      case Op::kPhi:
      case Op::kSelect:
      case Op::kUnary:
      case Op::kExit:
      case Op::kExpand:
      case Op::kReshape:
      case Op::kBroadcast:
      case Op::kTranspose:
      case Op::kReduce:
      case Op::kScan:
      case Op::kPermuteLanes:
        for (ValueId operand : operands) Offset(operand, seen);
        break;
      case Op::kWhere:
        for (size_t i = 1; i < operands.size(); ++i) Offset(operands[i], seen);
        break;
      case Op::kCast:
        for (ValueId operand : operands) {
          if (CastText(id).empty()) {
            Offset(operand, seen);
          } else {
            AskInt(operand, kStrong, id);
            Offset(operand, seen);
          }
        }
        break;
      case Op::kCall:
        if (IsOneOf(CalleeOf(value.node),
                    {"minimum", "maximum", "min", "max", "abs", "clamp"})) {
          for (ValueId operand : operands) Offset(operand, seen);
        }
        break;
      default:
        break;
    }
  }

  void Addresses() {
    std::set<ValueId> seen;
    for (const MemoryAccess& access : flow_.accesses) {
      Offset(access.address, seen);
    }
    // A number loaded and cast to a pointer.
    for (ValueId id = 0; id < Size(); ++id) {
      if (flow_.at(id).op != Op::kCast) continue;
      const std::string text = CastText(id);
      if (text.find("pointer_type") == std::string::npos &&
          text.find("PointerType") == std::string::npos) {
        continue;
      }
      for (ValueId operand : flow_.OperandsOf(id)) {
        Want(operand).address = kCertain;
        AskInt(operand, kCertain, id);
      }
    }
  }

  void Pass(ValueId id, ValueId operand) {
    const Wants from = Want(id);
    Wants& to = Want(operand);
    const auto raise = [&](int Wants::*slot) {
      if (from.*slot > to.*slot) {
        to.*slot = from.*slot;
        to.line = from.line;
      }
    };
    raise(&Wants::integer);
    raise(&Wants::boolean);
    raise(&Wants::real);
    raise(&Wants::fp32);
    raise(&Wants::dot);
  }

  void PassArithmetic(ValueId id) {
    const Value& value = flow_.at(id);
    const auto operands = flow_.OperandsOf(id);
    if (operands.size() != 2) return;
    const Number left = Have(operands[0]);
    const Number right = Have(operands[1]);
    const Wants& wants = Want(id);
    if (value.aux == 'f' || value.aux == '%') {
      for (ValueId operand : operands) AskInt(operand, kStrong, id);
      return;
    }
    if (value.aux == '&' || value.aux == '|' || value.aux == '^' ||
        value.aux == '<' || value.aux == '>') {
      const bool truth = value.aux != '<' && value.aux != '>' &&
                         (left == Number::kBool || right == Number::kBool);
      for (ValueId operand : operands) {
        if (truth) {
          AskBool(operand, kStrong, id);
        } else {
          AskInt(operand, kStrong, id);
        }
      }
      return;
    }
    if (value.aux == '@') return;
    for (size_t i = 0; i < 2; ++i) {
      const Number other = i == 0 ? right : left;
      const ValueId operand = operands[i];
      if (wants.integer > 0) AskInt(operand, wants.integer, id);
      if (IsReal(other)) {
        AskReal(operand, kFair, id);
      } else if (other == Number::kInt && !ConstantOperand(operands[1 - i])) {
        AskInt(operand, kWeak, id);
      }
      if (value.aux == '/') AskReal(operand, kFair, id);
      if (wants.real > 0) AskReal(operand, wants.real - 1, id);
      // A partner in fp32 widens the rest.
      if (wants.fp32 > 0 && other != Number::kFp32) {
        Raise(Want(operand).fp32, wants.fp32, id, Want(operand));
      }
      if (wants.dot > 0) {
        Raise(Want(operand).dot, wants.dot, id, Want(operand));
      }
    }
  }

  bool ConstantOperand(ValueId id) const {
    return flow_.at(id).op == Op::kConstant;
  }

  void PassCompare(ValueId id) {
    const auto operands = flow_.OperandsOf(id);
    const NodeId node = flow_.at(id).node;
    const Kind kind = node == kNoNode ? Kind::kOther : syntax_.kind(node);
    if (kind != Kind::kComparisonOperator) {
      for (ValueId operand : operands) AskBool(operand, kFair, id);
      return;
    }
    for (ValueId operand : operands) {
      for (ValueId other : operands) {
        if (other == operand) continue;
        if (IsReal(Have(other))) AskReal(operand, kStrong, id);
        if (Have(other) == Number::kInt) {
          // 0 is compared with anything.
          AskInt(operand, ConstantOperand(other) ? kFair : kStrong, id);
        }
      }
    }
  }

  void PassCall(ValueId id) {
    const Value& value = flow_.at(id);
    const auto operands = flow_.OperandsOf(id);
    const std::string name = CalleeOf(value.node);
    if (value.effect == Effect::kRange || value.effect == Effect::kStatic) {
      for (ValueId operand : operands) AskInt(operand, kCertain, id);
      return;
    }
    if (IsOneOf(name, {"minimum", "maximum", "abs", "min", "max", "clamp",
                       "add", "sub", "mul"})) {
      const Number all = JoinOperands(id, 0);
      for (ValueId operand : operands) {
        Pass(id, operand);
        if (IsReal(all)) AskReal(operand, kFair, id);
        if (all == Number::kInt) AskInt(operand, kFair, id);
      }
      return;
    }
    if (value.effect == Effect::kLibdevice || TakesReal(name)) {
      const int strength = name == "floor" || name == "ceil" ? kFair : kStrong;
      for (ValueId operand : operands) {
        AskReal(operand, strength, id);
        Raise(Want(operand).fp32, strength, id, Want(operand));
      }
    }
  }

  void PassCast(ValueId id) {
    const auto operands = flow_.OperandsOf(id);
    const std::string text = CastText(id);
    if (text.empty()) {
      for (ValueId operand : operands) Pass(id, operand);
      return;
    }
    const Number to = OfDtype(text);
    for (ValueId operand : operands) {
      if (to == Number::kInt) AskInt(operand, kFair, id);
      if (to == Number::kBool) AskBool(operand, kFair, id);
      if (IsReal(to)) {
        AskReal(operand, kWeak + 1, id);
        Want(operand).cast = kFair;
      }
    }
  }

  void PassDot(ValueId id) {
    const auto operands = flow_.OperandsOf(id);
    for (size_t i = 0; i < 2 && operands.size() >= 2; ++i) {
      const Number other = Have(operands[1 - i]);
      AskReal(operands[i], kFair, id);
      if (other == Number::kFp32) {
        Raise(Want(operands[i]).fp32, kFair, id, Want(operands[i]));
      } else if (other == Number::kBf16) {
        Raise(Want(operands[i]).dot, kStrong + 1, id, Want(operands[i]));
      } else {
        Raise(Want(operands[i]).dot, kStrong, id, Want(operands[i]));
      }
    }
  }

  void Backward(ValueId id) {
    const Value& value = flow_.at(id);
    const auto operands = flow_.OperandsOf(id);
    switch (value.op) {
      case Op::kBinary:
        PassArithmetic(id);
        break;
      case Op::kCompare:
        PassCompare(id);
        break;
      case Op::kWhere:
        if (!operands.empty()) AskBool(operands[0], kFair, id);
        for (size_t i = 1; i < operands.size(); ++i) {
          Pass(id, operands[i]);
          if (IsReal(JoinOperands(id, 1))) AskReal(operands[i], kWeak, id);
        }
        break;
      case Op::kSelect:
      case Op::kPhi:
      case Op::kExit:
      case Op::kExpand:
      case Op::kReshape:
      case Op::kBroadcast:
      case Op::kTranspose:
      case Op::kUnary:
      case Op::kJoin:
      case Op::kScan:
      case Op::kPermuteLanes:
        for (ValueId operand : operands) Pass(id, operand);
        break;
      case Op::kReduce:
        if (!CalleeOf(value.node).starts_with("arg")) {
          for (ValueId operand : operands) Pass(id, operand);
        }
        break;
      case Op::kHistogram:
        for (ValueId operand : operands) AskInt(operand, kStrong, id);
        break;
      case Op::kCast:
        PassCast(id);
        break;
      case Op::kDot:
        PassDot(id);
        break;
      case Op::kCall:
        PassCall(id);
        break;
      default:
        break;
    }
  }

  static void Merge(const Wants& from, Wants& to) {
    to.integer = std::max(to.integer, from.integer);
    to.boolean = std::max(to.boolean, from.boolean);
    to.real = std::max(to.real, from.real);
    to.fp32 = std::max(to.fp32, from.fp32);
    to.dot = std::max(to.dot, from.dot);
    to.address = std::max(to.address, from.address);
    to.cast = std::max(to.cast, from.cast);
    if (to.line == 0) to.line = from.line;
  }

  void Accesses() {
    for (size_t i = 0; i < flow_.accesses.size(); ++i) {
      const MemoryAccess& access = flow_.accesses[i];
      if (access.mask != kNoValue) AskBool(access.mask, kFair, access.mask);
      for (size_t index : roots_[i]) {
        ParamTypes& param = out_[index];
        if (access.result != kNoValue && access.effect == Effect::kLoad) {
          Merge(Want(access.result), param.wants);
        }
        if (access.effect == Effect::kAtomic) param.wants.atomic = kFair;
        if (access.effect == Effect::kAtomicSync) {
          param.wants.integer = std::max(param.wants.integer, kStrong);
        }
        if (access.value == kNoValue) continue;
        param.stored = Join(param.stored, Have(access.value));
        if (flow_.at(access.value).op == Op::kCast) {
          param.wants.cast = std::max(param.wants.cast, kWeak);
        }
      }
    }
  }

  const SourceFile& source_;
  const Syntax& syntax_;
  const Flow& flow_;
  const std::vector<Number>& constants_;
  std::vector<Number> have_;
  std::vector<Wants> wants_;
  std::vector<ParamTypes> out_;
  // For a load's result, its access + 1.
  std::vector<int> loads_;
  std::vector<std::set<size_t>> roots_;
  int root_budget_ = 0;
};

}  // namespace

std::vector<ParamTypes> FindTypes(const SourceFile& source, const Flow& flow,
                                  const std::vector<Number>& constants) {
  return Solver(source, flow, constants).Solve();
}

}  // namespace kernelfleet::kernel
