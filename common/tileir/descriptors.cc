#include "common/tileir/descriptors.h"

#include <algorithm>

#include "common/tileir/rules.h"

namespace kernelfleet::tileir {
namespace {

// What Triton asks of a descriptor's base and of its outer strides, and the
// TMA hardware with it.
constexpr int64_t kAlignmentBytes = 16;
constexpr int64_t kLargestExtent = INT32_MAX;

bool IsDynamic(const Extent& extent) {
  return !extent.constant.has_value() || *extent.constant <= 0;
}

// One integer type serves every dynamic extent and stride of a view.
Scalar CommonScalar(const TensorShape& shape) {
  for (const auto* list : {&shape.extents, &shape.strides}) {
    for (const Extent& extent : *list) {
      if (IsDynamic(extent) && extent.scalar == Scalar::kI64) {
        return Scalar::kI64;
      }
    }
  }
  return Scalar::kI32;
}

ValueId Widen(Lowering& lowering, const Extent& extent, Scalar scalar) {
  if (extent.scalar == scalar) return extent.value;
  return lowering.Emit(
      Code::kExtI, {extent.value}, lowering.Tile(scalar),
      {Number(Key::kSignedness, static_cast<int>(Signedness::kSigned))});
}

}  // namespace

Extent ExtentOf(Lowering& lowering, ttir::ValueId value) {
  Extent extent;
  extent.constant = lowering.ConstantOf(value);
  const ttir::Op* op = lowering.Definition(value);
  if (op != nullptr && op->name == "arith.extsi" && op->operands.size() == 1 &&
      lowering.TypeOf(op->operands[0]).scalar == Scalar::kI32 &&
      lowering.IsLowered(op->operands[0])) {
    value = op->operands[0];
  }
  extent.value = lowering.Use(value);
  extent.scalar = lowering.TypeOf(value).scalar;
  return extent;
}

ValueId EmitTensorView(Lowering& lowering, const TensorShape& shape,
                       Scalar scalar) {
  const Scalar common = CommonScalar(shape);
  const int64_t bytes = std::max(1, ttir::Bits(scalar) / 8);
  Type view;
  view.kind = Type::Kind::kTensorView;
  view.scalar = scalar;
  Op make;
  make.code = Code::kMakeTensorView;
  make.operands = {lowering.EmitDivisible(shape.base, kAlignmentBytes)};
  make.groups = {1, 0, 0};
  for (const Extent& extent : shape.extents) {
    view.shape.push_back(IsDynamic(extent) ? kDynamic : *extent.constant);
    if (!IsDynamic(extent)) continue;
    make.operands.push_back(lowering.EmitBounded(
        Widen(lowering, extent, common), 0, kLargestExtent));
    ++make.groups[1];
  }
  for (const Extent& stride : shape.strides) {
    view.strides.push_back(IsDynamic(stride) ? kDynamic : *stride.constant);
    if (!IsDynamic(stride)) continue;
    make.operands.push_back(
        lowering.EmitDivisible(Widen(lowering, stride, common),
                               std::max<int64_t>(1, kAlignmentBytes / bytes)));
    ++make.groups[2];
  }
  const ValueId result =
      lowering.kernel().NewValue(lowering.kernel().types.Add(view));
  make.results = {result};
  lowering.EmitOp(std::move(make));
  return result;
}

}  // namespace kernelfleet::tileir
