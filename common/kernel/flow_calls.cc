#include <algorithm>

#include "common/kernel/flow_builder.h"

namespace kernelfleet::kernel {
namespace {

constexpr size_t kMaxInlineDepth = 10;
constexpr size_t kMaxInlinedValues = 20000;

// Python's own functions that Triton compiles.
Effect EffectOfBuiltin(std::string_view name) {
  if (name == "range") return Effect::kRange;
  for (std::string_view elementwise : {"min", "max", "abs", "float", "int",
                                       "round", "bool", "pow", "divmod"}) {
    if (name == elementwise) return Effect::kElementwise;
  }
  for (std::string_view fixed : {"len", "print", "isinstance", "getattr",
                                 "hasattr", "type", "str", "tuple", "list"}) {
    if (name == fixed) return Effect::kStatic;
  }
  return Effect::kUnknown;
}

std::string_view LastPart(std::string_view path) {
  return path.substr(path.rfind('.') + 1);
}

}  // namespace

void FlowBuilder::ReadArguments(Call& call) {
  const NodeId list = syntax_.Child(call.node, Field::kArguments);
  if (list == kNoNode) return;
  if (syntax_.kind(list) != Kind::kArgumentList) {
    call.arguments.push_back({{}, list, Eval(list)});
    return;
  }
  for (NodeId child : syntax_.Children(list)) {
    Argument argument;
    argument.node = child;
    if (syntax_.kind(child) == Kind::kKeywordArgument) {
      const NodeId name = syntax_.Child(child, Field::kName);
      const NodeId value = syntax_.Child(child, Field::kValue);
      if (name == kNoNode || value == kNoNode) continue;
      argument.name = syntax_.TextOf(name);
      argument.node = value;
    }
    argument.value = Eval(argument.node);
    call.arguments.push_back(argument);
  }
}

const FlowBuilder::Argument* FlowBuilder::Find(const Call& call,
                                               std::string_view name,
                                               size_t position) const {
  size_t at = 0;
  for (const Argument& argument : call.arguments) {
    if (argument.name.empty() ? at++ == position : argument.name == name) {
      return &argument;
    }
  }
  return nullptr;
}

ValueId FlowBuilder::EvalCall(NodeId node) {
  Call call;
  call.node = node;
  const NodeId callee = syntax_.Child(node, Field::kFunction);
  if (callee == kNoNode) return Add(Op::kUnknown, node);
  switch (syntax_.kind(callee)) {
    case Kind::kIdentifier:
      return CallByName(call, callee);
    case Kind::kAttribute:
      return CallByAttribute(call, callee);
    default:
      return CallValue(call, Eval(callee));
  }
}

ValueId FlowBuilder::CallByName(Call& call, NodeId callee) {
  const std::string_view name = syntax_.TextOf(callee);
  if (const ValueId variable = Lookup(name); variable != kNoValue) {
    return CallValue(call, variable);
  }
  ReadArguments(call);
  call.name = std::string(name);
  if (const int function = source_.functions.FindJit(name, frame().function);
      function >= 0) {
    return Inline(call, function);
  }
  if (const std::string_view path = source_.names.Binding(name);
      !path.empty()) {
    return CallPath(call, path);
  }
  call.effect = EffectOfBuiltin(name);
  // Python's min and max are arithmetic on scalars, no calls into Triton.
  if (call.effect == Effect::kElementwise) return ApplySimple(call, Op::kCall);
  if (call.effect == Effect::kUnknown && source_.names.star_import()) {
    call.effect = EffectOfName(name);
  }
  return Apply(call);
}

ValueId FlowBuilder::CallByAttribute(Call& call, NodeId callee) {
  const NodeId object = syntax_.Child(callee, Field::kObject);
  const NodeId name = syntax_.Child(callee, Field::kAttribute);
  if (object == kNoNode || name == kNoNode) return Add(Op::kUnknown, call.node);
  NodeId start = object;
  while (syntax_.kind(start) == Kind::kAttribute &&
         syntax_.Child(start, Field::kObject) != kNoNode) {
    start = syntax_.Child(start, Field::kObject);
  }
  const bool hidden = syntax_.kind(start) == Kind::kIdentifier &&
                      Lookup(syntax_.TextOf(start)) != kNoValue;
  if (!hidden) {
    if (const std::string path = source_.names.Path(callee); !path.empty()) {
      ReadArguments(call);
      return CallPath(call, path);
    }
  }
  call.method = true;
  call.name = std::string(syntax_.TextOf(name));
  call.arguments.push_back({{}, object, Eval(object)});
  ReadArguments(call);
  call.effect = EffectOfMethod(call.name);
  // Tensors have a gather of their own; a descriptor's reads memory.
  if (call.name == "gather") {
    const ValueId root = flow_.RootOf(call.arguments[0].value);
    const Op op = root == kNoValue ? Op::kUnknown : At(root).op;
    if (op != Op::kParam && op != Op::kDescriptor) {
      call.effect = Effect::kPermuteLanes;
    }
  }
  return Apply(call);
}

ValueId FlowBuilder::CallValue(Call& call, ValueId callee) {
  ReadArguments(call);
  const Value value = At(callee);
  if (value.op == Op::kFunction) return Inline(call, value.aux);
  if (value.op == Op::kReference) {
    const std::string path = source_.names.Path(value.node);
    return CallPath(call, path);
  }
  return Opaque(call);
}

ValueId FlowBuilder::CallPath(Call& call, std::string_view path) {
  call.effect = EffectOfPath(path);
  call.name = path.starts_with("triton.language.") ? std::string(LastPart(path))
                                                   : std::string(path);
  if (call.effect != Effect::kUnknown) return Apply(call);
  // A project's own wrapper of a Triton function keeps its name.
  if (std::find(flow_.foreign.begin(), flow_.foreign.end(), path) ==
      flow_.foreign.end()) {
    flow_.foreign.emplace_back(path);
  }
  call.effect = EffectOfName(LastPart(path));
  if (call.effect == Effect::kUnknown) return Opaque(call);
  call.name = std::string(LastPart(path));
  return Apply(call);
}

ValueId FlowBuilder::Opaque(const Call& call) {
  ++flow_.unseen_calls;
  return ApplySimple(call, Op::kCall);
}

ValueId FlowBuilder::ApplySimple(const Call& call, Op op) {
  std::vector<ValueId> operands;
  for (const Argument& argument : call.arguments) {
    operands.push_back(argument.value);
  }
  const ValueId value = Add(op, call.node, operands);
  At(value).effect = call.effect;
  return value;
}

void FlowBuilder::Note(const Call& call) {
  flow_.calls.push_back({call.effect, call.node, call.name, loop_, inlined()});
}

ValueId FlowBuilder::Apply(Call& call) {
  const auto first_only = [&](Op op) {
    const ValueId input =
        call.arguments.empty() ? kNoValue : call.arguments[0].value;
    const ValueId value = Add(op, call.node, {input});
    At(value).effect = call.effect;
    return value;
  };
  switch (call.effect) {
    case Effect::kUnknown:
      return Opaque(call);
    case Effect::kLoad:
    case Effect::kStore:
    case Effect::kAtomic:
    case Effect::kAtomicSync:
      return ApplyMemory(call);
    case Effect::kDot:
      Note(call);
      return ApplySimple(call, Op::kDot);
    case Effect::kReduce:
      Note(call);
      if (call.name == "welford") return ApplySimple(call, Op::kReduce);
      return first_only(Op::kReduce);
    case Effect::kNormalize:
      Note(call);
      return first_only(Op::kNormalize);
    case Effect::kScan:
      Note(call);
      return first_only(Op::kScan);
    case Effect::kPermuteLanes:
      Note(call);
      return first_only(Op::kPermuteLanes);
    case Effect::kHistogram:
      Note(call);
      return first_only(Op::kHistogram);
    case Effect::kArange:
      return ApplySimple(call, Op::kArange);
    case Effect::kFull:
      return ApplySimple(call, Op::kFull);
    case Effect::kProgramId:
      return Add(Op::kProgramId, call.node);
    case Effect::kRange:
      return ApplySimple(call, Op::kCall);
    case Effect::kElementwise:
    case Effect::kLibdevice:
    case Effect::kInlineAsm:
      Note(call);
      return ApplySimple(call, Op::kCall);
    case Effect::kWhere:
      return ApplySimple(call, Op::kWhere);
    case Effect::kCast:
      return first_only(Op::kCast);
    case Effect::kReshape:
      return first_only(Op::kReshape);
    case Effect::kTranspose:
      return first_only(Op::kTranspose);
    case Effect::kBroadcastTo:
      return first_only(Op::kBroadcast);
    case Effect::kExpandDims:
      return first_only(Op::kReshape);
    case Effect::kJoin:
      return ApplySimple(call, Op::kJoin);
    case Effect::kHint:
      Note(call);
      return first_only(Op::kCast);
    case Effect::kRandom:
      Note(call);
      return Add(Op::kRandom, call.node);
    case Effect::kDebug:
    case Effect::kBarrier:
      Note(call);
      return Add(Op::kConstant, call.node);
    case Effect::kMakeBlockPointer:
      Note(call);
      return first_only(Op::kBlockPointer);
    case Effect::kAdvance:
      return first_only(Op::kCast);
    case Effect::kMakeDescriptor:
      Note(call);
      return first_only(Op::kDescriptor);
    case Effect::kStatic:
      // Of what is computed when compiling, only this is data of the kernel.
      if (call.name.ends_with("cdiv")) return ApplySimple(call, Op::kCall);
      return Add(Op::kConstant, call.node);
  }
  return Opaque(call);
}

ValueId FlowBuilder::ApplyMemory(const Call& call) {
  MemoryAccess access;
  access.effect = call.effect;
  access.node = call.node;
  access.loop = loop_;
  access.inlined = inlined();
  access.method = call.method;
  // A descriptor method: receiver, offsets, value. A function: address, value.
  const bool loads = call.effect == Effect::kLoad;
  const bool descriptor_function =
      call.name.find("descriptor") != std::string::npos;
  const size_t value_at = call.method || descriptor_function ? 2 : 1;
  if (const Argument* address = Find(call, "pointer", 0)) {
    access.address = address->value;
    access.address_node = address->node;
  }
  const bool cas = call.name == "atomic_cas";
  if (!loads) {
    const Argument* value = Find(call, "value", value_at);
    if (value == nullptr) value = Find(call, "val", value_at);
    // desc.store(value, ...) is never written; a lone argument is the value.
    if (value != nullptr) {
      access.value = value->value;
      access.value_node = value->node;
    }
  }
  const size_t mask_at = cas ? 99 : loads ? 1 : 2;
  if (!call.method && !descriptor_function) {
    if (const Argument* mask = Find(call, "mask", mask_at)) {
      access.mask = mask->value;
      access.mask_node = mask->node;
    }
    if (const Argument* other = Find(call, "other", loads ? 2 : 99)) {
      access.other_node = other->node;
    }
  }
  if (loads) {
    access.result = Add(Op::kLoad, call.node, {access.address, access.mask});
  } else {
    access.result = Add(Op::kAtomicResult, call.node);
  }
  flow_.accesses.push_back(access);
  return access.result;
}

ValueId FlowBuilder::Inline(const Call& call, int function) {
  if (!inlined() && std::find(flow_.callees.begin(), flow_.callees.end(),
                              function) == flow_.callees.end()) {
    flow_.callees.push_back(function);
  }
  const bool running = std::any_of(
      frames_.begin(), frames_.end(),
      [&](const Frame& frame) { return frame.function == function; });
  if (running || frames_.size() >= kMaxInlineDepth ||
      flow_.values.size() >= kMaxInlinedValues) {
    flow_.truncated |= !running;
    return Opaque(call);
  }
  const NodeId def = source_.functions.at(function).def;
  const std::vector<FlowParam> params = ParamsOf(source_, def);
  Frame inner;
  inner.function = function;
  frames_.push_back(std::move(inner));
  for (size_t i = 0; i < params.size(); ++i) {
    const Argument* argument = Find(call, params[i].name, i);
    ValueId value = kNoValue;
    if (argument != nullptr) {
      value = argument->value;
    } else if (params[i].default_value != kNoNode) {
      value = Eval(params[i].default_value);
    } else {
      value = Add(Op::kUnknown, params[i].node);
    }
    frame().variables[SlotOf(params[i].name)] = value;
  }
  RunBlock(syntax_.Child(def, Field::kBody));
  const std::vector<ValueId> returns = std::move(frame().returns);
  frames_.pop_back();
  return MergeValues(returns, call.node);
}

}  // namespace kernelfleet::kernel
