// math.* and the library functions that Tile IR has as operations.
#include "common/base/strings.h"
#include "common/tileir/constants.h"
#include "common/tileir/rules.h"
#include "fmt/format.h"

namespace kernelfleet::tileir {
namespace {

constexpr int kEven = static_cast<int>(Rounding::kNearestEven);
constexpr int kApprox = static_cast<int>(Rounding::kApprox);
constexpr int kFull = static_cast<int>(Rounding::kFull);
constexpr int kNoRounding = -1;

// detail: Rounding, or kNoRounding.
Refusal Function(Lowering& lowering, const ttir::Op& op, const Rule& rule) {
  std::vector<Attribute> attributes;
  if (rule.detail != kNoRounding) {
    attributes.push_back(Number(Key::kRounding, rule.detail));
  }
  return LowerWith(lowering, op, rule.code, std::move(attributes));
}

// f32 is sqrt.approx in Triton's own PTX.
Refusal SquareRoot(Lowering& lowering, const ttir::Op& op, const Rule&) {
  const bool single = lowering.TypeOf(op.results[0]).scalar == Scalar::kF32;
  return LowerWith(lowering, op, Code::kSqrt,
                   {Number(Key::kRounding, single ? kApprox : kEven)});
}

// Emits f32 arithmetic on tiles of one shape.
class Floats {
 public:
  Floats(Lowering& lowering, std::vector<int64_t> shape)
      : lowering_(lowering), shape_(std::move(shape)) {}

  ValueId Constant(double value) {
    return lowering_.EmitBits(FloatBits(value, Scalar::kF32), Scalar::kF32,
                              shape_);
  }
  ValueId Apply(Code code, std::vector<ValueId> operands, int rounding) {
    std::vector<Attribute> attributes;
    if (rounding != kNoRounding) {
      attributes.push_back(Number(Key::kRounding, rounding));
    }
    return lowering_.Emit(code, std::move(operands),
                          lowering_.Tile(Scalar::kF32, shape_),
                          std::move(attributes));
  }
  // c[0] * x^(n-1) + … + c[n-1]
  ValueId Polynomial(ValueId x, std::span<const double> coefficients) {
    ValueId sum = Constant(coefficients[0]);
    for (const double coefficient : coefficients.subspan(1)) {
      sum = Apply(Code::kFma, {sum, x, Constant(coefficient)}, kEven);
    }
    return sum;
  }
  ValueId Less(ValueId a, ValueId b) {
    return lowering_.Emit(
        Code::kCmpF, {a, b}, lowering_.Tile(Scalar::kI1, shape_),
        {Number(Key::kPredicate, static_cast<int>(Predicate::kLess)),
         Number(Key::kOrdering, 1)});
  }

 private:
  Lowering& lowering_;
  const std::vector<int64_t> shape_;
};

// The Taylor series of erf(x) / x in x^2 to its ninth term, for |x| below
// kErfBorder.
constexpr double kErfSeries[] = {
    1.646211436589e-06,  -1.492565035841e-05, 1.205533298179e-04,
    -8.548327023451e-04, 5.223977625442e-03,  -2.686617064513e-02,
    1.128379167096e-01,  -3.761263890318e-01, 1.128379167096e+00};
// Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26.
constexpr double kErfTail[] = {1.061405429,  -1.453152027, 1.421413741,
                               -0.284496736, 0.254829592,  0};
constexpr double kErfScale = 0.3275911;
constexpr double kErfBorder = 0.875;

// Tile IR has no erf. Both halves in f32 stay within 3e-7 of the true value,
// relatively (20,000 points up to 6 and powers of two down to 2^-29).
ValueId EmitErf(Lowering& lowering, ValueId x) {
  Floats f(lowering, lowering.TileOf(x).shape);
  const ValueId zero = f.Constant(0);
  const ValueId one = f.Constant(1);
  const ValueId square = f.Apply(Code::kMulF, {x, x}, kEven);
  const ValueId near =
      f.Apply(Code::kMulF, {f.Polynomial(square, kErfSeries), x}, kEven);
  const ValueId size = f.Apply(Code::kAbsF, {x}, kNoRounding);
  const ValueId t = f.Apply(
      Code::kDivF,
      {one, f.Apply(Code::kFma, {size, f.Constant(kErfScale), one}, kEven)},
      kFull);
  const ValueId decay =
      f.Apply(Code::kExp, {f.Apply(Code::kNegF, {square}, kNoRounding)}, kFull);
  const ValueId rest =
      f.Apply(Code::kMulF, {f.Polynomial(t, kErfTail), decay}, kEven);
  const ValueId magnitude = f.Apply(Code::kSubF, {one, rest}, kEven);
  const ValueId far =
      f.Apply(Code::kSelect,
              {f.Less(x, zero), f.Apply(Code::kNegF, {magnitude}, kNoRounding),
               magnitude},
              kNoRounding);
  return f.Apply(Code::kSelect,
                 {f.Less(size, f.Constant(kErfBorder)), near, far},
                 kNoRounding);
}

Refusal ErrorFunction(Lowering& lowering, const ttir::Op& op, const Rule&) {
  const Scalar scalar = lowering.TypeOf(op.results[0]).scalar;
  ValueId x = lowering.Use(op.operands[0]);
  if (scalar == Scalar::kF64 || !ttir::IsFloat(scalar)) {
    return "erf of double precision";
  }
  const Attribute nearest = Number(Key::kRounding, kEven);
  if (scalar != Scalar::kF32) {
    x = lowering.Emit(Code::kFToF, {x},
                      lowering.Tile(Scalar::kF32, lowering.TileOf(x).shape),
                      {nearest});
  }
  ValueId result = EmitErf(lowering, x);
  if (scalar != Scalar::kF32) {
    result = lowering.Emit(Code::kFToF, {result}, ResultType(lowering, op),
                           {nearest});
  }
  lowering.Bind(op.results[0], result);
  return std::nullopt;
}

struct LibraryFunction {
  std::string_view symbol;
  Code code;
  int operands;
  int rounding;
};

// libdevice functions with an operation of the same meaning; those with a
// looser or tighter error bound than libdevice's stay within a few ulp.
// Source: the libdevice user's guide; the operations' tables in the CUDA Tile
// IR specification.
constexpr LibraryFunction kLibrary[] = {
    {"__nv_fabsf", Code::kAbsF, 1, kNoRounding},
    {"__nv_fabs", Code::kAbsF, 1, kNoRounding},
    {"__nv_abs", Code::kAbsI, 1, kNoRounding},
    {"__nv_llabs", Code::kAbsI, 1, kNoRounding},
    {"__nv_ceilf", Code::kCeil, 1, kNoRounding},
    {"__nv_ceil", Code::kCeil, 1, kNoRounding},
    {"__nv_floorf", Code::kFloor, 1, kNoRounding},
    {"__nv_floor", Code::kFloor, 1, kNoRounding},
    {"__nv_expf", Code::kExp, 1, kFull},
    {"__nv_exp", Code::kExp, 1, kFull},
    {"__nv_fast_expf", Code::kExp, 1, kApprox},
    {"__nv_exp2f", Code::kExp2, 1, kNoRounding},
    {"__nv_exp2", Code::kExp2, 1, kNoRounding},
    {"__nv_logf", Code::kLog, 1, kNoRounding},
    {"__nv_log", Code::kLog, 1, kNoRounding},
    {"__nv_fast_logf", Code::kLog, 1, kNoRounding},
    {"__nv_log2f", Code::kLog2, 1, kNoRounding},
    {"__nv_log2", Code::kLog2, 1, kNoRounding},
    {"__nv_fast_log2f", Code::kLog2, 1, kNoRounding},
    {"__nv_sinf", Code::kSin, 1, kNoRounding},
    {"__nv_sin", Code::kSin, 1, kNoRounding},
    {"__nv_cosf", Code::kCos, 1, kNoRounding},
    {"__nv_cos", Code::kCos, 1, kNoRounding},
    {"__nv_fast_sinf", Code::kSin, 1, kNoRounding},
    {"__nv_fast_cosf", Code::kCos, 1, kNoRounding},
    {"__nv_fast_tanf", Code::kTan, 1, kNoRounding},
    {"__nv_tanf", Code::kTan, 1, kNoRounding},
    {"__nv_tan", Code::kTan, 1, kNoRounding},
    {"__nv_sinhf", Code::kSinH, 1, kNoRounding},
    {"__nv_sinh", Code::kSinH, 1, kNoRounding},
    {"__nv_coshf", Code::kCosH, 1, kNoRounding},
    {"__nv_cosh", Code::kCosH, 1, kNoRounding},
    {"__nv_tanhf", Code::kTanH, 1, kFull},
    {"__nv_tanh", Code::kTanH, 1, kFull},
    {"__nv_sqrtf", Code::kSqrt, 1, kEven},
    {"__nv_sqrt", Code::kSqrt, 1, kEven},
    {"__nv_fsqrt_rn", Code::kSqrt, 1, kEven},
    {"__nv_dsqrt_rn", Code::kSqrt, 1, kEven},
    {"__nv_rsqrtf", Code::kRsqrt, 1, kNoRounding},
    {"__nv_rsqrt", Code::kRsqrt, 1, kNoRounding},
    {"__nv_powf", Code::kPow, 2, kNoRounding},
    {"__nv_pow", Code::kPow, 2, kNoRounding},
    {"__nv_fast_powf", Code::kPow, 2, kNoRounding},
    {"__nv_atan2f", Code::kAtan2, 2, kNoRounding},
    {"__nv_atan2", Code::kAtan2, 2, kNoRounding},
    {"__nv_fmodf", Code::kRemF, 2, kNoRounding},
    {"__nv_fmod", Code::kRemF, 2, kNoRounding},
    {"__nv_fmaxf", Code::kMaxF, 2, kNoRounding},
    {"__nv_fmax", Code::kMaxF, 2, kNoRounding},
    {"__nv_fminf", Code::kMinF, 2, kNoRounding},
    {"__nv_fmin", Code::kMinF, 2, kNoRounding},
    {"__nv_fdiv_rn", Code::kDivF, 2, kEven},
    {"__nv_ddiv_rn", Code::kDivF, 2, kEven},
    {"__nv_fast_fdividef", Code::kDivF, 2, kApprox},
    {"__nv_fmaf", Code::kFma, 3, kEven},
    {"__nv_fma", Code::kFma, 3, kEven},
    {"__nv_fmaf_rn", Code::kFma, 3, kEven},
    {"__nv_fma_rn", Code::kFma, 3, kEven},
};

Refusal Library(Lowering& lowering, const ttir::Op& op, const Rule& rule) {
  const std::string_view symbol = WordOf(op, "symbol");
  if (symbol == "__nv_erff" && op.operands.size() == 1) {
    return ErrorFunction(lowering, op, rule);
  }
  for (const LibraryFunction& row : kLibrary) {
    if (row.symbol != symbol) continue;
    if (static_cast<int>(op.operands.size()) != row.operands) {
      return "malformed: wrong number of operands";
    }
    std::vector<Attribute> attributes;
    if (row.rounding != kNoRounding) {
      attributes.push_back(Number(Key::kRounding, row.rounding));
    }
    return LowerWith(lowering, op, row.code, std::move(attributes));
  }
  return fmt::format("library function {}", Printable(symbol));
}

constexpr Rule kRules[] = {
    {"math.exp", Function, 1, 1, Check::kSameType, Code::kExp, kFull},
    {"math.exp2", Function, 1, 1, Check::kSameType, Code::kExp2, kNoRounding},
    {"math.log", Function, 1, 1, Check::kSameType, Code::kLog, kNoRounding},
    {"math.log2", Function, 1, 1, Check::kSameType, Code::kLog2, kNoRounding},
    {"math.sin", Function, 1, 1, Check::kSameType, Code::kSin, kNoRounding},
    {"math.cos", Function, 1, 1, Check::kSameType, Code::kCos, kNoRounding},
    {"math.tan", Function, 1, 1, Check::kSameType, Code::kTan, kNoRounding},
    {"math.sinh", Function, 1, 1, Check::kSameType, Code::kSinH, kNoRounding},
    {"math.cosh", Function, 1, 1, Check::kSameType, Code::kCosH, kNoRounding},
    {"math.tanh", Function, 1, 1, Check::kSameType, Code::kTanH, kFull},
    {"math.sqrt", SquareRoot, 1, 1, Check::kSameType, Code::kSqrt},
    {"math.rsqrt", Function, 1, 1, Check::kSameType, Code::kRsqrt, kNoRounding},
    {"math.absf", Function, 1, 1, Check::kSameType, Code::kAbsF, kNoRounding},
    {"math.absi", Function, 1, 1, Check::kSameType, Code::kAbsI, kNoRounding},
    {"math.floor", Function, 1, 1, Check::kSameType, Code::kFloor, kNoRounding},
    {"math.ceil", Function, 1, 1, Check::kSameType, Code::kCeil, kNoRounding},
    {"math.powf", Function, 2, 1, Check::kSameType, Code::kPow, kNoRounding},
    {"math.atan2", Function, 2, 1, Check::kSameType, Code::kAtan2, kNoRounding},
    {"math.erf", ErrorFunction, 1, 1, Check::kSameType, Code::kExp},
    {"math.fma", Function, 3, 1, Check::kSameType, Code::kFma, kEven},
    {"tt.extern_elementwise", Library, kAny, 1, Check::kSameType},
};

}  // namespace

std::span<const Rule> MathRules() { return kRules; }

}  // namespace kernelfleet::tileir
