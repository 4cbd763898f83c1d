#include "common/tileir/rules.h"

namespace kernelfleet::tileir {

std::span<const Rule> DotRules() { return {}; }

}  // namespace kernelfleet::tileir
