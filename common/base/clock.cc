#include "common/base/clock.h"

#include <algorithm>
#include <chrono>

#include "absl/time/clock.h"

namespace kernelfleet {
namespace {

class SystemClock final : public Clock {
 public:
  absl::Time Now() const override { return absl::Now(); }

  absl::Duration Steady() const override {
    return absl::FromChrono(
        std::chrono::steady_clock::now().time_since_epoch());
  }

  void Wait(std::condition_variable_any& wake,
            std::unique_lock<std::mutex>& lock,
            absl::Duration timeout) override {
    // Infinite waits are cut to a day: wait_for overflows past that.
    wake.wait_for(
        lock, absl::ToChronoNanoseconds(std::min(timeout, absl::Hours(24))));
  }
};

}  // namespace

Clock& RealClock() {
  static SystemClock& clock = *new SystemClock;
  return clock;
}

}  // namespace kernelfleet
