// std::mutex with clang's thread-safety annotations. absl::Mutex floods TSan
// with false reports when abseil itself is not instrumented, and Debian's is
// not.
#ifndef KERNELFLEET_COMMON_BASE_MUTEX_H_
#define KERNELFLEET_COMMON_BASE_MUTEX_H_

#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "common/base/clock.h"

namespace kernelfleet {

class ABSL_LOCKABLE Mutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex)
      : mutex_(mutex) {
    mutex_.Lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Always used in a loop on the caller's condition:
//   MutexLock lock(mutex_);
//   while (!done_) wake_.Wait(mutex_, clock_, absl::Seconds(1));
class CondVar {
 public:
  // Returns when notified, after `timeout`, or spuriously.
  void Wait(Mutex& mutex, Clock& clock, absl::Duration timeout)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    clock.Wait(wake_, lock, timeout);
    lock.release();
  }
  void NotifyOne() { wake_.notify_one(); }
  void NotifyAll() { wake_.notify_all(); }

 private:
  std::condition_variable_any wake_;
};

}  // namespace kernelfleet

#endif  // KERNELFLEET_COMMON_BASE_MUTEX_H_
