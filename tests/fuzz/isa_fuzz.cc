// Any bytes as machine code: no crash, no endless work, and a report that says
// why when it is empty. Seeds: tests/golden/isa/inputs.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "common/isa/scan.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const kernelfleet::v1::IsaReport report =
      kernelfleet::isa::Scan("fuzz", text);
  if (report.kernels().empty() && report.problems().empty()) std::abort();
  for (const auto& kernel : report.kernels()) {
    for (const auto& memory : kernel.memory()) {
      if (memory.in_loops() > memory.count()) std::abort();
    }
    if (kernel.summary().loops() > kernel.summary().instructions()) {
      std::abort();
    }
  }
  if (report.kernels_size() > 1) {
    (void)kernelfleet::isa::Compare(report.kernels(0), report.kernels(1));
  }
  (void)kernelfleet::isa::ToText(report);
  (void)kernelfleet::isa::ReadPtxasLog(text, "");
  (void)kernelfleet::isa::ReadResUsage(text, "");
  (void)kernelfleet::isa::ReadAmdMetadata(text, "");
  return 0;
}
