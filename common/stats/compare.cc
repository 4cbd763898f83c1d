#include "common/stats/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/stats/bootstrap.h"
#include "common/stats/summary.h"

namespace kernelfleet::stats {
namespace {

bool Usable(std::span<const double> samples) {
  return !samples.empty() &&
         std::all_of(samples.begin(), samples.end(),
                     [](double x) { return std::isfinite(x) && x > 0; });
}

bool Usable(std::span<const Block> blocks) {
  return std::all_of(blocks.begin(), blocks.end(), [](const Block& block) {
    return Usable(block.a) && Usable(block.b);
  });
}

std::vector<double> LogRatios(std::span<const Block> blocks) {
  std::vector<double> out;
  out.reserve(blocks.size());
  for (const Block& block : blocks) out.push_back(LogRatio(block));
  return out;
}

v1::Comparison Invalid(v1::Comparison out, std::string reason) {
  out.set_verdict(v1::Verdict::invalid);
  out.set_reason(std::move(reason));
  return out;
}

// How far two equal arms came apart: half the width of the interval of their
// mean log-ratio plus how far its middle lies from zero.
double NoiseFloor(std::span<const double> ratios, const CompareOptions& o) {
  const v1::Interval interval =
      Bootstrap(ratios, {.level = o.level, .seed = o.seed});
  return std::max(std::abs(interval.low()), std::abs(interval.high()));
}

v1::Verdict::Name Judge(const v1::Interval& log_ratio, double band) {
  if (log_ratio.high() < -band) return v1::Verdict::faster;
  if (log_ratio.low() > band) return v1::Verdict::slower;
  if (log_ratio.low() >= -band && log_ratio.high() <= band) {
    return v1::Verdict::same;
  }
  return v1::Verdict::ambiguous;
}

}  // namespace

double LogRatio(const Block& block) {
  return std::log(Median(block.b) / Median(block.a));
}

v1::Comparison Compare(std::span<const Block> blocks,
                       std::span<const Block> control,
                       const CompareOptions& options) {
  v1::Comparison out;
  out.set_blocks(static_cast<int>(blocks.size()));
  if (!Usable(blocks) || !Usable(control)) {
    return Invalid(out, "a sample is zero, negative or not a number");
  }
  if (static_cast<int>(blocks.size()) < options.min_blocks) {
    return Invalid(out, fmt::format("{} blocks, needs {}", blocks.size(),
                                    options.min_blocks));
  }
  double band = options.min_band;
  if (control.size() >= 2) {
    const double floor = NoiseFloor(LogRatios(control), options);
    out.set_noise_floor(floor);
    band = std::max(band, 2 * floor);
  }
  out.set_band(band);

  const std::vector<double> ratios = LogRatios(blocks);
  const double mean = std::accumulate(ratios.begin(), ratios.end(), 0.0) /
                      static_cast<double>(ratios.size());
  const v1::Interval interval =
      Bootstrap(ratios, {.level = options.level, .seed = options.seed});
  out.set_time_ratio(std::exp(mean));
  v1::Interval* shown = out.mutable_time_ratio_interval();
  shown->set_low(std::exp(interval.low()));
  shown->set_high(std::exp(interval.high()));
  shown->set_level(options.level);
  out.set_verdict(Judge(interval, band));
  return out;
}

}  // namespace kernelfleet::stats
