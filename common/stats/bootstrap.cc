#include "common/stats/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

#include "common/base/check.h"
#include "common/stats/summary.h"

namespace kernelfleet::stats {
namespace {

// splitmix64. The room is pure, so the seed comes in and no seam is needed.
class Generator {
 public:
  explicit Generator(uint64_t seed) : state_(seed) {}

  // Uniform in [0, bound), by the high half of a 64 × 64 product; the bias is
  // below 2^-40 for the bounds used here.
  size_t Below(size_t bound) {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return static_cast<size_t>((static_cast<unsigned __int128>(z) * bound) >>
                               64);
  }

 private:
  uint64_t state_;
};

v1::Interval Unbounded(double level) {
  v1::Interval out;
  out.set_low(-std::numeric_limits<double>::infinity());
  out.set_high(std::numeric_limits<double>::infinity());
  out.set_level(level);
  return out;
}

double Of(Statistic statistic, std::span<double> values) {
  if (statistic == Statistic::kMean) {
    return std::accumulate(values.begin(), values.end(), 0.0) /
           static_cast<double>(values.size());
  }
  std::sort(values.begin(), values.end());
  return Quantile(values, 0.5);
}

// The regularised incomplete beta function by its continued fraction
// (Lentz's method; Abramowitz and Stegun 26.5.8).
double IncompleteBeta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  // The fraction converges fast on one side only; mirror to it.
  if (x > (a + 1) / (a + b + 2)) return 1 - IncompleteBeta(b, a, 1 - x);
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
               a * std::log(x) + b * std::log1p(-x)) /
      a;
  constexpr double kTiny = 1e-300;
  double c = 1;
  double d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < kTiny ? kTiny : d);
  double fraction = d;
  for (int m = 1; m < 300; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd =
        -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    for (const double term : {even, odd}) {
      d = 1 + term * d;
      d = 1 / (std::abs(d) < kTiny ? kTiny : d);
      c = 1 + term / c;
      if (std::abs(c) < kTiny) c = kTiny;
      fraction *= c * d;
    }
    if (std::abs(c * d - 1) < 1e-15) break;
  }
  return front * fraction;
}

double StudentCdf(double t, int freedom) {
  const double x = freedom / (freedom + t * t);
  const double tail = 0.5 * IncompleteBeta(freedom / 2.0, 0.5, x);
  return t > 0 ? 1 - tail : tail;
}

}  // namespace

v1::Interval Bootstrap(std::span<const double> values,
                       const BootstrapOptions& options) {
  if (values.size() < 2) return Unbounded(options.level);
  Generator generator(options.seed);
  std::vector<double> resample(values.size());
  std::vector<double> statistics;
  statistics.reserve(static_cast<size_t>(options.resamples));
  for (int i = 0; i < options.resamples; ++i) {
    for (double& x : resample) x = values[generator.Below(values.size())];
    statistics.push_back(Of(options.statistic, resample));
  }
  std::sort(statistics.begin(), statistics.end());
  v1::Interval out;
  out.set_low(Quantile(statistics, (1 - options.level) / 2));
  out.set_high(Quantile(statistics, (1 + options.level) / 2));
  out.set_level(options.level);
  return out;
}

v1::Interval StudentInterval(std::span<const double> values, double level) {
  if (values.size() < 2) return Unbounded(level);
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double x : values) squares += (x - mean) * (x - mean);
  const double half =
      StudentQuantile((1 + level) / 2, static_cast<int>(values.size()) - 1) *
      std::sqrt(squares / (n - 1) / n);
  v1::Interval out;
  out.set_low(mean - half);
  out.set_high(mean + half);
  out.set_level(level);
  return out;
}

double NormalQuantile(double p) {
  KF_CHECK(p > 0 && p < 1);
  // Bisection on erfc: exact to the last digits and plainly right; it runs
  // once for each interval.
  double low = -40;
  double high = 40;
  while (high - low > 1e-13) {
    const double middle = (low + high) / 2;
    const double cdf = 0.5 * std::erfc(-middle / std::numbers::sqrt2);
    (cdf < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

double StudentQuantile(double p, int freedom) {
  KF_CHECK(p > 0 && p < 1 && freedom >= 1);
  double low = -1e7;
  double high = 1e7;
  while (high - low > 1e-12 * std::max(1.0, std::abs(low))) {
    const double middle = (low + high) / 2;
    if (middle == low || middle == high) break;
    (StudentCdf(middle, freedom) < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace kernelfleet::stats
