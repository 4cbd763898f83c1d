// What the writer knows and readers may see: the liveness of nodes, why classes
// of tasks wait, and a few totals. Thread-safe.
#ifndef KERNELFLEET_SERVER_BOARD_H_
#define KERNELFLEET_SERVER_BOARD_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "server/scheduler.h"

namespace kernelfleet::server {

class Board {
 public:
  struct NodeLine {
    // "online", "offline", "cordoned", "draining".
    std::string state;
    std::string reason;
    absl::Time last_seen;
    int held = 0;
  };
  void SetNode(const std::string& node, NodeLine line) {
    MutexLock lock(mutex_);
    nodes_[node] = std::move(line);
  }
  std::optional<NodeLine> NodeOf(const std::string& node) const {
    MutexLock lock(mutex_);
    const auto found = nodes_.find(node);
    if (found == nodes_.end()) return std::nullopt;
    return found->second;
  }
  void SetReasons(std::map<Needs, std::string> reasons) {
    MutexLock lock(mutex_);
    reasons_ = std::move(reasons);
  }
  std::string WhyWaiting(const Needs& needs) const {
    MutexLock lock(mutex_);
    const auto found = reasons_.find(needs);
    return found == reasons_.end() ? "" : found->second;
  }
  // Whether somebody follows the job: set by the watchers, read by the writer.
  void SetWatched(int64_t job, bool watched) {
    MutexLock lock(mutex_);
    watched ? (void)watched_.insert(job) : (void)watched_.erase(job);
  }
  bool IsWatched(int64_t job) const {
    MutexLock lock(mutex_);
    return watched_.contains(job);
  }
  void SetTotals(int64_t open_tasks, int nodes) {
    MutexLock lock(mutex_);
    open_tasks_ = open_tasks;
    present_nodes_ = nodes;
  }
  std::pair<int64_t, int> Totals() const {
    MutexLock lock(mutex_);
    return {open_tasks_, present_nodes_};
  }

 private:
  mutable Mutex mutex_;
  std::map<std::string, NodeLine> nodes_ ABSL_GUARDED_BY(mutex_);
  std::map<Needs, std::string> reasons_ ABSL_GUARDED_BY(mutex_);
  std::set<int64_t> watched_ ABSL_GUARDED_BY(mutex_);
  int64_t open_tasks_ ABSL_GUARDED_BY(mutex_) = 0;
  int present_nodes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_SERVER_BOARD_H_
