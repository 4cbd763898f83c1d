#include "common/stats/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "common/base/check.h"

namespace kernelfleet::stats {
namespace {

std::vector<double> Sorted(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// 1 / Φ⁻¹(3/4).
constexpr double kMadScale = 1.482602218505602;

double ScaledMadOfSorted(std::span<const double> sorted) {
  const double middle = Quantile(sorted, 0.5);
  std::vector<double> distance;
  distance.reserve(sorted.size());
  for (const double x : sorted) distance.push_back(std::abs(x - middle));
  std::sort(distance.begin(), distance.end());
  return kMadScale * Quantile(distance, 0.5);
}

}  // namespace

double Quantile(std::span<const double> sorted, double q) {
  KF_CHECK(!sorted.empty());
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  if (below + 1 >= sorted.size()) return sorted.back();
  const double fraction = at - static_cast<double>(below);
  return sorted[below] + fraction * (sorted[below + 1] - sorted[below]);
}

double Median(std::span<const double> samples) {
  return samples.empty() ? 0 : Quantile(Sorted(samples), 0.5);
}

double ScaledMad(std::span<const double> samples) {
  return samples.empty() ? 0 : ScaledMadOfSorted(Sorted(samples));
}

v1::SampleSummary Summarize(std::span<const double> samples) {
  v1::SampleSummary out;
  out.set_count(static_cast<int>(samples.size()));
  if (samples.empty()) return out;
  const std::vector<double> sorted = Sorted(samples);
  const auto count = static_cast<double>(sorted.size());
  out.set_min(sorted.front());
  out.set_p5(Quantile(sorted, 0.05));
  out.set_p25(Quantile(sorted, 0.25));
  out.set_median(Quantile(sorted, 0.5));
  out.set_p75(Quantile(sorted, 0.75));
  out.set_p95(Quantile(sorted, 0.95));
  out.set_max(sorted.back());
  const double mean =
      std::accumulate(sorted.begin(), sorted.end(), 0.0) / count;
  out.set_mean(mean);
  double squares = 0;
  for (const double x : sorted) squares += (x - mean) * (x - mean);
  if (sorted.size() > 1 && mean != 0) {
    out.set_cv(std::sqrt(squares / (count - 1)) / std::abs(mean));
  }
  const double reach = 5 * ScaledMadOfSorted(sorted);
  out.set_outliers(static_cast<int>(std::count_if(
      sorted.begin(), sorted.end(),
      [&](double x) { return std::abs(x - out.median()) > reach; })));
  out.set_bimodal(IsBimodal(samples));
  return out;
}

bool IsBimodal(std::span<const double> samples, double min_gap) {
  const std::vector<double> sorted = Sorted(samples);
  const size_t n = sorted.size();
  const size_t smallest = std::max<size_t>(3, (n + 9) / 10);
  if (n < 2 * smallest) return false;
  std::vector<double> prefix(n + 1, 0.0);
  std::partial_sum(sorted.begin(), sorted.end(), prefix.begin() + 1);
  // Total absolute deviation of sorted[first, last) from its median, by
  // prefix sums: O(1) for each split.
  const auto deviation = [&](size_t first, size_t last) {
    const size_t half = (last - first) / 2;
    const size_t middle = last - half;
    return (prefix[last] - prefix[middle]) -
           (prefix[first + half] - prefix[first]);
  };
  size_t split = 0;
  double least = std::numeric_limits<double>::infinity();
  for (size_t at = smallest; at + smallest <= n; ++at) {
    const double total = deviation(0, at) + deviation(at, n);
    if (total < least) {
      least = total;
      split = at;
    }
  }
  const std::span<const double> all(sorted);
  const std::span<const double> low = all.first(split);
  const std::span<const double> high = all.subspan(split);
  const double gap = Quantile(high, 0.5) - Quantile(low, 0.5);
  const double spread =
      std::max(ScaledMadOfSorted(low), ScaledMadOfSorted(high));
  return gap > 6 * spread && gap > min_gap * std::abs(Quantile(sorted, 0.5));
}

double RelativeTrend(std::span<const double> values, int window) {
  const auto wanted = static_cast<size_t>(window);
  if (window < 2 || values.size() < wanted) {
    return std::numeric_limits<double>::infinity();
  }
  const std::span<const double> last = values.last(wanted);
  std::vector<double> slopes;
  for (size_t i = 0; i < last.size(); ++i) {
    for (size_t j = i + 1; j < last.size(); ++j) {
      slopes.push_back((last[j] - last[i]) / static_cast<double>(j - i));
    }
  }
  const double middle = Median(last);
  if (middle == 0) return 0;
  return Median(slopes) * static_cast<double>(window - 1) / std::abs(middle);
}

}  // namespace kernelfleet::stats
