// A few reading connections, lent one at a time.
#ifndef KERNELFLEET_SERVER_READER_POOL_H_
#define KERNELFLEET_SERVER_READER_POOL_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/status.h"
#include "server/store/reads.h"

namespace kernelfleet::server {

// Thread-safe.
class ReaderPool {
 public:
  // Gives the connection back when destroyed.
  class Lent {
   public:
    Lent(ReaderPool* pool, std::unique_ptr<Reads> reads)
        : pool_(pool), reads_(std::move(reads)) {}
    Lent(Lent&&) = default;
    ~Lent() {
      if (reads_) pool_->Return(std::move(reads_));
    }
    Reads* operator->() const { return reads_.get(); }

   private:
    ReaderPool* pool_;
    std::unique_ptr<Reads> reads_;
  };

  static absl::StatusOr<std::shared_ptr<ReaderPool>> Open(
      const std::string& path, int size) {
    auto pool = std::make_shared<ReaderPool>();
    for (int i = 0; i < size; ++i) {
      KF_ASSIGN_OR_RETURN(std::unique_ptr<Reads> reads, Reads::Open(path));
      pool->Return(std::move(reads));
    }
    return pool;
  }

  // Waits for a free one; UNAVAILABLE after Close() or 30 s.
  absl::StatusOr<Lent> Lend() {
    MutexLock lock(mutex_);
    const absl::Duration until = RealClock().Steady() + absl::Seconds(30);
    while (free_.empty() && !closed_ && RealClock().Steady() < until) {
      returned_.Wait(mutex_, RealClock(), absl::Seconds(1));
    }
    if (closed_) return Unavailable("the coordinator is shutting down");
    if (free_.empty()) {
      return Unavailable("all readers are busy: try again in a moment");
    }
    std::unique_ptr<Reads> reads = std::move(free_.back());
    free_.pop_back();
    return Lent(this, std::move(reads));
  }

  // Waits until all are back, and closes them.
  void Close() {
    MutexLock lock(mutex_);
    closed_ = true;
    while (free_.size() < size_) {
      returned_.Wait(mutex_, RealClock(), absl::Seconds(1));
    }
    free_.clear();
    size_ = 0;
  }

 private:
  void Return(std::unique_ptr<Reads> reads) {
    MutexLock lock(mutex_);
    free_.push_back(std::move(reads));
    size_ = std::max(size_, free_.size());
    returned_.NotifyAll();
  }

  Mutex mutex_;
  CondVar returned_;
  std::vector<std::unique_ptr<Reads>> free_ ABSL_GUARDED_BY(mutex_);
  size_t size_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_SERVER_READER_POOL_H_
