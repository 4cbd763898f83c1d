// Literals of TTIR to the bits of an element.
#ifndef KERNELFLEET_COMMON_TILEIR_CONSTANTS_H_
#define KERNELFLEET_COMMON_TILEIR_CONSTANTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "common/tileir/ttir.h"

namespace kernelfleet::tileir {

struct ConstantBytes {
  bool splat = true;
  // Of each element, when `splat`.
  uint64_t bits = 0;
  // Little-endian elements otherwise; i1 packed, low bit first.
  std::string raw;
};

// Nothing when the attribute is no constant of the type.
std::optional<ConstantBytes> BytesOf(const ttir::Attribute& attribute,
                                     const ttir::Type& type);

// The nearest value of the type, ties to even.
uint64_t FloatBits(double value, ttir::Scalar scalar);

}  // namespace kernelfleet::tileir

#endif  // KERNELFLEET_COMMON_TILEIR_CONSTANTS_H_
