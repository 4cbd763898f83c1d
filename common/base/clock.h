// Time as a seam. Everything that waits or stamps takes a Clock; tests pass a
// FakeClock (tests/support) that moves only when told.
#ifndef KERNELFLEET_COMMON_BASE_CLOCK_H_
#define KERNELFLEET_COMMON_BASE_CLOCK_H_

#include <condition_variable>
#include <mutex>

#include "absl/time/time.h"

namespace kernelfleet {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;

  // Wall time, for stamps that people read. May jump.
  virtual absl::Time Now() const = 0;

  // Time since an arbitrary start; never goes back. For leases and timeouts.
  virtual absl::Duration Steady() const = 0;

  // Waits until `wake` is notified or `timeout` passed; may wake spuriously,
  // so callers loop on their own condition. `lock` is held on return.
  virtual void Wait(std::condition_variable_any& wake,
                    std::unique_lock<std::mutex>& lock,
                    absl::Duration timeout) = 0;
};

// The machine's clock; lives for ever.
Clock& RealClock();

}  // namespace kernelfleet

#endif  // KERNELFLEET_COMMON_BASE_CLOCK_H_
