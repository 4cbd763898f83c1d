// A clock that moves only when told.
#ifndef KERNELFLEET_TESTS_SUPPORT_FAKE_CLOCK_H_
#define KERNELFLEET_TESTS_SUPPORT_FAKE_CLOCK_H_

#include <atomic>
#include <chrono>

#include "common/base/clock.h"

namespace kernelfleet::testing {

// Thread-safe. Waiters wake when notified; Advance() does not wake them, so a
// test notifies what it wants to run.
class FakeClock final : public Clock {
 public:
  absl::Time Now() const override {
    return absl::FromUnixSeconds(1'700'000'000) + Steady();
  }
  absl::Duration Steady() const override {
    return absl::Nanoseconds(ns_.load());
  }
  void Wait(std::condition_variable_any& wake,
            std::unique_lock<std::mutex>& lock, absl::Duration) override {
    // A short real wait bounds a missed notification; time stands still.
    wake.wait_for(lock, std::chrono::milliseconds(5));
  }
  void Advance(absl::Duration by) { ns_ += absl::ToInt64Nanoseconds(by); }

 private:
  std::atomic<int64_t> ns_{1};
};

}  // namespace kernelfleet::testing

#endif  // KERNELFLEET_TESTS_SUPPORT_FAKE_CLOCK_H_
