// The verdict on a paired benchmark: faster, slower, same or ambiguous. Pure.
//
// The unit of replication is the block: both arms timed close together, in an
// order drawn by coin, on the same buffers. Within a block the arms share what
// drifts (clocks, temperature, placement), so their log-ratio is what counts.
#ifndef KERNELFLEET_COMMON_STATS_COMPARE_H_
#define KERNELFLEET_COMMON_STATS_COMPARE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "kernelfleet/v1/measure.pb.h"

namespace kernelfleet::stats {

// Samples of the two arms within one block, any unit, all positive.
struct Block {
  std::vector<double> a;
  std::vector<double> b;
};

struct CompareOptions {
  double level = 0.95;
  // Differences below this log-ratio do not count even when they are certain.
  double min_band = 0.01;
  int min_blocks = 10;
  uint64_t seed = 1;
};

// Judges candidate B against baseline A. `control` are blocks whose two arms
// were the same kernel; their spread widens the band: max(min_band, 2 × floor).
//
//   faster     the whole interval lies below 1 by more than the band
//   slower     … above 1 by more than the band
//   same       the whole interval lies inside the band
//   ambiguous  anything else; never a pass
//   invalid    a sample is not a positive finite number, or too few blocks
v1::Comparison Compare(std::span<const Block> blocks,
                       std::span<const Block> control,
                       const CompareOptions& options);

// log(median of b / median of a).
double LogRatio(const Block& block);

}  // namespace kernelfleet::stats

#endif  // KERNELFLEET_COMMON_STATS_COMPARE_H_
