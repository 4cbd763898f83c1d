// Threads for work that blocks on the disk. gRPC has two callback threads on a
// small machine; a query that takes its time there would hold up heartbeats.
#ifndef KERNELFLEET_SERVER_WORK_POOL_H_
#define KERNELFLEET_SERVER_WORK_POOL_H_

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "common/base/mutex.h"

namespace kernelfleet::server {

// Thread-safe. The destructor runs what was accepted, then joins.
class WorkPool {
 public:
  WorkPool(int threads, size_t queue_limit);
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  // False, and `work` is dropped, when the queue is full.
  [[nodiscard]] bool Post(std::function<void()> work);

 private:
  void Run();

  const size_t queue_limit_;
  Mutex mutex_;
  CondVar wake_;
  std::deque<std::function<void()>> queue_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_SERVER_WORK_POOL_H_
