// Text of TTIR to a tree, in the pretty form that Triton stores (.ttir files)
// or in MLIR's generic form.
#ifndef KERNELFLEET_COMMON_TILEIR_TTIR_READER_H_
#define KERNELFLEET_COMMON_TILEIR_TTIR_READER_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "common/tileir/ttir.h"

namespace kernelfleet::tileir::ttir {

// The module points into `text`. INVALID_ARGUMENT with line and column for
// anything that is not TTIR; an operation that nobody knows is no error here.
absl::StatusOr<Module> Read(std::string_view text);

}  // namespace kernelfleet::tileir::ttir

#endif  // KERNELFLEET_COMMON_TILEIR_TTIR_READER_H_
