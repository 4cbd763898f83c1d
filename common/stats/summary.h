// Order statistics of timings. Pure; samples may be in any unit.
#ifndef KERNELFLEET_COMMON_STATS_SUMMARY_H_
#define KERNELFLEET_COMMON_STATS_SUMMARY_H_

#include <span>
#include <vector>

#include "kernelfleet/v1/measure.pb.h"

namespace kernelfleet::stats {

// The q-quantile (0 ≤ q ≤ 1) by linear interpolation between order statistics
// (Hyndman and Fan's type 7, the default of NumPy and R). `sorted` must be
// ascending and not empty.
double Quantile(std::span<const double> sorted, double q);

// The middle of the samples; 0 for none.
double Median(std::span<const double> samples);

// Median absolute deviation, scaled by 1.4826 so that it estimates the
// standard deviation of normal data.
double ScaledMad(std::span<const double> samples);

// All of SampleSummary; count 0 for no samples.
v1::SampleSummary Summarize(std::span<const double> samples);

// Do the samples fall into two groups? True when the best split into two
// (least total absolute deviation) leaves at least a tenth, and three samples,
// on each side, and the groups' medians lie further apart than six times the
// larger group's scaled MAD and than `min_gap` of the median. A clock that
// steps between two speeds looks like this; a mean over it is meaningless.
bool IsBimodal(std::span<const double> samples, double min_gap = 0.02);

// Trend over the last `window` values by the Theil-Sen slope, relative to
// their median: 0.005 means they rise by half a percent from the first to the
// last. Fewer than `window` values: infinity, because nothing is steady yet.
double RelativeTrend(std::span<const double> values, int window = 10);

}  // namespace kernelfleet::stats

#endif  // KERNELFLEET_COMMON_STATS_SUMMARY_H_
