#include "common/stats/bootstrap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace kernelfleet::stats {
namespace {

const std::vector<double> kTen = {1.02, 0.98, 1.10, 1.01, 0.95,
                                  1.30, 1.05, 0.99, 1.00, 1.07};

TEST(BootstrapTest, AgreesWithSciPyOnTheMeanAndTheMedian) {
  // scipy.stats.bootstrap(method="percentile", n_resamples=400000).
  const v1::Interval mean = Bootstrap(kTen, {.resamples = 100'000, .seed = 3});
  EXPECT_NEAR(mean.low(), 0.999, 0.002);
  EXPECT_NEAR(mean.high(), 1.113, 0.002);
  const v1::Interval median = Bootstrap(
      kTen, {.statistic = Statistic::kMedian, .resamples = 100'000, .seed = 3});
  EXPECT_NEAR(median.low(), 0.99, 0.002);
  EXPECT_NEAR(median.high(), 1.075, 0.006);
}

TEST(BootstrapTest, TheSeedReplays) {
  const v1::Interval a = Bootstrap(kTen, {.seed = 5});
  const v1::Interval b = Bootstrap(kTen, {.seed = 5});
  const v1::Interval c = Bootstrap(kTen, {.seed = 6});
  EXPECT_EQ(a.low(), b.low());
  EXPECT_NE(a.low(), c.low());
}

TEST(BootstrapTest, OneValueSaysNothingAboutSpread) {
  const std::vector<double> one = {1};
  EXPECT_TRUE(std::isinf(Bootstrap(one, {}).high()));
  EXPECT_TRUE(std::isinf(StudentInterval(one, 0.95).low()));
}

TEST(BootstrapTest, CoversTheTrueMeanAboutAsOftenAsItSays) {
  std::mt19937 generator(11);
  std::normal_distribution<double> noise(0, 1);
  int covered_bootstrap = 0;
  int covered_student = 0;
  constexpr int kRounds = 1000;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> values(24);
    for (double& x : values) x = noise(generator);
    const v1::Interval b = Bootstrap(
        values, {.resamples = 1000, .seed = static_cast<uint64_t>(round)});
    covered_bootstrap += b.low() <= 0 && 0 <= b.high();
    const v1::Interval t = StudentInterval(values, 0.95);
    covered_student += t.low() <= 0 && 0 <= t.high();
  }
  // Student is exact for normal data; the percentile interval runs a little
  // short at 24 values (about 93 %).
  EXPECT_NEAR(covered_student, 950, 25);
  EXPECT_NEAR(covered_bootstrap, 935, 30);
}

TEST(QuantileTest, AgreesWithSciPy) {
  EXPECT_NEAR(StudentQuantile(0.975, 1), 12.706204736174694, 1e-8);
  EXPECT_NEAR(StudentQuantile(0.975, 9), 2.262157162798205, 1e-10);
  EXPECT_NEAR(StudentQuantile(0.995, 23), 2.807335683769999, 1e-10);
  EXPECT_NEAR(StudentQuantile(0.6, 4), 0.2707222947075976, 1e-10);
  EXPECT_NEAR(StudentQuantile(0.025, 9), -2.262157162798205, 1e-10);
  EXPECT_NEAR(NormalQuantile(0.975), 1.959963984540054, 1e-10);
  EXPECT_NEAR(NormalQuantile(1e-6), -4.753424308822899, 1e-9);
  EXPECT_NEAR(StudentInterval(kTen, 0.95).low(), 0.9759388135209303, 1e-10);
  EXPECT_NEAR(StudentInterval(kTen, 0.95).high(), 1.1180611864790702, 1e-10);
}

}  // namespace
}  // namespace kernelfleet::stats
