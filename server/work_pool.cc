#include "server/work_pool.h"

#include <utility>

namespace kernelfleet::server {

WorkPool::WorkPool(int threads, size_t queue_limit)
    : queue_limit_(queue_limit) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
}

WorkPool::~WorkPool() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    wake_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

bool WorkPool::Post(std::function<void()> work) {
  MutexLock lock(mutex_);
  if (queue_.size() >= queue_limit_) return false;
  queue_.push_back(std::move(work));
  wake_.NotifyOne();
  return true;
}

void WorkPool::Run() {
  for (;;) {
    std::function<void()> work;
    {
      MutexLock lock(mutex_);
      while (queue_.empty() && !stopping_) {
        wake_.Wait(mutex_, RealClock(), absl::InfiniteDuration());
      }
      if (queue_.empty()) return;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    work();
  }
}

}  // namespace kernelfleet::server
