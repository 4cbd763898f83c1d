// Hands committed events to those who watch a job. The writer only appends to
// memory here; a watcher that is behind reads the table on its own thread.
//
// Thread-safe.
#ifndef KERNELFLEET_SERVER_WATCH_HUB_H_
#define KERNELFLEET_SERVER_WATCH_HUB_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "common/base/mutex.h"
#include "server/board.h"
#include "server/coordinator.h"
#include "server/engine.h"

namespace kernelfleet::server {

class WatchHub : public std::enable_shared_from_this<WatchHub> {
 public:
  // Reads events after a sequence from the table, in order; `last` when the
  // job has ended and these are all.
  using Fetch =
      std::function<absl::StatusOr<WatchBatch>(int64_t job, int64_t after)>;
  WatchHub(Board& board, Fetch fetch)
      : board_(board), fetch_(std::move(fetch)) {}

  std::unique_ptr<Watch> Follow(int64_t job, int64_t after);
  // By the writer, after the commit.
  void Publish(const std::vector<Happened>& happened);
  // Ends all parked calls with UNAVAILABLE, and every later one.
  void Shutdown();

 private:
  class Follower;
  struct Channel {
    // The newest events, without gaps.
    std::deque<v1::JobEvent> recent;
    // The last that was committed since somebody watches.
    int64_t last_sequence = 0;
    std::set<Follower*> followers;
  };

  Board& board_;
  Fetch fetch_;
  Mutex mutex_;
  std::map<int64_t, Channel> channels_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_SERVER_WATCH_HUB_H_
