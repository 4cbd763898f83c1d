// TTIR of stock Triton to CUDA Tile IR bytecode, exact or refused.
//
//   LowerOptions options;
//   options.version_minor = 5;
//   options.arch = "sm_90";
//   KF_ASSIGN_OR_RETURN(v1::TileIrKernel kernel, Lower(text, options));
//   if (kernel.unsupported_size() == 0) … kernel.bytecode() …
#ifndef KERNELFLEET_COMMON_TILEIR_LOWER_H_
#define KERNELFLEET_COMMON_TILEIR_LOWER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "kernelfleet/v1/tileir.pb.h"

namespace kernelfleet::tileir {

// How accesses through different pointer arguments are ordered.
enum class BufferOrder : uint8_t {
  // Different arguments never overlap: the launcher has looked at the ranges.
  kDistinct,
  // Any two may overlap.
  kMayOverlap,
};

struct LowerOptions {
  // Of bytecode 13.
  int version_minor = 5;
  BufferOrder order = BufferOrder::kDistinct;
  // "sm_90": whose hints these are and what dot types there are. Empty: hints
  // for any architecture.
  std::string arch;
  // Triton's num_ctas, a power of two up to 16.
  int num_ctas = 1;
  // 1 to 32; 0: left to the compiler.
  int occupancy = 0;
  // Triton's num_warps; 4 and 8 before bytecode 13.5, powers of two up to 32
  // from there. 0: left to the compiler.
  int num_worker_warps = 0;
  // Triton's num_stages as the latency hint of loads in loops, 1 to 10; a
  // loop's own tt.num_stages wins. 0: no hint.
  int num_stages = 0;
};

// The first public function of the TTIR in `ttir`. What cannot be said in Tile
// IR is listed in `unsupported`, and `bytecode` is then empty. INVALID_ARGUMENT
// when the text is no TTIR or an option is out of its range.
absl::StatusOr<v1::TileIrKernel> Lower(std::string_view ttir,
                                       const LowerOptions& options);

}  // namespace kernelfleet::tileir

#endif  // KERNELFLEET_COMMON_TILEIR_LOWER_H_
