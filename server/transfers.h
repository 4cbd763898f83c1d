// Uploads and downloads in progress. A peer that stops reading or writing
// holds a descriptor and a buffer of ours; after a silence it is cut off.
#ifndef KERNELFLEET_SERVER_TRANSFERS_H_
#define KERNELFLEET_SERVER_TRANSFERS_H_

#include <cstdint>
#include <functional>
#include <map>

#include "common/base/clock.h"
#include "common/base/mutex.h"

namespace kernelfleet::server {

// Thread-safe.
class Transfers {
 public:
  Transfers(Clock& clock, absl::Duration patience)
      : clock_(clock), patience_(patience) {}

  // `cancel` must not wait and must not come back here.
  uint64_t Add(std::function<void()> cancel);
  // A chunk came or went.
  void Moved(uint64_t transfer);
  // After this `cancel` neither runs nor is running.
  void Remove(uint64_t transfer);

  // Cancels those that were silent for too long. To be called now and then.
  void Sweep();

 private:
  struct Transfer {
    std::function<void()> cancel;
    absl::Duration moved;
  };
  Clock& clock_;
  const absl::Duration patience_;
  Mutex mutex_;
  std::map<uint64_t, Transfer> open_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_ ABSL_GUARDED_BY(mutex_) = 1;
};

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_SERVER_TRANSFERS_H_
