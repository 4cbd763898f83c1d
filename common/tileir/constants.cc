#include "common/tileir/constants.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "common/base/strings.h"

namespace kernelfleet::tileir {
namespace {

using ttir::Attribute;
using ttir::Scalar;

struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  // The format has infinities; without, the top exponent holds numbers and the
  // all-ones pattern is NaN.
  bool infinities;
};

FloatFormat FormatOf(Scalar scalar) {
  switch (scalar) {
    case Scalar::kF16:
      return {5, 10, true};
    case Scalar::kBF16:
      return {8, 7, true};
    case Scalar::kF8E5M2:
      return {5, 2, true};
    case Scalar::kF8E4M3FN:
      return {4, 3, false};
    default:
      return {8, 23, true};
  }
}

// Rounds to a format narrower than double, subnormals included.
uint64_t RoundTo(double value, const FloatFormat& format) {
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const uint64_t sign =
      std::signbit(value)
          ? uint64_t{1} << (format.exponent_bits + format.mantissa_bits)
          : 0;
  const uint64_t top = ((uint64_t{1} << format.exponent_bits) - 1)
                       << format.mantissa_bits;
  const uint64_t quiet = format.infinities
                             ? uint64_t{1} << (format.mantissa_bits - 1)
                             : (uint64_t{1} << format.mantissa_bits) - 1;
  if (std::isnan(value)) return sign | top | quiet;
  const uint64_t overflow = format.infinities ? top : top | quiet;
  if (std::isinf(value)) return sign | overflow;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  exponent = std::max(exponent - 1, 1 - bias);  // Of the leading bit.
  // nearbyint rounds ties to even in the default mode.
  const double scaled =
      std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent));
  auto mantissa = static_cast<uint64_t>(scaled);
  // The leading bit, when there is one, adds one to the biased exponent; so
  // does a carry out of the mantissa.
  const uint64_t biased = static_cast<uint64_t>(exponent + bias - 1)
                          << format.mantissa_bits;
  mantissa += biased;
  const uint64_t limit = format.infinities ? top : top | quiet;
  return sign | std::min(mantissa, limit);
}

std::optional<uint64_t> ElementBits(const Attribute& item, Scalar scalar) {
  const int bits = ttir::Bits(scalar);
  const uint64_t mask = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  if (item.kind == Attribute::Kind::kBool ||
      item.kind == Attribute::Kind::kInteger) {
    if (!ttir::IsInteger(scalar)) return std::nullopt;
    return static_cast<uint64_t>(item.integer) & mask;
  }
  if (item.kind != Attribute::Kind::kFloat) return std::nullopt;
  if (item.text.find('x') != std::string_view::npos) {  // Bits in hex.
    const std::string text(item.text);
    char* end = nullptr;
    const uint64_t value = std::strtoull(text.c_str(), &end, 16);
    if (*end != '\0' || (value & ~mask) != 0) return std::nullopt;
    return value;
  }
  const std::optional<double> value = ParseDouble(item.text);
  if (!value.has_value() || !ttir::IsFloat(scalar)) return std::nullopt;
  return FloatBits(*value, scalar);
}

bool CollectElements(const Attribute& attribute, Scalar scalar, int64_t limit,
                     std::vector<uint64_t>* out) {
  if (attribute.kind == Attribute::Kind::kArray) {
    for (const Attribute& item : attribute.items) {
      if (!CollectElements(item, scalar, limit, out)) return false;
    }
    return true;
  }
  const std::optional<uint64_t> bits = ElementBits(attribute, scalar);
  if (!bits.has_value() || static_cast<int64_t>(out->size()) >= limit) {
    return false;
  }
  out->push_back(*bits);
  return true;
}

std::string Pack(const std::vector<uint64_t>& elements, Scalar scalar) {
  std::string raw;
  if (scalar == Scalar::kI1) {
    raw.assign((elements.size() + 7) / 8, '\0');
    for (size_t i = 0; i < elements.size(); ++i) {
      if (elements[i] != 0) {
        raw[i / 8] = static_cast<char>(raw[i / 8] | (1 << (i % 8)));
      }
    }
    return raw;
  }
  for (const uint64_t bits : elements) {
    for (int i = 0; i < ttir::Bits(scalar) / 8; ++i) {
      raw += static_cast<char>(bits >> (8 * i));
    }
  }
  return raw;
}

}  // namespace

uint64_t FloatBits(double value, Scalar scalar) {
  if (scalar == Scalar::kF64) return std::bit_cast<uint64_t>(value);
  if (scalar == Scalar::kF32 || scalar == Scalar::kTF32) {
    return std::bit_cast<uint32_t>(static_cast<float>(value));
  }
  return RoundTo(value, FormatOf(scalar));
}

std::optional<ConstantBytes> BytesOf(const Attribute& attribute,
                                     const ttir::Type& type) {
  const Attribute* value = &attribute;
  if (attribute.kind == Attribute::Kind::kDense) {
    if (attribute.items.size() != 1) return std::nullopt;
    value = &attribute.items[0];
  }
  ConstantBytes made;
  if (value->kind != Attribute::Kind::kArray) {
    const std::optional<uint64_t> bits = ElementBits(*value, type.scalar);
    if (!bits.has_value()) return std::nullopt;
    made.bits = *bits;
    return made;
  }
  std::vector<uint64_t> elements;
  const int64_t count = ttir::ElementCount(type);
  if (!CollectElements(*value, type.scalar, count, &elements) ||
      static_cast<int64_t>(elements.size()) != count) {
    return std::nullopt;
  }
  made.bits = elements[0];
  for (const uint64_t bits : elements) made.splat &= bits == made.bits;
  if (!made.splat) made.raw = Pack(elements, type.scalar);
  return made;
}

}  // namespace kernelfleet::tileir
