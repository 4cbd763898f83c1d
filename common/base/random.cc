#include "common/base/random.h"

#include <sys/random.h>

#include <algorithm>

#include "common/base/check.h"

namespace kernelfleet {
namespace {

class KernelRandom final : public Random {
 public:
  uint64_t Next() override {
    uint64_t value = 0;
    KF_CHECK(::getrandom(&value, sizeof value, 0) == sizeof value);
    return value;
  }
};

}  // namespace

double Random::Uniform() {
  return static_cast<double>(Next() >> 11) * 0x1.0p-53;
}

std::string Random::Id(int length) {
  static constexpr char kAlphabet[] = "0123456789abcdefghjkmnpqrstvwxyz";
  std::string id;
  uint64_t bits = 0;
  for (int i = 0; i < length; ++i) {
    if (i % 12 == 0) bits = Next();
    id.push_back(kAlphabet[bits & 31]);
    bits >>= 5;
  }
  return id;
}

Random& SystemRandom() {
  static KernelRandom& random = *new KernelRandom;
  return random;
}

uint64_t SeededRandom::Next() {
  uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

absl::Duration Backoff(Random& random, int attempt, absl::Duration base,
                       absl::Duration cap) {
  const double factor = static_cast<double>(1u << std::min(attempt, 20));
  return std::min(cap, base * factor) * random.Uniform();
}

}  // namespace kernelfleet
