// Matrix products.
#include "common/base/strings.h"
#include "common/tileir/rules.h"
#include "fmt/format.h"

namespace kernelfleet::tileir {
namespace {

struct DotTypes {
  Scalar operand;
  Scalar accumulator;
};

// Source: the mmaf and mmai tables of the CUDA Tile IR specification.
constexpr DotTypes kFloatDots[] = {
    {Scalar::kF16, Scalar::kF16},      {Scalar::kF16, Scalar::kF32},
    {Scalar::kBF16, Scalar::kF32},     {Scalar::kTF32, Scalar::kF32},
    {Scalar::kF32, Scalar::kF32},      {Scalar::kF64, Scalar::kF64},
    {Scalar::kF8E4M3FN, Scalar::kF16}, {Scalar::kF8E4M3FN, Scalar::kF32},
    {Scalar::kF8E5M2, Scalar::kF16},   {Scalar::kF8E5M2, Scalar::kF32},
};

bool IsEightBitFloat(Scalar scalar) {
  return scalar == Scalar::kF8E4M3FN || scalar == Scalar::kF8E5M2;
}

ValueId Convert(Lowering& lowering, ValueId value, Scalar scalar) {
  const Type type = lowering.TileOf(value);
  if (type.scalar == scalar) return value;
  return lowering.Emit(
      Code::kFToF, {value}, lowering.Tile(scalar, type.shape),
      {Number(Key::kRounding, static_cast<int>(Rounding::kNearestEven))});
}

ValueId Arithmetic(Lowering& lowering, Code code, ValueId a, ValueId b) {
  const Type type = lowering.TileOf(a);
  return lowering.Emit(
      code, {a, b}, lowering.Tile(type.scalar, type.shape),
      {Number(Key::kRounding, static_cast<int>(Rounding::kNearestEven))});
}

struct Product {
  ValueId a = kNoValue;
  ValueId b = kNoValue;
  ValueId sum = kNoValue;
};

ValueId Multiply(Lowering& lowering, const Product& product, bool fast) {
  const Type type = lowering.TileOf(product.sum);
  std::vector<Attribute> attributes;
  if (fast) attributes.push_back(Number(Key::kFastAcc, 1));
  return lowering.Emit(Code::kMmaF, {product.a, product.b, product.sum},
                       lowering.Tile(type.scalar, type.shape),
                       std::move(attributes));
}

// f32 as a sum of narrower numbers, the largest first.
std::vector<ValueId> Parts(Lowering& lowering, ValueId value, Scalar narrow,
                           int count) {
  std::vector<ValueId> parts;
  ValueId rest = value;
  for (int i = 0; i < count; ++i) {
    parts.push_back(Convert(lowering, rest, narrow));
    if (i + 1 < count) {
      rest = Arithmetic(lowering, Code::kSubF, rest,
                        Convert(lowering, parts.back(), Scalar::kF32));
    }
  }
  return parts;
}

ValueId ZeroForNan(Lowering& lowering, ValueId value) {
  const std::vector<int64_t> shape = lowering.TileOf(value).shape;
  const ValueId same = lowering.Emit(
      Code::kCmpF, {value, value}, lowering.Tile(Scalar::kI1, shape),
      {Number(Key::kPredicate, static_cast<int>(Predicate::kEqual)),
       Number(Key::kOrdering, 1)});
  return lowering.Emit(Code::kSelect,
                       {same, value, lowering.EmitBits(0, Scalar::kF32, shape)},
                       lowering.Tile(Scalar::kF32, shape));
}

struct SplitDot {
  std::string_view precision;
  Scalar narrow;
  int parts;
  // Products of parts (0 the largest) before that of the two largest.
  std::span<const std::pair<int, int>> products;
};
constexpr std::pair<int, int> kTwoParts[] = {{1, 0}, {0, 1}};
constexpr std::pair<int, int> kThreeParts[] = {
    {1, 1}, {2, 0}, {0, 2}, {1, 0}, {0, 1}};
// The same products in the same order as Triton's own decomposition: the small
// ones first, NaN of inf - inf in them dropped, the accumulator last.
constexpr SplitDot kSplitDots[] = {
    {"tf32x3", Scalar::kTF32, 2, kTwoParts},
    {"bf16x3", Scalar::kBF16, 2, kTwoParts},
    {"bf16x6", Scalar::kBF16, 3, kThreeParts},
};

ValueId MultiplySplit(Lowering& lowering, const Product& product,
                      const SplitDot& split) {
  const std::vector<ValueId> a =
      Parts(lowering, product.a, split.narrow, split.parts);
  const std::vector<ValueId> b =
      Parts(lowering, product.b, split.narrow, split.parts);
  ValueId sum =
      lowering.EmitBits(0, Scalar::kF32, lowering.TileOf(product.sum).shape);
  for (const auto& [left, right] : split.products) {
    sum = Multiply(
        lowering,
        {a[static_cast<size_t>(left)], b[static_cast<size_t>(right)], sum},
        false);
  }
  sum = ZeroForNan(lowering, sum);
  sum = Multiply(lowering, {a[0], b[0], sum}, false);
  return Arithmetic(lowering, Code::kAddF, sum, product.sum);
}

Refusal CheckShapes(const Lowering& lowering, const ttir::Op& op) {
  const auto& a = lowering.TypeOf(op.operands[0]).shape;
  const auto& b = lowering.TypeOf(op.operands[1]).shape;
  const auto& c = lowering.TypeOf(op.operands[2]).shape;
  const size_t rank = a.size();
  if ((rank != 2 && rank != 3) || b.size() != rank || c.size() != rank ||
      lowering.TypeOf(op.operands[2]) != lowering.TypeOf(op.results[0]) ||
      a[rank - 1] != b[rank - 2] || a[rank - 2] != c[rank - 2] ||
      b[rank - 1] != c[rank - 1] ||
      (rank == 3 && (a[0] != b[0] || a[0] != c[0]))) {
    return "malformed: shapes that do not multiply";
  }
  return std::nullopt;
}

Refusal MultiplyFloats(Lowering& lowering, const ttir::Op& op,
                       Product product) {
  Scalar scalar = lowering.TileOf(product.a).scalar;
  const Scalar other = lowering.TileOf(product.b).scalar;
  if (scalar != other) {
    // Every 8-bit float is an f16, so the products stay exact.
    if (!IsEightBitFloat(scalar) || !IsEightBitFloat(other)) {
      return fmt::format("a product of {} and {}", ttir::Name(scalar),
                         ttir::Name(other));
    }
    scalar = Scalar::kF16;
  }
  const std::string_view precision = WordOf(op, "inputPrecision");
  if (scalar == Scalar::kF32) {
    for (const SplitDot& split : kSplitDots) {
      if (split.precision != precision) continue;
      lowering.Bind(op.results[0], MultiplySplit(lowering, product, split));
      return std::nullopt;
    }
    if (precision == "tf32" || precision.empty()) {
      scalar = Scalar::kTF32;
    } else if (precision != "ieee") {
      return fmt::format("input precision {}", Printable(precision));
    }
  }
  product.a = Convert(lowering, product.a, scalar);
  product.b = Convert(lowering, product.b, scalar);
  const Scalar accumulator = lowering.TileOf(product.sum).scalar;
  bool known = false;
  for (const DotTypes& row : kFloatDots) {
    known |= row.operand == scalar && row.accumulator == accumulator;
  }
  if (!known) {
    return fmt::format("a product of {} into {}", ttir::Name(scalar),
                       ttir::Name(accumulator));
  }
  // Triton promotes 8-bit products to f32 after so many terms at most.
  const int64_t depth = lowering.TileOf(product.a).shape.back();
  const bool fast = IsEightBitFloat(scalar) &&
                    lowering.options().version_minor >= 3 &&
                    IntegerOf(op, "maxNumImpreciseAcc").value_or(0) >= depth;
  lowering.Bind(op.results[0], Multiply(lowering, product, fast));
  return std::nullopt;
}

Refusal Dot(Lowering& lowering, const ttir::Op& op, const Rule&) {
  if (Refusal refusal = CheckShapes(lowering, op)) return refusal;
  const Product product = {lowering.Use(op.operands[0]),
                           lowering.Use(op.operands[1]),
                           lowering.Use(op.operands[2])};
  const Scalar a = lowering.TileOf(product.a).scalar;
  const Scalar b = lowering.TileOf(product.b).scalar;
  if (ttir::IsFloat(a)) return MultiplyFloats(lowering, op, product);
  if (a != Scalar::kI8 || b != Scalar::kI8 ||
      lowering.TileOf(product.sum).scalar != Scalar::kI32) {
    return fmt::format("a product of {} and {}", ttir::Name(a), ttir::Name(b));
  }
  const int is_signed = static_cast<int>(Signedness::kSigned);
  return LowerWith(lowering, op, Code::kMmaI,
                   {Number(Key::kSignednessLhs, is_signed),
                    Number(Key::kSignednessRhs, is_signed)});
}

constexpr Rule kRules[] = {
    {"tt.dot", Dot, 3, 1, Check::kNone, Code::kMmaF},
};

}  // namespace

std::span<const Rule> DotRules() { return kRules; }

}  // namespace kernelfleet::tileir
