// Randomness as a seam: ids and retry jitter come from here, so that a
// simulation replays from its seed.
#ifndef KERNELFLEET_COMMON_BASE_RANDOM_H_
#define KERNELFLEET_COMMON_BASE_RANDOM_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"

namespace kernelfleet {

// Thread-safe unless said otherwise by the implementation.
class Random {
 public:
  virtual ~Random() = default;
  virtual uint64_t Next() = 0;

  // Uniform in [0, 1).
  double Uniform();
  // `length` characters of Crockford base 32 in lower case.
  std::string Id(int length);
};

// The kernel's generator.
Random& SystemRandom();

// splitmix64: reproducible; not thread-safe.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(uint64_t seed) : state_(seed) {}
  uint64_t Next() override;

 private:
  uint64_t state_;
};

// Exponential backoff with full jitter: uniform in
// [0, min(cap, base * 2^attempt)]; attempt counts from 0.
absl::Duration Backoff(Random& random, int attempt, absl::Duration base,
                       absl::Duration cap);

}  // namespace kernelfleet

#endif  // KERNELFLEET_COMMON_BASE_RANDOM_H_
