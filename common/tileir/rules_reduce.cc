// Reductions and scans with any combiner.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "common/tileir/constants.h"
#include "common/tileir/rules.h"
#include "fmt/format.h"

namespace kernelfleet::tileir {
namespace {

struct Combiner {
  std::string_view op;
  // A float's identity, or an integer's as bits in 64.
  double number = 0;
  uint64_t bits = 0;
  // The identity is the type's largest or smallest value, of this signedness.
  enum class Extreme : uint8_t {
    kNone,
    kSignedMin,
    kSignedMax
  } extreme = Extreme::kNone;
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Combiner kCombiners[] = {
    {"arith.addf", -0.0},
    {"arith.mulf", 1.0},
    {"arith.maximumf", -kInfinity},
    {"arith.maxnumf", -kInfinity},
    {"arith.minimumf", kInfinity},
    {"arith.minnumf", kInfinity},
    {"arith.addi", 0, 0},
    {"arith.muli", 0, 1},
    {"arith.andi", 0, ~uint64_t{0}},
    {"arith.ori", 0, 0},
    {"arith.xori", 0, 0},
    {"arith.maxui", 0, 0},
    {"arith.minui", 0, ~uint64_t{0}},
    {"arith.maxsi", 0, 0, Combiner::Extreme::kSignedMin},
    {"arith.minsi", 0, 0, Combiner::Extreme::kSignedMax},
};

uint64_t MaskOf(Scalar scalar) {
  const int bits = ttir::Bits(scalar);
  return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}

uint64_t IdentityBits(const Combiner& combiner, Scalar scalar) {
  if (ttir::IsFloat(scalar)) return FloatBits(combiner.number, scalar);
  const uint64_t sign = uint64_t{1} << (ttir::Bits(scalar) - 1);
  switch (combiner.extreme) {
    case Combiner::Extreme::kNone:
      return combiner.bits & MaskOf(scalar);
    case Combiner::Extreme::kSignedMin:
      return sign;
    case Combiner::Extreme::kSignedMax:
      return sign - 1;
  }
  return 0;
}

// One operation on both arguments, returned: its identity. Nothing else has
// one that can be read off.
std::optional<uint64_t> KnownIdentity(const Lowering& lowering,
                                      const ttir::Block& body) {
  if (body.arguments.size() != 2 || body.ops.size() != 2) return std::nullopt;
  const ttir::Op& op = body.ops[0];
  if (op.operands.size() != 2 || op.results.size() != 1 ||
      body.ops[1].operands.size() != 1 ||
      body.ops[1].operands[0] != op.results[0] ||
      op.operands[0] == op.operands[1] ||
      std::find(body.arguments.begin(), body.arguments.end(), op.operands[0]) ==
          body.arguments.end() ||
      std::find(body.arguments.begin(), body.arguments.end(), op.operands[1]) ==
          body.arguments.end()) {
    return std::nullopt;
  }
  for (const Combiner& combiner : kCombiners) {
    if (combiner.op != op.name) continue;
    return IdentityBits(combiner, lowering.TypeOf(op.results[0]).scalar);
  }
  return std::nullopt;
}

// A combiner without a known identity gets one more operand, which is true for
// elements and whose identity is false: where one side is no element the other
// passes through, so the other identities are never looked at.
struct Plan {
  const ttir::Block* body = nullptr;
  size_t count = 0;
  bool guarded = false;
  std::vector<int64_t> identities;
};

Refusal MakePlan(const Lowering& lowering, const ttir::Op& op,
                 std::string_view terminator, Plan* plan) {
  const size_t count = op.operands.size();
  if (count == 0 || op.results.size() != count || op.regions.size() != 1 ||
      op.regions[0].blocks.size() != 1 || op.regions[0].blocks[0].ops.empty()) {
    return "malformed: no operands or no combiner";
  }
  const ttir::Block& body = op.regions[0].blocks[0];
  if (body.ops.back().name != terminator ||
      body.arguments.size() != 2 * count ||
      body.ops.back().operands.size() != count) {
    return "malformed: a combiner of another shape";
  }
  const auto& shape = lowering.TypeOf(op.operands[0]).shape;
  for (size_t i = 0; i < count; ++i) {
    const ttir::Type& type = lowering.TypeOf(op.operands[i]);
    if (type.pointer) return "a combiner of pointers";
    ttir::Type element = type;
    element.tensor = false;
    element.shape.clear();
    if (!type.tensor || type.shape != shape ||
        lowering.TypeOf(body.arguments[i]) != element ||
        lowering.TypeOf(body.arguments[count + i]) != element ||
        lowering.TypeOf(body.ops.back().operands[i]) != element ||
        lowering.TypeOf(op.results[i]).scalar != type.scalar) {
      return "malformed: operands of different types";
    }
  }
  plan->body = &body;
  plan->count = count;
  const std::optional<uint64_t> known = KnownIdentity(lowering, body);
  plan->guarded = !known.has_value();
  for (size_t i = 0; i < count; ++i) {
    const Scalar scalar = lowering.TypeOf(op.operands[i]).scalar;
    plan->identities.push_back(static_cast<int64_t>(scalar));
    plan->identities.push_back(static_cast<int64_t>(known.value_or(0)));
  }
  if (plan->guarded) {
    plan->identities.push_back(static_cast<int64_t>(Scalar::kI1));
    plan->identities.push_back(0);
  }
  return std::nullopt;
}

// Tile IR hands over (element, accumulator) for each operand; Triton's
// combiner takes all accumulators, then all elements.
bool LowerCombiner(Lowering& lowering, const Plan& plan, Block* block) {
  std::vector<ValueId> elements;
  std::vector<ValueId> before;
  for (size_t i = 0; i < plan.identities.size() / 2; ++i) {
    const TypeId type =
        lowering.Tile(static_cast<Scalar>(plan.identities[2 * i]));
    for (auto* list : {&elements, &before}) {
      list->push_back(lowering.kernel().NewValue(type));
      block->arguments.push_back(list->back());
    }
  }
  for (size_t i = 0; i < plan.count; ++i) {
    lowering.Bind(plan.body->arguments[i], before[i]);
    lowering.Bind(plan.body->arguments[plan.count + i], elements[i]);
  }
  for (size_t i = 0; i + 1 < plan.body->ops.size(); ++i) {
    lowering.LowerOp(plan.body->ops[i]);
  }
  Op yield;
  yield.code = Code::kYield;
  for (size_t i = 0; i < plan.count; ++i) {
    const ttir::ValueId value = plan.body->ops.back().operands[i];
    if (!lowering.IsLowered(value)) return false;
    ValueId combined = lowering.Use(value);
    if (plan.guarded) {
      const TypeId type =
          lowering.Tile(static_cast<Scalar>(plan.identities[2 * i]));
      combined = lowering.Emit(Code::kSelect,
                               {elements.back(), combined, before[i]}, type);
      combined = lowering.Emit(Code::kSelect,
                               {before.back(), combined, elements[i]}, type);
    }
    yield.operands.push_back(combined);
  }
  if (plan.guarded) {
    yield.operands.push_back(lowering.Emit(Code::kOrI,
                                           {elements.back(), before.back()},
                                           lowering.Tile(Scalar::kI1)));
  }
  lowering.EmitOp(std::move(yield));
  return true;
}

Refusal Combine(Lowering& lowering, const ttir::Op& op, Op made,
                const Plan& plan, const std::vector<int64_t>& result_shape) {
  for (const ttir::ValueId operand : op.operands) {
    made.operands.push_back(lowering.Use(operand));
  }
  if (plan.guarded) {
    made.operands.push_back(lowering.EmitInteger(
        1, Scalar::kI1, lowering.TypeOf(op.operands[0]).shape));
  }
  made.attributes.push_back({Key::kIdentities, 0, {}, plan.identities});
  Block block;
  bool complete = true;
  lowering.Inside(&block,
                  [&] { complete = LowerCombiner(lowering, plan, &block); });
  if (!complete) return std::nullopt;
  made.regions.push_back(std::move(block));
  std::vector<ValueId> results;
  for (size_t i = 0; i < plan.identities.size() / 2; ++i) {
    results.push_back(lowering.kernel().NewValue(lowering.Tile(
        static_cast<Scalar>(plan.identities[2 * i]), result_shape)));
  }
  made.results = results;
  lowering.EmitOp(std::move(made));
  for (size_t i = 0; i < plan.count; ++i) {
    lowering.Bind(op.results[i], results[i]);
  }
  return std::nullopt;
}

Refusal Reduce(Lowering& lowering, const ttir::Op& op, const Rule&) {
  Plan plan;
  if (Refusal refusal = MakePlan(lowering, op, "tt.reduce.return", &plan)) {
    return refusal;
  }
  std::vector<int64_t> shape = lowering.TypeOf(op.operands[0]).shape;
  const std::optional<int64_t> axis = IntegerOf(op, "axis");
  if (!axis.has_value() || *axis < 0 ||
      *axis >= static_cast<int64_t>(shape.size())) {
    return "malformed: no axis";
  }
  shape.erase(shape.begin() + *axis);
  for (const ttir::ValueId result : op.results) {
    if (lowering.TypeOf(result).shape != shape) {
      return "malformed: results of another shape";
    }
  }
  Op made;
  made.code = Code::kReduce;
  made.attributes.push_back(Number(Key::kDim, *axis));
  return Combine(lowering, op, std::move(made), plan, shape);
}

Refusal Scan(Lowering& lowering, const ttir::Op& op, const Rule&) {
  Plan plan;
  if (Refusal refusal = MakePlan(lowering, op, "tt.scan.return", &plan)) {
    return refusal;
  }
  const std::vector<int64_t> shape = lowering.TypeOf(op.operands[0]).shape;
  const std::optional<int64_t> axis = IntegerOf(op, "axis");
  if (!axis.has_value() || *axis < 0 ||
      *axis >= static_cast<int64_t>(shape.size())) {
    return "malformed: no axis";
  }
  for (const ttir::ValueId result : op.results) {
    if (lowering.TypeOf(result).shape != shape) {
      return "malformed: results of another shape";
    }
  }
  Op made;
  made.code = Code::kScan;
  made.attributes.push_back(Number(Key::kDim, *axis));
  made.attributes.push_back(
      Number(Key::kReverse, IntegerOf(op, "reverse").value_or(0)));
  return Combine(lowering, op, std::move(made), plan, shape);
}

constexpr Rule kRules[] = {
    {"tt.reduce", Reduce, kAny, kAny, Check::kNone, Code::kReduce},
    {"tt.scan", Scan, kAny, kAny, Check::kNone, Code::kScan},
};

}  // namespace

std::span<const Rule> ReduceRules() { return kRules; }

}  // namespace kernelfleet::tileir
