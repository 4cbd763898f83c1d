#include "common/stats/summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace kernelfleet::stats {
namespace {

// The reference values of these tests come from NumPy 2 and SciPy 1.
const std::vector<double> kTen = {1.02, 0.98, 1.10, 1.01, 0.95,
                                  1.30, 1.05, 0.99, 1.00, 1.07};

TEST(SummaryTest, AgreesWithNumPyAndSciPy) {
  const v1::SampleSummary summary = Summarize(kTen);
  EXPECT_EQ(summary.count(), 10);
  EXPECT_NEAR(summary.p5(), 0.9635, 1e-12);
  EXPECT_NEAR(summary.p25(), 0.9925, 1e-12);
  EXPECT_NEAR(summary.median(), 1.015, 1e-12);
  EXPECT_NEAR(summary.p75(), 1.065, 1e-12);
  EXPECT_NEAR(summary.p95(), 1.21, 1e-12);
  EXPECT_NEAR(summary.mean(), 1.047, 1e-12);
  EXPECT_NEAR(summary.cv(), 0.09487744888381242, 1e-12);
  EXPECT_NEAR(ScaledMad(kTen), 0.05189107764769611, 1e-12);
  EXPECT_EQ(summary.outliers(), 1);
  EXPECT_FALSE(summary.bimodal());
}

TEST(SummaryTest, NothingIsNotAnError) {
  EXPECT_EQ(Summarize({}).count(), 0);
  EXPECT_EQ(Median({}), 0);
  EXPECT_FALSE(IsBimodal({}));
}

TEST(SummaryTest, OneSampleIsItsOwnQuantiles) {
  const std::vector<double> one = {3};
  EXPECT_EQ(Summarize(one).p5(), 3);
  EXPECT_EQ(Summarize(one).p95(), 3);
  EXPECT_EQ(Summarize(one).cv(), 0);
}

TEST(SummaryTest, AClockThatStepsIsBimodalAndNoiseIsNot) {
  std::mt19937 generator(7);
  std::normal_distribution<double> noise(0, 0.004);
  int false_calls = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<double> stepping;
    std::vector<double> steady;
    std::vector<double> spiky;
    for (int i = 0; i < 60; ++i) {
      stepping.push_back((i % 3 == 0 ? 1.08 : 1.0) + noise(generator));
      steady.push_back(1.0 + noise(generator));
      spiky.push_back(i % 30 == 0 ? 1.5 : 1.0 + noise(generator));
    }
    EXPECT_TRUE(IsBimodal(stepping)) << round;
    false_calls += IsBimodal(steady) + IsBimodal(spiky);
  }
  EXPECT_EQ(false_calls, 0);
}

TEST(SummaryTest, TwoSpeedsCloserThanTheGapAreOne) {
  std::vector<double> samples;
  for (int i = 0; i < 40; ++i) samples.push_back(i % 2 ? 1.0 : 1.01);
  EXPECT_FALSE(IsBimodal(samples, 0.02));
  EXPECT_TRUE(IsBimodal(samples, 0.005));
}

TEST(SummaryTest, TheTrendIsTheilSen) {
  const std::vector<double> rising = {5, 6, 9, 8, 11, 14, 12, 16, 17, 20};
  EXPECT_NEAR(RelativeTrend(rising), 1.5714285714285714 * 9 / 11.5, 1e-12);
  EXPECT_TRUE(std::isinf(RelativeTrend({rising.data(), 9})));
  // One spike does not make a trend.
  const std::vector<double> spike = {1, 1, 1, 1, 1, 9, 1, 1, 1, 1};
  EXPECT_EQ(RelativeTrend(spike), 0);
}

}  // namespace
}  // namespace kernelfleet::stats
