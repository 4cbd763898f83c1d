// Any bytes as TTIR: no crash, no endless work; what is neither refused with
// its place nor refused by name has bytecode and text. Seeds:
// tests/golden/tileir/3.9.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "common/tileir/lower.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using kernelfleet::tileir::BufferOrder;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  kernelfleet::tileir::LowerOptions options;
  for (const BufferOrder order :
       {BufferOrder::kDistinct, BufferOrder::kMayOverlap}) {
    options.order = order;
    const auto kernel = kernelfleet::tileir::Lower(text, options);
    if (!kernel.ok()) {
      if (kernel.status().message().empty()) std::abort();
      continue;
    }
    if (kernel->bytecode().empty() != (kernel->unsupported_size() > 0)) {
      std::abort();
    }
  }
  return 0;
}
