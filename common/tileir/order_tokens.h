// The order of memory accesses. Tile IR orders nothing by itself: an access
// waits for those whose tokens it takes.
#ifndef KERNELFLEET_COMMON_TILEIR_ORDER_TOKENS_H_
#define KERNELFLEET_COMMON_TILEIR_ORDER_TOKENS_H_

#include <vector>

#include "common/tileir/tile_ir.h"

namespace kernelfleet::tileir {

// Which accesses may touch the same memory: one class for each access, by its
// place in Kernel::accesses.
using AliasClasses = std::vector<int>;

// Threads tokens through the kernel so that two accesses of one class stay in
// program order when at least one writes, and every access stays on its side
// of an atomic that acquires or releases. Classes that nobody writes get none.
// Returns how many accesses take a token.
int OrderAccesses(Kernel* kernel, const AliasClasses& classes);

}  // namespace kernelfleet::tileir

#endif  // KERNELFLEET_COMMON_TILEIR_ORDER_TOKENS_H_
