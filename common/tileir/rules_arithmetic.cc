// arith.* on integers and floats, and what in tt.* is arithmetic.
#include "common/base/strings.h"
#include "common/tileir/constants.h"
#include "common/tileir/rules.h"
#include "fmt/format.h"

namespace kernelfleet::tileir {
namespace {

Refusal Plain(Lowering& lowering, const ttir::Op& op, const Rule& rule) {
  return LowerWith(lowering, op, rule.code, {});
}
Refusal Wrapping(Lowering& lowering, const ttir::Op& op, const Rule& rule) {
  return LowerWith(lowering, op, rule.code, {Number(Key::kOverflow, 0)});
}
// detail: Signedness.
Refusal Signed(Lowering& lowering, const ttir::Op& op, const Rule& rule) {
  return LowerWith(lowering, op, rule.code,
                   {Number(Key::kSignedness, rule.detail)});
}
Refusal Rounded(Lowering& lowering, const ttir::Op& op, const Rule& rule) {
  return LowerWith(lowering, op, rule.code,
                   {Number(Key::kRounding, rule.detail)});
}
// detail: 1 when a NaN operand makes the result NaN.
Refusal Extremum(Lowering& lowering, const ttir::Op& op, const Rule& rule) {
  std::vector<Attribute> attributes;
  if (rule.detail != 0) attributes.push_back(Number(Key::kPropagateNan, 1));
  return LowerWith(lowering, op, rule.code, std::move(attributes));
}

// detail: rounding direction << 1 | Signedness.
Refusal DivideIntegers(Lowering& lowering, const ttir::Op& op,
                       const Rule& rule) {
  return LowerWith(lowering, op, Code::kDivI,
                   {Number(Key::kSignedness, rule.detail & 1),
                    Number(Key::kRounding, rule.detail >> 1)});
}

// f32 division is div.full in Triton's own PTX; the others are exact there.
Refusal DivideFloats(Lowering& lowering, const ttir::Op& op, const Rule&) {
  const Scalar scalar = lowering.TypeOf(op.results[0]).scalar;
  const Rounding rounding =
      scalar == Scalar::kF32 ? Rounding::kFull : Rounding::kNearestEven;
  return LowerWith(lowering, op, Code::kDivF,
                   {Number(Key::kRounding, static_cast<int64_t>(rounding))});
}

struct PredicateRow {
  std::string_view word;
  Predicate predicate;
  // Signedness of an integer comparison; 0 unordered, 1 ordered of a float's.
  int64_t detail;
};
constexpr PredicateRow kIntegerPredicates[] = {
    {"eq", Predicate::kEqual, 1},    {"ne", Predicate::kNotEqual, 1},
    {"slt", Predicate::kLess, 1},    {"sle", Predicate::kLessOrEqual, 1},
    {"sgt", Predicate::kGreater, 1}, {"sge", Predicate::kGreaterOrEqual, 1},
    {"ult", Predicate::kLess, 0},    {"ule", Predicate::kLessOrEqual, 0},
    {"ugt", Predicate::kGreater, 0}, {"uge", Predicate::kGreaterOrEqual, 0},
};
constexpr PredicateRow kFloatPredicates[] = {
    {"oeq", Predicate::kEqual, 1},   {"one", Predicate::kNotEqual, 1},
    {"olt", Predicate::kLess, 1},    {"ole", Predicate::kLessOrEqual, 1},
    {"ogt", Predicate::kGreater, 1}, {"oge", Predicate::kGreaterOrEqual, 1},
    {"ueq", Predicate::kEqual, 0},   {"une", Predicate::kNotEqual, 0},
    {"ult", Predicate::kLess, 0},    {"ule", Predicate::kLessOrEqual, 0},
    {"ugt", Predicate::kGreater, 0}, {"uge", Predicate::kGreaterOrEqual, 0},
};

Refusal CompareIntegers(Lowering& lowering, const ttir::Op& op, const Rule&) {
  for (const PredicateRow& row : kIntegerPredicates) {
    if (row.word != WordOf(op, "predicate")) continue;
    return LowerWith(lowering, op, Code::kCmpI,
                     {Number(Key::kPredicate, static_cast<int>(row.predicate)),
                      Number(Key::kSignedness, row.detail)});
  }
  return fmt::format("predicate '{}'", Printable(WordOf(op, "predicate")));
}

ValueId Compare(Lowering& lowering, ValueId a, ValueId b, Predicate predicate,
                bool ordered) {
  const std::vector<int64_t> shape = lowering.TileOf(a).shape;
  return lowering.Emit(Code::kCmpF, {a, b}, lowering.Tile(Scalar::kI1, shape),
                       {Number(Key::kPredicate, static_cast<int>(predicate)),
                        Number(Key::kOrdering, ordered ? 1 : 0)});
}

// ord and uno ask only for NaN: a value that differs from itself.
Refusal CompareForNan(Lowering& lowering, const ttir::Op& op, bool ordered) {
  const Predicate predicate =
      ordered ? Predicate::kEqual : Predicate::kNotEqual;
  const ValueId a = lowering.Use(op.operands[0]);
  const ValueId b = lowering.Use(op.operands[1]);
  const ValueId left = Compare(lowering, a, a, predicate, ordered);
  const ValueId right = Compare(lowering, b, b, predicate, ordered);
  lowering.Bind(op.results[0],
                lowering.Emit(ordered ? Code::kAndI : Code::kOrI, {left, right},
                              ResultType(lowering, op)));
  return std::nullopt;
}

Refusal CompareFloats(Lowering& lowering, const ttir::Op& op, const Rule&) {
  const std::string_view word = WordOf(op, "predicate");
  for (const PredicateRow& row : kFloatPredicates) {
    if (row.word != word) continue;
    return LowerWith(lowering, op, Code::kCmpF,
                     {Number(Key::kPredicate, static_cast<int>(row.predicate)),
                      Number(Key::kOrdering, row.detail)});
  }
  if (word == "ord" || word == "uno") {
    return CompareForNan(lowering, op, word == "ord");
  }
  return fmt::format("predicate '{}'", Printable(word));
}

// A scalar condition over tensors is spread first.
Refusal Select(Lowering& lowering, const ttir::Op& op, const Rule&) {
  const ttir::Type& type = lowering.TypeOf(op.results[0]);
  const ttir::Type& truth = lowering.TypeOf(op.operands[0]);
  if (lowering.TypeOf(op.operands[1]) != type ||
      lowering.TypeOf(op.operands[2]) != type || truth.scalar != Scalar::kI1 ||
      truth.pointer || (truth.tensor && truth.shape != type.shape)) {
    return "malformed: operands of different types";
  }
  ValueId condition = lowering.Use(op.operands[0]);
  if (!truth.tensor) condition = lowering.EmitSplat(condition, type.shape);
  lowering.Bind(op.results[0],
                lowering.Emit(Code::kSelect,
                              {condition, lowering.Use(op.operands[1]),
                               lowering.Use(op.operands[2])},
                              ResultType(lowering, op)));
  return std::nullopt;
}

Refusal Constant(Lowering& lowering, const ttir::Op& op, const Rule&) {
  const ttir::Type& type = lowering.TypeOf(op.results[0]);
  const ttir::Attribute* value = op.Find("value");
  if (value == nullptr || type.pointer) return "malformed: no constant";
  std::optional<ConstantBytes> bytes = BytesOf(*value, type);
  if (!bytes.has_value()) return "a constant of this form";
  if (bytes->splat) {
    lowering.Bind(op.results[0],
                  lowering.EmitBits(bytes->bits, type.scalar, type.shape));
    return std::nullopt;
  }
  Attribute attribute;
  attribute.key = Key::kValue;
  attribute.text = std::move(bytes->raw);
  lowering.Bind(op.results[0],
                lowering.Emit(Code::kConstant, {}, ResultType(lowering, op),
                              {std::move(attribute)}));
  return std::nullopt;
}

// An undefined value; zero is one.
Refusal Poison(Lowering& lowering, const ttir::Op& op, const Rule&) {
  const ttir::Type& type = lowering.TypeOf(op.results[0]);
  if (type.pointer) return "an undefined pointer";
  lowering.Bind(op.results[0], lowering.EmitBits(0, type.scalar, type.shape));
  return std::nullopt;
}

// min(max(x, low), high); NaN passes through only when it is asked for.
Refusal Clamp(Lowering& lowering, const ttir::Op& op, const Rule&) {
  const ttir::Attribute* rule = op.Find("propagateNan");
  std::vector<Attribute> attributes;
  if (rule != nullptr && rule->text == "all") {
    attributes.push_back(Number(Key::kPropagateNan, 1));
  }
  const TypeId type = ResultType(lowering, op);
  const ValueId raised = lowering.Emit(
      Code::kMaxF, {lowering.Use(op.operands[0]), lowering.Use(op.operands[1])},
      type, attributes);
  lowering.Bind(
      op.results[0],
      lowering.Emit(Code::kMinF, {raised, lowering.Use(op.operands[2])}, type,
                    attributes));
  return std::nullopt;
}

constexpr int kUnsigned = static_cast<int>(Signedness::kUnsigned);
constexpr int kSigned = static_cast<int>(Signedness::kSigned);
constexpr int kEven = static_cast<int>(Rounding::kNearestEven);
constexpr int Direction(Rounding rounding, Signedness sign) {
  return static_cast<int>(rounding) << 1 | static_cast<int>(sign);
}

constexpr Rule kRules[] = {
    {"arith.constant", Constant, 0},
    {"ub.poison", Poison, 0},
    {"arith.addi", Wrapping, 2, 1, Check::kSameType, Code::kAddI},
    {"arith.subi", Wrapping, 2, 1, Check::kSameType, Code::kSubI},
    {"arith.muli", Wrapping, 2, 1, Check::kSameType, Code::kMulI},
    {"arith.shli", Wrapping, 2, 1, Check::kSameType, Code::kShLI},
    {"arith.shrsi", Signed, 2, 1, Check::kSameType, Code::kShRI, kSigned},
    {"arith.shrui", Signed, 2, 1, Check::kSameType, Code::kShRI, kUnsigned},
    {"arith.andi", Plain, 2, 1, Check::kSameType, Code::kAndI},
    {"arith.ori", Plain, 2, 1, Check::kSameType, Code::kOrI},
    {"arith.xori", Plain, 2, 1, Check::kSameType, Code::kXOrI},
    {"arith.divsi", DivideIntegers, 2, 1, Check::kSameType, Code::kDivI,
     Direction(Rounding::kZero, Signedness::kSigned)},
    {"arith.divui", DivideIntegers, 2, 1, Check::kSameType, Code::kDivI,
     Direction(Rounding::kZero, Signedness::kUnsigned)},
    {"arith.ceildivsi", DivideIntegers, 2, 1, Check::kSameType, Code::kDivI,
     Direction(Rounding::kPositiveInf, Signedness::kSigned)},
    {"arith.ceildivui", DivideIntegers, 2, 1, Check::kSameType, Code::kDivI,
     Direction(Rounding::kPositiveInf, Signedness::kUnsigned)},
    {"arith.floordivsi", DivideIntegers, 2, 1, Check::kSameType, Code::kDivI,
     Direction(Rounding::kNegativeInf, Signedness::kSigned)},
    {"arith.remsi", Signed, 2, 1, Check::kSameType, Code::kRemI, kSigned},
    {"arith.remui", Signed, 2, 1, Check::kSameType, Code::kRemI, kUnsigned},
    {"arith.maxsi", Signed, 2, 1, Check::kSameType, Code::kMaxI, kSigned},
    {"arith.maxui", Signed, 2, 1, Check::kSameType, Code::kMaxI, kUnsigned},
    {"arith.minsi", Signed, 2, 1, Check::kSameType, Code::kMinI, kSigned},
    {"arith.minui", Signed, 2, 1, Check::kSameType, Code::kMinI, kUnsigned},
    {"arith.cmpi", CompareIntegers, 2, 1, Check::kSameShape},
    {"arith.cmpf", CompareFloats, 2, 1, Check::kSameShape},
    {"arith.select", Select, 3},
    {"arith.addf", Rounded, 2, 1, Check::kSameType, Code::kAddF, kEven},
    {"arith.subf", Rounded, 2, 1, Check::kSameType, Code::kSubF, kEven},
    {"arith.mulf", Rounded, 2, 1, Check::kSameType, Code::kMulF, kEven},
    {"arith.divf", DivideFloats, 2, 1, Check::kSameType},
    {"arith.remf", Plain, 2, 1, Check::kSameType, Code::kRemF},
    {"arith.negf", Plain, 1, 1, Check::kSameType, Code::kNegF},
    {"arith.maximumf", Extremum, 2, 1, Check::kSameType, Code::kMaxF, 1},
    {"arith.minimumf", Extremum, 2, 1, Check::kSameType, Code::kMinF, 1},
    {"arith.maxnumf", Extremum, 2, 1, Check::kSameType, Code::kMaxF, 0},
    {"arith.minnumf", Extremum, 2, 1, Check::kSameType, Code::kMinF, 0},
    {"tt.clampf", Clamp, 3, 1, Check::kSameType},
    {"tt.mulhiui", Plain, 2, 1, Check::kSameType, Code::kMulHiI},
    {"tt.precise_divf", Rounded, 2, 1, Check::kSameType, Code::kDivF, kEven},
    {"tt.precise_sqrt", Rounded, 1, 1, Check::kSameType, Code::kSqrt, kEven},
};

}  // namespace

std::span<const Rule> ArithmeticRules() { return kRules; }

}  // namespace kernelfleet::tileir
