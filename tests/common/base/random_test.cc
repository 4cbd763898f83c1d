#include "common/base/random.h"

#include <gtest/gtest.h>

namespace kernelfleet {
namespace {

TEST(RandomTest, ASeedReplays) {
  SeededRandom a(7);
  SeededRandom b(7);
  EXPECT_EQ(a.Id(16), b.Id(16));
  EXPECT_NE(SystemRandom().Id(26), SystemRandom().Id(26));
}

TEST(RandomTest, BackoffStaysUnderItsCap) {
  SeededRandom random(1);
  for (int attempt = 0; attempt < 200; ++attempt) {
    const absl::Duration wait =
        Backoff(random, attempt, absl::Milliseconds(500), absl::Seconds(30));
    EXPECT_GE(wait, absl::ZeroDuration());
    EXPECT_LE(wait, absl::Seconds(30));
  }
}

}  // namespace
}  // namespace kernelfleet
