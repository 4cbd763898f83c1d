// Tensor descriptors: a view of the whole tensor, then strided views of step
// one, which are exact at every offset. Partition views, which count in whole
// tiles, read other elements when an offset is no multiple of the tile.
#include "common/base/strings.h"
#include "common/tileir/descriptors.h"
#include "common/tileir/rules.h"
#include "fmt/format.h"

namespace kernelfleet::tileir {
namespace {

constexpr int kViewMinor = 3;

// A rank-1 and wider access goes through this view, made where it is used.
ValueId EmitView(Lowering& lowering, const Descriptor& descriptor,
                 Type::Kind kind, std::vector<int64_t> tile, Padding padding) {
  Type view;
  view.kind = kind;
  view.shape = std::move(tile);
  view.padding = padding;
  view.of = lowering.kernel()
                .value_types[static_cast<size_t>(descriptor.tensor_view)];
  return lowering.Emit(
      kind == Type::Kind::kStridedView ? Code::kMakeStridedView
                                       : Code::kMakeGatherScatterView,
      {descriptor.tensor_view}, lowering.kernel().types.Add(view));
}

Attribute AllInbounds(size_t rank) {
  Attribute inbounds;
  inbounds.key = Key::kInbounds;
  inbounds.list.assign(rank, 0);  // Every dimension is checked.
  return inbounds;
}

Attribute Weak() {
  return Number(Key::kSemantics, static_cast<int>(Semantics::kWeak));
}

// The descriptor of operand 0 and `rank` scalar offsets from `first` on.
Refusal CheckOffsets(const Lowering& lowering, const ttir::Op& op, size_t first,
                     std::optional<Descriptor>* descriptor) {
  if (op.operands.empty()) return "malformed: no descriptor";
  *descriptor = lowering.DescriptorOf(op.operands[0]);
  if (!descriptor->has_value()) return "malformed: no descriptor";
  if (lowering.options().version_minor < kViewMinor) {
    return fmt::format("descriptors at any offset need bytecode 13.{}",
                       kViewMinor);
  }
  if (op.operands.size() - first != (*descriptor)->block.size()) {
    return "malformed: offsets of another rank";
  }
  for (size_t i = first; i < op.operands.size(); ++i) {
    const ttir::Type& type = lowering.TypeOf(op.operands[i]);
    if (type.tensor || !ttir::IsInteger(type.scalar)) {
      return "malformed: an offset that is no integer";
    }
  }
  return std::nullopt;
}

Access AccessOf(const Lowering& lowering, const ttir::Op& op) {
  Access access;
  access.root = lowering.RootOf(op.operands[0]);
  return access;
}

Refusal Make(Lowering& lowering, const ttir::Op& op, const Rule&) {
  const ttir::Type& type = lowering.TypeOf(op.results[0]);
  const ttir::Type& base = lowering.TypeOf(op.operands[0]);
  const size_t rank = type.shape.size();
  if (type.kind != ttir::Type::Kind::kDescriptor || rank == 0 ||
      op.operands.size() != 1 + 2 * rank || !base.pointer || base.tensor ||
      base.scalar != type.scalar) {
    return "malformed: no base, extents and strides";
  }
  TensorShape shape;
  shape.base = lowering.Use(op.operands[0]);
  for (size_t i = 0; i < rank; ++i) {
    shape.extents.push_back(ExtentOf(lowering, op.operands[1 + i]));
    shape.strides.push_back(ExtentOf(lowering, op.operands[1 + rank + i]));
  }
  if (shape.strides.back().constant != 1) {
    return "a last stride that is not the constant 1";
  }
  const std::string_view padding = WordOf(op, "padding");
  const bool nan = padding == "nan" || padding == "2";
  if (nan && !ttir::IsFloat(type.scalar)) return "NaN padding of integers";
  Descriptor descriptor;
  descriptor.block = type.shape;
  descriptor.scalar = type.scalar;
  descriptor.padding = nan ? Padding::kNan : Padding::kZero;
  descriptor.tensor_view = EmitTensorView(lowering, shape, type.scalar);
  lowering.BindDescriptor(op.results[0], std::move(descriptor));
  return std::nullopt;
}

Refusal Load(Lowering& lowering, const ttir::Op& op, const Rule&) {
  std::optional<Descriptor> descriptor;
  if (Refusal refusal = CheckOffsets(lowering, op, 1, &descriptor)) {
    return refusal;
  }
  const ttir::Type result = lowering.TypeOf(op.results[0]);
  ttir::Type block = result;
  block.shape = descriptor->block;
  if (result.scalar != descriptor->scalar || result.pointer ||
      ttir::ElementCount(block) != ttir::ElementCount(result)) {
    return "malformed: a result of another type";
  }
  Op load;
  load.code = Code::kLoadView;
  load.operands = {EmitView(lowering, *descriptor, Type::Kind::kStridedView,
                            descriptor->block, descriptor->padding)};
  for (size_t i = 1; i < op.operands.size(); ++i) {
    load.operands.push_back(lowering.Use(op.operands[i]));
  }
  const auto rank = static_cast<int>(descriptor->block.size());
  load.groups = {1, rank, 0};
  load.attributes = {Weak(), AllInbounds(descriptor->block.size())};
  if (lowering.loop_depth > 0 && lowering.latency() > 0) {
    load.attributes.push_back(Number(Key::kLatency, lowering.latency()));
  }
  const ValueId tile = lowering.kernel().NewValue(
      lowering.Tile(result.scalar, descriptor->block));
  load.results = {tile,
                  lowering.kernel().NewValue(lowering.kernel().types.Token())};
  Access access = AccessOf(lowering, op);
  access.reads = true;
  load.access = lowering.NewAccess(access);
  lowering.EmitOp(std::move(load));
  lowering.Bind(op.results[0], block == result
                                   ? tile
                                   : lowering.Emit(Code::kReshape, {tile},
                                                   lowering.TypeId_(result)));
  return std::nullopt;
}

// The stored value in the descriptor's own block shape; nothing when it does
// not fit.
std::optional<ValueId> BlockValue(Lowering& lowering,
                                  const Descriptor& descriptor,
                                  ttir::ValueId value) {
  const ttir::Type& type = lowering.TypeOf(value);
  ttir::Type block = type;
  block.shape = descriptor.block;
  if (type.scalar != descriptor.scalar || type.pointer ||
      ttir::ElementCount(block) != ttir::ElementCount(type)) {
    return std::nullopt;
  }
  if (type == block) return lowering.Use(value);
  return lowering.Emit(Code::kReshape, {lowering.Use(value)},
                       lowering.TypeId_(block));
}

Refusal Store(Lowering& lowering, const ttir::Op& op, const Rule&) {
  std::optional<Descriptor> descriptor;
  if (Refusal refusal = CheckOffsets(lowering, op, 2, &descriptor)) {
    return refusal;
  }
  const auto value = BlockValue(lowering, *descriptor, op.operands[1]);
  if (!value.has_value()) return "malformed: a value of another type";
  Op store;
  store.code = Code::kStoreView;
  store.operands = {*value,
                    EmitView(lowering, *descriptor, Type::Kind::kStridedView,
                             descriptor->block, descriptor->padding)};
  for (size_t i = 2; i < op.operands.size(); ++i) {
    store.operands.push_back(lowering.Use(op.operands[i]));
  }
  store.groups = {1, 1, static_cast<int>(descriptor->block.size()), 0};
  store.attributes = {Weak(), AllInbounds(descriptor->block.size())};
  store.results = {lowering.kernel().NewValue(lowering.kernel().types.Token())};
  Access access = AccessOf(lowering, op);
  access.writes = true;
  store.access = lowering.NewAccess(access);
  lowering.EmitOp(std::move(store));
  return std::nullopt;
}

// Which reductions mean the same for every reading of the element's bits.
std::optional<AtomicMode> ReduceMode(std::string_view kind, Scalar scalar) {
  const bool is_float = ttir::IsFloat(scalar);
  if (kind == "add") return is_float ? AtomicMode::kAddF : AtomicMode::kAdd;
  if (is_float) return std::nullopt;
  if (kind == "and") return AtomicMode::kAnd;
  if (kind == "or") return AtomicMode::kOr;
  if (kind == "xor") return AtomicMode::kXor;
  return std::nullopt;
}

Refusal ReduceInto(Lowering& lowering, const ttir::Op& op, const Rule&) {
  std::optional<Descriptor> descriptor;
  if (Refusal refusal = CheckOffsets(lowering, op, 2, &descriptor)) {
    return refusal;
  }
  const std::string_view kind = WordOf(op, "kind");
  const std::optional<AtomicMode> mode = ReduceMode(kind, descriptor->scalar);
  if (!mode.has_value()) {
    return fmt::format("a descriptor's {} on {}", Printable(kind),
                       ttir::Name(descriptor->scalar));
  }
  const auto value = BlockValue(lowering, *descriptor, op.operands[1]);
  if (!value.has_value()) return "malformed: a value of another type";
  Op atomic;
  atomic.code = Code::kAtomicRedView;
  atomic.operands = {EmitView(lowering, *descriptor, Type::Kind::kStridedView,
                              descriptor->block, Padding::kNone)};
  for (size_t i = 2; i < op.operands.size(); ++i) {
    atomic.operands.push_back(lowering.Use(op.operands[i]));
  }
  atomic.operands.push_back(*value);
  atomic.groups = {1, static_cast<int>(descriptor->block.size()), 1, 0};
  atomic.attributes = {
      Number(Key::kSemantics, static_cast<int>(Semantics::kRelaxed)),
      Number(Key::kScope, static_cast<int>(Scope::kDevice)),
      Number(Key::kMode, static_cast<int>(*mode)),
      AllInbounds(descriptor->block.size())};
  atomic.results = {
      lowering.kernel().NewValue(lowering.kernel().types.Token())};
  Access access = AccessOf(lowering, op);
  access.reads = true;
  access.writes = true;
  atomic.access = lowering.NewAccess(access);
  lowering.EmitOp(std::move(atomic));
  return std::nullopt;
}

constexpr Rule kRules[] = {
    {"tt.make_tensor_descriptor", Make, kAny, 1, Check::kNone,
     Code::kMakeTensorView},
    {"tt.descriptor_load", Load, kAny, 1, Check::kNone, Code::kLoadView},
    {"tt.descriptor_store", Store, kAny, 0, Check::kNone, Code::kStoreView},
    {"tt.descriptor_reduce", ReduceInto, kAny, 0, Check::kNone,
     Code::kAtomicRedView},
};

}  // namespace

std::span<const Rule> DescriptorRules() { return kRules; }

}  // namespace kernelfleet::tileir
