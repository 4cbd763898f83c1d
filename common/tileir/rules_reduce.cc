#include "common/tileir/rules.h"

namespace kernelfleet::tileir {

std::span<const Rule> ReduceRules() { return {}; }

}  // namespace kernelfleet::tileir
