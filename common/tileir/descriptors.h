// Tensor views for descriptors that the kernel makes and for those that the
// host hands over.
#ifndef KERNELFLEET_COMMON_TILEIR_DESCRIPTORS_H_
#define KERNELFLEET_COMMON_TILEIR_DESCRIPTORS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "common/tileir/lowering.h"

namespace kernelfleet::tileir {

// An extent or stride: a constant, or a value of `scalar`.
struct Extent {
  std::optional<int64_t> constant;
  ValueId value = kNoValue;
  Scalar scalar = Scalar::kI32;
};

struct TensorShape {
  ValueId base = kNoValue;
  std::vector<Extent> extents;
  std::vector<Extent> strides;
};

// Looks through the widening of a 32-bit value: TMA needs 32 bits, and TTIR
// widens every stride.
Extent ExtentOf(Lowering& lowering, ttir::ValueId value);

// Emits make_tensor_view with what a descriptor promises about its tensor:
// extents not negative, base and outer strides multiples of 16 bytes.
ValueId EmitTensorView(Lowering& lowering, const TensorShape& shape,
                       Scalar scalar);

}  // namespace kernelfleet::tileir

#endif  // KERNELFLEET_COMMON_TILEIR_DESCRIPTORS_H_
