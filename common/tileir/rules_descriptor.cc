#include "common/tileir/rules.h"

namespace kernelfleet::tileir {

std::span<const Rule> DescriptorRules() { return {}; }

}  // namespace kernelfleet::tileir
