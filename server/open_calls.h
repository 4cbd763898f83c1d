// Calls that may stay open for long (parked polls, watches), so that a
// shutdown can end them: it waits for every reactor to finish.
#ifndef KERNELFLEET_SERVER_OPEN_CALLS_H_
#define KERNELFLEET_SERVER_OPEN_CALLS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>

#include "absl/status/status.h"
#include "common/base/mutex.h"

namespace kernelfleet::server {

// Thread-safe.
class OpenCalls {
 public:
  // `end` makes the call finish soon; it must not wait, nor add or remove a
  // call. Runs at most once, at once if the server is ending already.
  uint64_t Add(std::function<void()> end);
  // After this `end` neither runs nor is running.
  void Remove(uint64_t call);

  void EndAll();

  // What to tell the client of a call that ended with `status`: UNAVAILABLE
  // where CANCELLED was our doing, so that the client comes back.
  absl::Status Explain(absl::Status status) const;

 private:
  Mutex mutex_;
  std::map<uint64_t, std::function<void()>> open_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_ ABSL_GUARDED_BY(mutex_) = 1;
  // Set under the mutex, read by calls that end inside EndAll().
  std::atomic<bool> ending_ = false;
};

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_SERVER_OPEN_CALLS_H_
