// Scalar registers of AMD assembly, and where their values come from.
#ifndef KERNELFLEET_COMMON_ISA_SCALAR_ORIGINS_H_
#define KERNELFLEET_COMMON_ISA_SCALAR_ORIGINS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/isa/text_lines.h"

namespace kernelfleet::isa {

struct RegisterRange {
  int first = 0;
  int last = 0;
};

// "s7" or "s[4:7]" at the start of `text`.
inline std::optional<RegisterRange> TakeScalar(std::string_view text) {
  if (text.size() < 2 || text[0] != 's') return std::nullopt;
  text.remove_prefix(1);
  const bool range = text[0] == '[';
  if (range) text.remove_prefix(1);
  const std::optional<int> first = TakeDecimal(text);
  if (!first) return std::nullopt;
  int last = *first;
  if (range && !text.empty() && text[0] == ':') {
    text.remove_prefix(1);
    last = TakeDecimal(text).value_or(*first);
  }
  return RegisterRange{*first, std::min(last, *first + 31)};
}

// Behind the n-th comma.
inline std::string_view Operand(std::string_view operands, int n) {
  for (; n > 0; --n) {
    const size_t comma = operands.find(',');
    if (comma == operands.npos) return {};
    operands.remove_prefix(comma + 1);
  }
  return SkipBlanks(operands);
}

// For each scalar register, the register that the launch filled it from, if it
// still holds that: how kernel arguments and the scratch descriptor are told
// from pointers and descriptors that the kernel made itself.
class ScalarOrigins {
 public:
  static constexpr uint8_t kNone = 255;
  void Reset() {
    for (size_t i = 0; i < origin_.size(); ++i) {
      origin_[i] = static_cast<uint8_t>(i);
    }
  }
  uint8_t Of(int index) const {
    return index >= 0 && static_cast<size_t>(index) < origin_.size()
               ? origin_[static_cast<size_t>(index)]
               : kNone;
  }
  void Write(int first, int last, int source) {
    for (int i = first; i <= last && i < static_cast<int>(origin_.size());
         ++i) {
      origin_[static_cast<size_t>(i)] =
          source < 0 ? kNone : Of(source + (i - first));
    }
  }

 private:
  std::array<uint8_t, 128> origin_{};
};

}  // namespace kernelfleet::isa

#endif  // KERNELFLEET_COMMON_ISA_SCALAR_ORIGINS_H_
