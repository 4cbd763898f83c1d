// Tile IR in memory to versioned bytecode.
#ifndef KERNELFLEET_COMMON_TILEIR_BYTECODE_H_
#define KERNELFLEET_COMMON_TILEIR_BYTECODE_H_

#include <string>

#include "absl/status/statusor.h"
#include "common/tileir/tile_ir.h"

namespace kernelfleet::tileir {

// Minor versions of bytecode 13 that the writer speaks.
inline constexpr int kOldestMinor = 1;
inline constexpr int kNewestMinor = 5;

// The module's bytes. `arch` keys the hints of loads and stores and of the
// entry ("sm_90"; empty: for every architecture). FAILED_PRECONDITION when an
// operation is newer than version 13.`minor`.
absl::StatusOr<std::string> WriteBytecode(const Kernel& kernel, int minor,
                                          std::string_view arch);

}  // namespace kernelfleet::tileir

#endif  // KERNELFLEET_COMMON_TILEIR_BYTECODE_H_
