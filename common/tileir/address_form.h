// Addresses as sums of symbols and constants, to prove that the iterations of
// a loop touch different memory.
#ifndef KERNELFLEET_COMMON_TILEIR_ADDRESS_FORM_H_
#define KERNELFLEET_COMMON_TILEIR_ADDRESS_FORM_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "common/tileir/lowering.h"

namespace kernelfleet::tileir {

// Every element of a tile is the sum of factor * symbol, plus a number between
// low and high. Integer overflow of an offset is taken not to happen, as
// Triton's own analyses do.
struct AddressForm {
  std::map<ttir::ValueId, int64_t> terms;
  int64_t low = 0;
  int64_t high = 0;
};

// Stands among the symbols for the number of the iteration.
inline constexpr ttir::ValueId kIteration = -1;

// One loop's view of addresses: values from outside are symbols, its counter
// and its advancing pointers follow the iteration.
class LoopAddresses {
 public:
  LoopAddresses(const Lowering& lowering, const ttir::Op& loop);

  // Nothing when the value is no such sum.
  std::optional<AddressForm> Of(ttir::ValueId value) const;

  // True when no two iterations touch a common element through any of these
  // pointers (one argument's, of one element type).
  bool IterationsAreDisjoint(const std::vector<ttir::ValueId>& pointers) const;

 private:
  std::optional<AddressForm> Evaluate(ttir::ValueId value, int depth) const;
  std::optional<AddressForm> Argument(size_t index, int depth) const;
  std::optional<AddressForm> Operation(const ttir::Op& op, int depth) const;
  bool IsInside(ttir::ValueId value) const;
  void CollectInside(const ttir::Region& region);

  const Lowering& lowering_;
  const ttir::Op& loop_;
  std::vector<bool> inside_;
  // A callee's values would look like values from outside.
  bool calls_ = false;
};

}  // namespace kernelfleet::tileir

#endif  // KERNELFLEET_COMMON_TILEIR_ADDRESS_FORM_H_
