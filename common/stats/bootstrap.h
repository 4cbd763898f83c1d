// Confidence intervals by resampling, reproducible from their seed. Pure.
#ifndef KERNELFLEET_COMMON_STATS_BOOTSTRAP_H_
#define KERNELFLEET_COMMON_STATS_BOOTSTRAP_H_

#include <cstdint>
#include <span>

#include "kernelfleet/v1/measure.pb.h"

namespace kernelfleet::stats {

enum class Statistic { kMean, kMedian };

struct BootstrapOptions {
  Statistic statistic = Statistic::kMean;
  double level = 0.95;
  int resamples = 10'000;
  uint64_t seed = 1;
};

// Percentile bootstrap interval of the statistic (Efron 1979). With fewer than
// two values the interval is unbounded: nothing is known about the spread.
v1::Interval Bootstrap(std::span<const double> values,
                       const BootstrapOptions& options);

// Student's t interval of the mean, for comparison and for stopping rules:
// no resampling. Unbounded with fewer than two values.
v1::Interval StudentInterval(std::span<const double> values, double level);

// Inverse of the standard normal distribution, 0 < p < 1.
double NormalQuantile(double p);

// Inverse of Student's t distribution with `freedom` ≥ 1 degrees.
double StudentQuantile(double p, int freedom);

}  // namespace kernelfleet::stats

#endif  // KERNELFLEET_COMMON_STATS_BOOTSTRAP_H_
