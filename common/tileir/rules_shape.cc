// Program ids, ranges, and operations that move elements without changing them.
#include <array>

#include "common/tileir/rules.h"
#include "fmt/format.h"

namespace kernelfleet::tileir {
namespace {

// One operation gives all three; the axis picks.
Refusal Grid(Lowering& lowering, const ttir::Op& op, const Rule& rule) {
  const std::string_view axis = WordOf(op, "axis");
  const size_t place = axis == "x" ? 0 : axis == "y" ? 1 : 2;
  if (axis.empty()) return "malformed: no axis";
  const TypeId i32 = lowering.Tile(Scalar::kI32);
  Op made;
  made.code = rule.code;
  for (int i = 0; i < 3; ++i) {
    made.results.push_back(lowering.kernel().NewValue(i32));
  }
  const ValueId result = made.results[place];
  lowering.EmitOp(std::move(made));
  lowering.Bind(op.results[0], result);
  return std::nullopt;
}

Refusal Range(Lowering& lowering, const ttir::Op& op, const Rule&) {
  const ttir::Type& type = lowering.TypeOf(op.results[0]);
  const std::optional<int64_t> start = IntegerOf(op, "start");
  const std::optional<int64_t> end = IntegerOf(op, "end");
  if (!start.has_value() || !end.has_value() || type.shape.size() != 1 ||
      *end - *start != type.shape[0] || !ttir::IsInteger(type.scalar)) {
    return "malformed: bounds unlike the type";
  }
  const TypeId result = lowering.TypeId_(type);
  ValueId range = lowering.Emit(Code::kIota, {}, result);
  if (*start != 0) {
    const ValueId offset =
        lowering.EmitInteger(*start, type.scalar, type.shape);
    range = lowering.Emit(Code::kAddI, {range, offset}, result,
                          {Number(Key::kOverflow, 0)});
  }
  lowering.Bind(op.results[0], range);
  return std::nullopt;
}

Refusal Splat(Lowering& lowering, const ttir::Op& op, const Rule&) {
  const ttir::Type& from = lowering.TypeOf(op.operands[0]);
  const ttir::Type& to = lowering.TypeOf(op.results[0]);
  if (from.tensor || from.scalar != to.scalar || from.pointer != to.pointer) {
    return "malformed: a splat of another type";
  }
  lowering.Bind(op.results[0],
                lowering.EmitSplat(lowering.Use(op.operands[0]), to.shape));
  return std::nullopt;
}

// Any change of shape that keeps the elements in order.
Refusal Reshape(Lowering& lowering, const ttir::Op& op, const Rule&) {
  const ttir::Type& from = lowering.TypeOf(op.operands[0]);
  const ttir::Type& to = lowering.TypeOf(op.results[0]);
  if (ttir::ElementCount(from) != ttir::ElementCount(to) ||
      from.scalar != to.scalar || from.pointer != to.pointer) {
    return "malformed: another number or type of elements";
  }
  if (from == to) {
    lowering.Bind(op.results[0], lowering.Use(op.operands[0]));
    return std::nullopt;
  }
  return LowerWith(lowering, op, Code::kReshape, {});
}

Refusal Broadcast(Lowering& lowering, const ttir::Op& op, const Rule&) {
  const ttir::Type& from = lowering.TypeOf(op.operands[0]);
  const ttir::Type& to = lowering.TypeOf(op.results[0]);
  bool fits = from.shape.size() == to.shape.size() &&
              from.scalar == to.scalar && from.pointer == to.pointer;
  for (size_t i = 0; fits && i < from.shape.size(); ++i) {
    fits = from.shape[i] == 1 || from.shape[i] == to.shape[i];
  }
  if (!fits) return "malformed: shapes that do not broadcast";
  if (from == to) {
    lowering.Bind(op.results[0], lowering.Use(op.operands[0]));
    return std::nullopt;
  }
  return LowerWith(lowering, op, Code::kBroadcast, {});
}

Refusal Transpose(Lowering& lowering, const ttir::Op& op, const Rule&) {
  const ttir::Type& from = lowering.TypeOf(op.operands[0]);
  const ttir::Type& to = lowering.TypeOf(op.results[0]);
  const ttir::Attribute* order = op.Find("order");
  if (order == nullptr || order->items.size() != from.shape.size() ||
      to.shape.size() != from.shape.size()) {
    return "malformed: no order of the dimensions";
  }
  Attribute permutation;
  permutation.key = Key::kPermutation;
  std::vector<bool> seen(from.shape.size(), false);
  for (size_t i = 0; i < order->items.size(); ++i) {
    const int64_t axis = order->items[i].integer;
    if (axis < 0 || axis >= static_cast<int64_t>(seen.size()) ||
        seen[static_cast<size_t>(axis)] ||
        from.shape[static_cast<size_t>(axis)] != to.shape[i]) {
      return "malformed: an order unlike the types";
    }
    seen[static_cast<size_t>(axis)] = true;
    permutation.list.push_back(axis);
  }
  return LowerWith(lowering, op, Code::kPermute, {std::move(permutation)});
}

// tt.cat may put the elements in any order; this keeps them.
Refusal Concatenate(Lowering& lowering, const ttir::Op& op, const Rule&) {
  const ttir::Type& left = lowering.TypeOf(op.operands[0]);
  const ttir::Type& to = lowering.TypeOf(op.results[0]);
  if (left != lowering.TypeOf(op.operands[1]) || left.shape.size() != 1 ||
      to.shape.size() != 1 || to.shape[0] != 2 * left.shape[0] ||
      left.scalar != to.scalar) {
    return "malformed: shapes that do not concatenate";
  }
  return LowerWith(lowering, op, Code::kCat, {Number(Key::kDim, 0)});
}

std::vector<int64_t> WithLast(std::vector<int64_t> shape, int64_t extent) {
  shape.push_back(extent);
  return shape;
}

// Two tensors side by side in a new last dimension.
Refusal Join(Lowering& lowering, const ttir::Op& op, const Rule&) {
  const ttir::Type from = lowering.TypeOf(op.operands[0]);
  const ttir::Type& to = lowering.TypeOf(op.results[0]);
  if (from != lowering.TypeOf(op.operands[1]) ||
      to.shape != WithLast(from.shape, 2) || to.scalar != from.scalar) {
    return "malformed: shapes that do not join";
  }
  std::array<ValueId, 2> halves{};
  for (size_t i = 0; i < 2; ++i) {
    halves[i] =
        lowering.Emit(Code::kReshape, {lowering.Use(op.operands[i])},
                      lowering.kernel().types.Tile(
                          from.scalar, WithLast(from.shape, 1), from.pointer));
  }
  lowering.Bind(
      op.results[0],
      lowering.Emit(Code::kCat, {halves[0], halves[1]},
                    ResultType(lowering, op),
                    {Number(Key::kDim, static_cast<int>(from.shape.size()))}));
  return std::nullopt;
}

Refusal Split(Lowering& lowering, const ttir::Op& op, const Rule&) {
  const ttir::Type from = lowering.TypeOf(op.operands[0]);
  const ttir::Type half = lowering.TypeOf(op.results[0]);
  if (from.shape != WithLast(half.shape, 2) || half.scalar != from.scalar ||
      half != lowering.TypeOf(op.results[1])) {
    return "malformed: shapes that do not split";
  }
  const ValueId zero = lowering.EmitInteger(0, Scalar::kI32);
  const ValueId one = lowering.EmitInteger(1, Scalar::kI32);
  const TypeId slice = lowering.kernel().types.Tile(
      from.scalar, WithLast(half.shape, 1), from.pointer);
  for (size_t i = 0; i < 2; ++i) {
    std::vector<ValueId> operands = {lowering.Use(op.operands[0])};
    operands.resize(1 + half.shape.size(), zero);
    operands.push_back(i == 0 ? zero : one);
    const ValueId part = lowering.Emit(Code::kExtract, operands, slice);
    lowering.Bind(op.results[i], lowering.Emit(Code::kReshape, {part},
                                               lowering.TypeId_(half)));
  }
  return std::nullopt;
}

// Longest axis that a gather is unrolled over.
constexpr int64_t kMaxGather = 128;

Refusal CheckGather(const Lowering& lowering, const ttir::Op& op,
                    int64_t axis) {
  const ttir::Type& from = lowering.TypeOf(op.operands[0]);
  const ttir::Type& index = lowering.TypeOf(op.operands[1]);
  const ttir::Type& to = lowering.TypeOf(op.results[0]);
  const auto rank = static_cast<int64_t>(from.shape.size());
  if (axis < 0 || axis >= rank || index.shape != to.shape ||
      to.shape.size() != from.shape.size() || to.scalar != from.scalar ||
      from.pointer || to.pointer || index.pointer ||
      !ttir::IsInteger(index.scalar)) {
    return "malformed: shapes that do not gather";
  }
  for (int64_t i = 0; i < rank; ++i) {
    const auto place = static_cast<size_t>(i);
    if (i != axis && from.shape[place] != to.shape[place]) {
      return "malformed: shapes that do not gather";
    }
  }
  if (from.shape[static_cast<size_t>(axis)] > kMaxGather) {
    return fmt::format("a gather over more than {} elements", kMaxGather);
  }
  return std::nullopt;
}

// Tile IR has no gather within a tile: each slice of the axis goes where the
// index names it.
Refusal Gather(Lowering& lowering, const ttir::Op& op, const Rule&) {
  const int64_t axis = IntegerOf(op, "axis").value_or(-1);
  if (Refusal refusal = CheckGather(lowering, op, axis)) return refusal;
  const auto along = static_cast<size_t>(axis);
  const ttir::Type from = lowering.TypeOf(op.operands[0]);
  const ttir::Type index = lowering.TypeOf(op.operands[1]);
  const TypeId result = ResultType(lowering, op);
  std::vector<int64_t> slice = from.shape;
  slice[along] = 1;
  ValueId gathered = lowering.EmitBits(0, from.scalar, index.shape);
  const ValueId zero = lowering.EmitInteger(0, Scalar::kI32);
  for (int64_t k = 0; k < from.shape[along]; ++k) {
    std::vector<ValueId> operands = {lowering.Use(op.operands[0])};
    operands.resize(1 + from.shape.size(), zero);
    operands[1 + along] = lowering.EmitInteger(k, Scalar::kI32);
    ValueId part = lowering.Emit(Code::kExtract, std::move(operands),
                                 lowering.Tile(from.scalar, slice));
    if (slice != index.shape) {
      part = lowering.Emit(Code::kBroadcast, {part}, result);
    }
    const ValueId here = lowering.Emit(
        Code::kCmpI,
        {lowering.Use(op.operands[1]),
         lowering.EmitInteger(k, index.scalar, index.shape)},
        lowering.Tile(Scalar::kI1, index.shape),
        {Number(Key::kPredicate, static_cast<int>(Predicate::kEqual)),
         Number(Key::kSignedness, static_cast<int>(Signedness::kSigned))});
    gathered = lowering.Emit(Code::kSelect, {here, part, gathered}, result);
  }
  lowering.Bind(op.results[0], gathered);
  return std::nullopt;
}

constexpr Rule kRules[] = {
    {"tt.gather", Gather, 2, 1, Check::kNone, Code::kSelect},
    {"tt.get_program_id", Grid, 0, 1, Check::kNone, Code::kGetTileBlockId},
    {"tt.get_num_programs", Grid, 0, 1, Check::kNone, Code::kGetNumTileBlocks},
    {"tt.make_range", Range, 0, 1, Check::kNone, Code::kIota},
    {"tt.splat", Splat, 1},
    {"tt.unsplat", Reshape, 1, 1, Check::kNone, Code::kReshape},
    {"tt.expand_dims", Reshape, 1, 1, Check::kNone, Code::kReshape},
    {"tt.reshape", Reshape, 1, 1, Check::kNone, Code::kReshape},
    {"tt.broadcast", Broadcast, 1, 1, Check::kNone, Code::kBroadcast},
    {"tt.trans", Transpose, 1, 1, Check::kNone, Code::kPermute},
    {"tt.cat", Concatenate, 2, 1, Check::kNone, Code::kCat},
    {"tt.join", Join, 2, 1, Check::kNone, Code::kCat},
    {"tt.split", Split, 1, 2, Check::kNone, Code::kExtract},
};

}  // namespace

std::span<const Rule> ShapeRules() { return kRules; }

}  // namespace kernelfleet::tileir
