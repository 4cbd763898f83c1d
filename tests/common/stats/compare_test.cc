#include "common/stats/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace kernelfleet::stats {
namespace {

// Blocks of a device whose speed drifts by `drift` from block to block (shared
// by both arms), with `noise` within, where B takes `ratio` times as long.
std::vector<Block> Simulate(std::mt19937& generator, int blocks, double ratio,
                            double noise = 0.01, double drift = 0.05) {
  std::normal_distribution<double> unit(0, 1);
  std::vector<Block> out(static_cast<size_t>(blocks));
  for (Block& block : out) {
    const double level = 100 * std::exp(drift * unit(generator));
    for (int i = 0; i < 8; ++i) {
      block.a.push_back(level * std::exp(noise * unit(generator)));
      block.b.push_back(level * ratio * std::exp(noise * unit(generator)));
    }
  }
  return out;
}

TEST(CompareTest, EqualKernelsAreNeverCalledFasterOrSlower) {
  std::mt19937 generator(1);
  int wrong = 0;
  for (int round = 0; round < 200; ++round) {
    const v1::Comparison c =
        Compare(Simulate(generator, 24, 1.0), Simulate(generator, 6, 1.0), {});
    wrong += c.verdict() == v1::Verdict::faster ||
             c.verdict() == v1::Verdict::slower;
    EXPECT_NEAR(c.time_ratio(), 1, 0.02);
  }
  EXPECT_EQ(wrong, 0);
}

TEST(CompareTest, ATrueDifferenceIsCalledThroughDriftLargerThanItself) {
  std::mt19937 generator(2);
  int faster = 0;
  int slower = 0;
  for (int round = 0; round < 100; ++round) {
    faster += Compare(Simulate(generator, 24, 0.96), {}, {}).verdict() ==
              v1::Verdict::faster;
    slower += Compare(Simulate(generator, 24, 1.04), {}, {}).verdict() ==
              v1::Verdict::slower;
  }
  EXPECT_GE(faster, 98);
  EXPECT_GE(slower, 98);
}

TEST(CompareTest, ACertainDifferenceInsideTheBandIsSame) {
  std::mt19937 generator(3);
  const v1::Comparison c =
      Compare(Simulate(generator, 40, 1.004, 0.001), {}, {});
  EXPECT_EQ(c.verdict(), v1::Verdict::same);
  EXPECT_GT(c.time_ratio_interval().low(), 1.0);
}

TEST(CompareTest, WideIntervalsAreAmbiguousNeverAPass) {
  std::mt19937 generator(4);
  const v1::Comparison c = Compare(Simulate(generator, 12, 1.0, 0.3), {}, {});
  EXPECT_EQ(c.verdict(), v1::Verdict::ambiguous);
}

TEST(CompareTest, NoisyControlBlocksWidenTheBand) {
  std::mt19937 generator(5);
  const std::vector<Block> blocks = Simulate(generator, 24, 0.97, 0.002);
  EXPECT_EQ(Compare(blocks, {}, {}).verdict(), v1::Verdict::faster);
  // Two equal arms that came 4 % apart on this device: 3 % means nothing.
  const v1::Comparison c =
      Compare(blocks, Simulate(generator, 6, 1.04, 0.002), {});
  EXPECT_NE(c.verdict(), v1::Verdict::faster);
  EXPECT_GT(c.band(), 0.03);
}

TEST(CompareTest, ImpossibleSamplesAreRefused) {
  std::mt19937 generator(6);
  for (const double bad : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    std::vector<Block> blocks = Simulate(generator, 24, 0.5);
    blocks[3].b[2] = bad;
    EXPECT_EQ(Compare(blocks, {}, {}).verdict(), v1::Verdict::invalid);
  }
  std::vector<Block> empty_arm = Simulate(generator, 24, 0.5);
  empty_arm[0].a.clear();
  EXPECT_EQ(Compare(empty_arm, {}, {}).verdict(), v1::Verdict::invalid);
}

TEST(CompareTest, TooFewBlocksProveNothing) {
  std::mt19937 generator(7);
  const v1::Comparison c = Compare(Simulate(generator, 9, 0.5), {}, {});
  EXPECT_EQ(c.verdict(), v1::Verdict::invalid);
  EXPECT_EQ(c.reason(), "9 blocks, needs 10");
}

TEST(CompareTest, SwappingTheArmsMirrorsTheAnswer) {
  std::mt19937 generator(8);
  std::vector<Block> blocks = Simulate(generator, 24, 0.9);
  const v1::Comparison forward = Compare(blocks, {}, {});
  for (Block& block : blocks) std::swap(block.a, block.b);
  const v1::Comparison back = Compare(blocks, {}, {});
  EXPECT_NEAR(forward.time_ratio() * back.time_ratio(), 1, 1e-12);
  EXPECT_EQ(forward.verdict(), v1::Verdict::faster);
  EXPECT_EQ(back.verdict(), v1::Verdict::slower);
}

}  // namespace
}  // namespace kernelfleet::stats
