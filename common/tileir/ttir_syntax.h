// How TTIR's pretty form is read: what the bare words of an operation mean and
// where its result types stand. One table for Triton 3.4 to 3.9.
#ifndef KERNELFLEET_COMMON_TILEIR_TTIR_SYNTAX_H_
#define KERNELFLEET_COMMON_TILEIR_TTIR_SYNTAX_H_

#include <array>
#include <cstdint>
#include <string_view>

namespace kernelfleet::tileir::ttir {

// Where the types of the results come from.
enum class Results : uint8_t {
  // After "->" or "to" when there is one, else the first type.
  kUsual,
  kNone,
  // The last type: arith.select prints the condition's first.
  kLast,
  // What the pointers of the first type point to.
  kPointee,
  // i1 in the shape of the first type.
  kTruth,
  // The element of the first type.
  kElement,
  // Two results of the type after the arrow, or of the first.
  kPair,
  // The type of the constant.
  kConstant,
};

struct Syntax {
  std::string_view name;
  Results results = Results::kUsual;
  // Attribute names of the leading bare words, in order.
  std::array<std::string_view, 3> words = {};
};

// The row of an operation; a row of kUsual without words for any other.
const Syntax& SyntaxOf(std::string_view name);

// The word that stands for an enumerator's number, which is how the generic
// form prints it; empty when `key` of `op` is no enumeration we know.
std::string_view EnumeratorWord(std::string_view op, std::string_view key,
                                int64_t number);

}  // namespace kernelfleet::tileir::ttir

#endif  // KERNELFLEET_COMMON_TILEIR_TTIR_SYNTAX_H_
