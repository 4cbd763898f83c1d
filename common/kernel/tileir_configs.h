// The configs that TileIR is worth trying with, by class and architecture, and
// the Python that offers them.
#ifndef KERNELFLEET_COMMON_KERNEL_TILEIR_CONFIGS_H_
#define KERNELFLEET_COMMON_KERNEL_TILEIR_CONFIGS_H_

#include <set>
#include <span>
#include <string>
#include <string_view>

namespace kernelfleet::kernel {

struct TileConfig {
  // Architectures by sm number, both inclusive.
  int first_sm;
  int last_sm;
  // M, N, K of a dot; the block of an element-wise kernel and zeros; all zero
  // where the class leaves block sizes alone.
  int tile[3];
  int occupancy;
  // 0: as the user's config has it.
  int num_warps;
  int num_stages;
  int num_ctas;
};

// The rows of a class; empty for a name that is none.
std::span<const TileConfig> TileConfigsOf(std::string_view classification);

// How many block parameters the class's rows set.
int TileRankOf(std::string_view classification);

enum class Decorator { kOmit, kInclude };

// The block of Python for these classes, with '\n' line ends. `triton` is the
// file's name for the module; empty: the block imports it.
std::string ConfigBlock(const std::set<std::string>& classes,
                        std::string_view triton, Decorator decorator);

// First and last line of the block.
inline constexpr std::string_view kBlockBegin =
    "# kernelfleet: configs for the TileIR backend (begin)";
inline constexpr std::string_view kBlockEnd =
    "# kernelfleet: configs for the TileIR backend (end)";

}  // namespace kernelfleet::kernel

#endif  // KERNELFLEET_COMMON_KERNEL_TILEIR_CONFIGS_H_
