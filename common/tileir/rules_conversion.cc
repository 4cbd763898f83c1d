// Casts between numbers, and between pointers.
#include "common/tileir/rules.h"
#include "fmt/format.h"

namespace kernelfleet::tileir {
namespace {

// detail: Signedness.
Refusal Extend(Lowering& lowering, const ttir::Op& op, const Rule& rule) {
  if (lowering.TypeOf(op.operands[0]) == lowering.TypeOf(op.results[0])) {
    lowering.Bind(op.results[0], lowering.Use(op.operands[0]));
    return std::nullopt;
  }
  return LowerWith(lowering, op, Code::kExtI,
                   {Number(Key::kSignedness, rule.detail)});
}

Refusal Truncate(Lowering& lowering, const ttir::Op& op, const Rule&) {
  return LowerWith(lowering, op, Code::kTruncI, {Number(Key::kOverflow, 0)});
}

Refusal IntegerToFloat(Lowering& lowering, const ttir::Op& op,
                       const Rule& rule) {
  return LowerWith(
      lowering, op, Code::kIToF,
      {Number(Key::kSignedness, rule.detail),
       Number(Key::kRounding, static_cast<int>(Rounding::kNearestEven))});
}

Refusal FloatToInteger(Lowering& lowering, const ttir::Op& op,
                       const Rule& rule) {
  return LowerWith(
      lowering, op, Code::kFToI,
      {Number(Key::kSignedness, rule.detail),
       Number(Key::kRounding, static_cast<int>(Rounding::kNearestIntToZero))});
}

Refusal FloatToFloat(Lowering& lowering, const ttir::Op& op, const Rule&) {
  const std::string_view rounding = WordOf(op, "rounding");
  if (!rounding.empty() && rounding != "rtne") {
    return fmt::format("rounding {}: Tile IR rounds to nearest only", rounding);
  }
  if (lowering.TypeOf(op.operands[0]) == lowering.TypeOf(op.results[0])) {
    lowering.Bind(op.results[0], lowering.Use(op.operands[0]));
    return std::nullopt;
  }
  return LowerWith(
      lowering, op, Code::kFToF,
      {Number(Key::kRounding, static_cast<int>(Rounding::kNearestEven))});
}

Refusal Bitcast(Lowering& lowering, const ttir::Op& op, const Rule&) {
  const ttir::Type& from = lowering.TypeOf(op.operands[0]);
  const ttir::Type& to = lowering.TypeOf(op.results[0]);
  if (from == to) {
    lowering.Bind(op.results[0], lowering.Use(op.operands[0]));
    return std::nullopt;
  }
  if (from.pointer && to.pointer) {
    return LowerWith(lowering, op, Code::kPtrToPtr, {});
  }
  if (from.pointer || to.pointer ||
      ttir::Bits(from.scalar) != ttir::Bits(to.scalar)) {
    return fmt::format("a cast from {} to {}", ttir::Spell(from),
                       ttir::Spell(to));
  }
  return LowerWith(lowering, op, Code::kBitcast, {});
}

Refusal PointerToInteger(Lowering& lowering, const ttir::Op& op, const Rule&) {
  if (lowering.TypeOf(op.results[0]).scalar != Scalar::kI64) {
    return "a pointer cast to less than 64 bits";
  }
  return LowerWith(lowering, op, Code::kPtrToInt, {});
}

Refusal IntegerToPointer(Lowering& lowering, const ttir::Op& op, const Rule&) {
  if (lowering.TypeOf(op.operands[0]).scalar != Scalar::kI64) {
    return "a pointer made of less than 64 bits";
  }
  return LowerWith(lowering, op, Code::kIntToPtr, {});
}

constexpr int kUnsigned = static_cast<int>(Signedness::kUnsigned);
constexpr int kSigned = static_cast<int>(Signedness::kSigned);

constexpr Rule kRules[] = {
    {"arith.extsi", Extend, 1, 1, Check::kSameShape, Code::kExtI, kSigned},
    {"arith.extui", Extend, 1, 1, Check::kSameShape, Code::kExtI, kUnsigned},
    {"arith.trunci", Truncate, 1, 1, Check::kSameShape, Code::kTruncI},
    {"arith.sitofp", IntegerToFloat, 1, 1, Check::kSameShape, Code::kIToF,
     kSigned},
    {"arith.uitofp", IntegerToFloat, 1, 1, Check::kSameShape, Code::kIToF,
     kUnsigned},
    {"arith.fptosi", FloatToInteger, 1, 1, Check::kSameShape, Code::kFToI,
     kSigned},
    {"arith.fptoui", FloatToInteger, 1, 1, Check::kSameShape, Code::kFToI,
     kUnsigned},
    {"arith.extf", FloatToFloat, 1, 1, Check::kSameShape, Code::kFToF},
    {"arith.truncf", FloatToFloat, 1, 1, Check::kSameShape, Code::kFToF},
    {"tt.fp_to_fp", FloatToFloat, 1, 1, Check::kSameShape, Code::kFToF},
    {"arith.bitcast", Bitcast, 1, 1, Check::kSameShape, Code::kBitcast},
    {"tt.bitcast", Bitcast, 1, 1, Check::kSameShape, Code::kBitcast},
    {"tt.ptr_to_int", PointerToInteger, 1, 1, Check::kSameShape,
     Code::kPtrToInt},
    {"tt.int_to_ptr", IntegerToPointer, 1, 1, Check::kSameShape,
     Code::kIntToPtr},
};

}  // namespace

std::span<const Rule> ConversionRules() { return kRules; }

}  // namespace kernelfleet::tileir
