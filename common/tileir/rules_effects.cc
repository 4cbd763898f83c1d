// What a kernel says besides computing: assumptions, barriers, prints.
#include <array>

#include "common/base/strings.h"
#include "common/tileir/rules.h"
#include "fmt/format.h"

namespace kernelfleet::tileir {
namespace {

// What a comparison tells about `value`: from the assumption on it is bound to
// its assumed form.
void Assume(Lowering& lowering, ttir::ValueId value, ValueId assumed) {
  lowering.Bind(value, assumed);
}

bool IsScalarInteger(const Lowering& lowering, ttir::ValueId value) {
  const ttir::Type& type = lowering.TypeOf(value);
  return !type.tensor && !type.pointer && ttir::IsInteger(type.scalar) &&
         type.scalar != Scalar::kI1;
}

// value % divisor == 0
bool AssumeDivisible(Lowering& lowering, const ttir::Op& compare) {
  if (WordOf(compare, "predicate") != "eq" ||
      lowering.ConstantOf(compare.operands[1]) != 0) {
    return false;
  }
  const ttir::Op* rest = lowering.Definition(compare.operands[0]);
  if (rest == nullptr || rest->operands.size() != 2 ||
      (rest->name != "arith.remsi" && rest->name != "arith.remui") ||
      !IsScalarInteger(lowering, rest->operands[0])) {
    return false;
  }
  const auto divisor = lowering.ConstantOf(rest->operands[1]);
  if (!divisor.has_value() || *divisor <= 1) return false;
  Assume(lowering, rest->operands[0],
         lowering.EmitDivisible(lowering.Use(rest->operands[0]), *divisor));
  return true;
}

struct Bound {
  std::string_view predicate;
  bool lower;
  int64_t shift;
};
constexpr std::array<Bound, 4> kBounds = {{{"sge", true, 0},
                                           {"sgt", true, 1},
                                           {"sle", false, 0},
                                           {"slt", false, -1}}};

// value >= constant and the like.
void AssumeBound(Lowering& lowering, const ttir::Op& compare) {
  const ttir::ValueId value = compare.operands[0];
  const auto limit = lowering.ConstantOf(compare.operands[1]);
  if (!IsScalarInteger(lowering, value) || !limit.has_value()) return;
  const int bits = ttir::Bits(lowering.TypeOf(value).scalar);
  const int64_t largest =
      bits >= 64 ? INT64_MAX : (int64_t{1} << (bits - 1)) - 1;
  for (const Bound& bound : kBounds) {
    if (bound.predicate != WordOf(compare, "predicate")) continue;
    if (*limit == (bound.lower ? largest : -largest - 1)) return;
    const int64_t edge = *limit + bound.shift;
    Assume(lowering, value,
           bound.lower
               ? lowering.EmitBounded(lowering.Use(value), edge, largest)
               : lowering.EmitBounded(lowering.Use(value), -largest - 1, edge));
    return;
  }
}

// An assumption of any other form tells the compiler nothing; dropping it is
// right.
void AssumeAll(Lowering& lowering, ttir::ValueId condition, int depth) {
  const ttir::Op* op = lowering.Definition(condition);
  if (op == nullptr || op->operands.size() != 2 || depth > 8) return;
  if (op->name == "arith.andi") {
    AssumeAll(lowering, op->operands[0], depth + 1);
    AssumeAll(lowering, op->operands[1], depth + 1);
  } else if (op->name == "arith.cmpi" && lowering.IsLowered(op->operands[0]) &&
             !AssumeDivisible(lowering, *op)) {
    AssumeBound(lowering, *op);
  }
}

Refusal Assumption(Lowering& lowering, const ttir::Op& op, const Rule&) {
  AssumeAll(lowering, op.operands[0], 0);
  return std::nullopt;
}

// No operation, but every access stays on its side.
Refusal Barrier(Lowering& lowering, const ttir::Op&, const Rule&) {
  Op fence;
  fence.code = Code::kMakeToken;
  fence.results = {lowering.kernel().NewValue(lowering.kernel().types.Token())};
  Access access;
  access.acquires = true;
  access.releases = true;
  fence.access = lowering.NewAccess(access);
  lowering.EmitOp(std::move(fence));
  return std::nullopt;
}

Refusal Assertion(Lowering& lowering, const ttir::Op& op, const Rule&) {
  const ttir::Type& type = lowering.TypeOf(op.operands[0]);
  if (type.scalar != Scalar::kI1 || type.pointer) {
    return "malformed: no condition";
  }
  const ttir::Attribute* message = op.Find("message");
  if (message == nullptr) message = op.Find("");
  Op made;
  made.code = Code::kAssert;
  made.operands = {lowering.Use(op.operands[0])};
  made.attributes.push_back(
      {Key::kMessage,
       0,
       message == nullptr ? std::string() : std::string(message->string()),
       {}});
  lowering.EmitOp(std::move(made));
  return std::nullopt;
}

std::string FormatOf(Scalar scalar, bool hex) {
  if (ttir::IsFloat(scalar)) return "%f";
  const bool wide = ttir::Bits(scalar) > 32;
  if (hex) return wide ? "0x%llx" : "0x%x";
  return wide ? "%lld" : "%d";
}

Refusal Print(Lowering& lowering, const ttir::Op& op, const Rule&) {
  if (lowering.options().version_minor < 2) {
    return "printing needs bytecode 13.2";
  }
  const ttir::Attribute* prefix = op.Find("prefix");
  if (prefix == nullptr) prefix = op.Find("");
  std::string format;
  if (prefix != nullptr) {
    for (const char c : prefix->string()) {
      format += c;
      if (c == '%') format += c;
    }
  }
  const bool hex = IntegerOf(op, "hex").value_or(0) != 0;
  Op made;
  made.code = Code::kPrint;
  for (const ttir::ValueId operand : op.operands) {
    const ttir::Type& type = lowering.TypeOf(operand);
    if (type.pointer) return "a printed pointer";
    format += (made.operands.empty() ? "" : ", ") + FormatOf(type.scalar, hex);
    made.operands.push_back(lowering.Use(operand));
  }
  format += "\n";
  made.groups = {static_cast<int>(made.operands.size()), 0};
  made.attributes.push_back({Key::kMessage, 0, std::move(format), {}});
  made.results = {lowering.kernel().NewValue(lowering.kernel().types.Token())};
  lowering.EmitOp(std::move(made));
  return std::nullopt;
}

constexpr Rule kRules[] = {
    {"llvm.intr.assume", Assumption, 1, 0, Check::kNone, Code::kAssume},
    {"gpu.barrier", Barrier, 0, 0, Check::kNone, Code::kJoinTokens},
    {"ttg.barrier", Barrier, 0, 0, Check::kNone, Code::kJoinTokens},
    {"tt.assert", Assertion, 1, 0, Check::kNone, Code::kAssert},
    {"tt.print", Print, kAny, 0, Check::kNone, Code::kPrint},
};

}  // namespace

std::span<const Rule> EffectRules() { return kRules; }

}  // namespace kernelfleet::tileir
