#include "server/watch_hub.h"

#include <utility>

#include "common/base/check.h"
#include "common/base/status.h"

namespace kernelfleet::server {
namespace {

// Kept per watched job; a watcher further behind reads the table.
constexpr size_t kRecentEvents = 2048;
constexpr size_t kBatch = 256;

absl::Status Closed() {
  return Unavailable("the coordinator is shutting down");
}

}  // namespace

class WatchHub::Follower final : public Watch {
 public:
  Follower(std::shared_ptr<WatchHub> hub, int64_t job, int64_t after)
      : hub_(std::move(hub)), job_(job), position_(after) {}

  ~Follower() override {
    Done<WatchBatch> parked;
    {
      MutexLock lock(hub_->mutex_);
      parked = std::move(parked_);
      const auto channel = hub_->channels_.find(job_);
      if (channel != hub_->channels_.end()) {
        channel->second.followers.erase(this);
        if (channel->second.followers.empty()) {
          hub_->channels_.erase(channel);
          if (!hub_->closed_) hub_->board_.SetWatched(job_, false);
        }
      }
    }
    if (parked) parked(absl::CancelledError("the watch was dropped"));
  }

  void Next(Done<WatchBatch> done) override {
    WatchBatch batch;
    for (;;) {
      {
        MutexLock lock(hub_->mutex_);
        KF_CHECK(!parked_);
        if (hub_->closed_) {
          batch.last = true;
          break;
        }
        TakeRecent(&batch);
        if (!batch.events.empty()) break;
        if (caught_up_ && position_ >= hub_->channels_[job_].last_sequence) {
          parked_ = std::move(done);
          return;
        }
      }
      absl::StatusOr<WatchBatch> stored = hub_->fetch_(job_, position_);
      if (!stored.ok() || !stored->events.empty() || stored->last) {
        if (stored.ok() && !stored->events.empty()) {
          MutexLock lock(hub_->mutex_);
          position_ = stored->events.back().sequence();
        }
        done(std::move(stored));
        return;
      }
      // Nothing newer on disk. What was committed since then has moved the
      // channel's last sequence: this follower registered before it looked.
      MutexLock lock(hub_->mutex_);
      caught_up_ = true;
    }
    if (batch.events.empty()) return done(Closed());
    done(std::move(batch));
  }

  // Appends what follows this follower's position, if it is in memory.
  void TakeRecent(WatchBatch* batch)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(hub_->mutex_) {
    const std::deque<v1::JobEvent>& recent = hub_->channels_[job_].recent;
    if (recent.empty() || recent.back().sequence() <= position_) return;
    if (recent.front().sequence() > position_ + 1) {
      caught_up_ = false;
      return;
    }
    const auto skip =
        static_cast<size_t>(position_ + 1 - recent.front().sequence());
    for (size_t i = skip; i < recent.size() && batch->events.size() < kBatch;
         ++i) {
      batch->events.push_back(recent[i]);
    }
    position_ = batch->events.back().sequence();
    batch->last = batch->events.back().kind() == "job_done";
    caught_up_ = true;
  }
  Done<WatchBatch> TakeParked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(hub_->mutex_) {
    return std::exchange(parked_, nullptr);
  }
  bool parked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(hub_->mutex_) {
    return parked_ != nullptr;
  }

 private:
  const std::shared_ptr<WatchHub> hub_;
  const int64_t job_;
  int64_t position_ ABSL_GUARDED_BY(hub_->mutex_);
  // Everything before the next publication was delivered.
  bool caught_up_ ABSL_GUARDED_BY(hub_->mutex_) = false;
  Done<WatchBatch> parked_ ABSL_GUARDED_BY(hub_->mutex_);
};

std::unique_ptr<Watch> WatchHub::Follow(int64_t job, int64_t after) {
  auto follower = std::make_unique<Follower>(shared_from_this(), job, after);
  MutexLock lock(mutex_);
  channels_[job].followers.insert(follower.get());
  board_.SetWatched(job, true);
  return follower;
}

void WatchHub::Publish(const std::vector<Happened>& happened) {
  std::vector<std::pair<Done<WatchBatch>, WatchBatch>> ready;
  {
    MutexLock lock(mutex_);
    if (channels_.empty()) return;
    std::set<Channel*> touched;
    for (const Happened& each : happened) {
      const auto channel = channels_.find(each.job);
      if (channel == channels_.end()) continue;
      channel->second.last_sequence = each.sequence;
      std::deque<v1::JobEvent>& recent = channel->second.recent;
      if (!recent.empty() && recent.back().sequence() + 1 != each.sequence) {
        recent.clear();
      }
      // It happened before anybody watched: it is in the table alone.
      if (!each.event) {
        recent.clear();
      } else {
        recent.push_back(*each.event);
      }
      if (recent.size() > kRecentEvents) recent.pop_front();
      touched.insert(&channel->second);
    }
    for (Channel* channel : touched) {
      for (Follower* follower : channel->followers) {
        if (!follower->parked()) continue;
        WatchBatch batch;
        follower->TakeRecent(&batch);
        // Empty: it is behind what memory holds. Its next call reads on.
        ready.emplace_back(follower->TakeParked(), std::move(batch));
      }
    }
  }
  for (auto& [done, batch] : ready) done(std::move(batch));
}

void WatchHub::Shutdown() {
  std::vector<Done<WatchBatch>> parked;
  {
    MutexLock lock(mutex_);
    closed_ = true;
    for (auto& [job, channel] : channels_) {
      for (Follower* follower : channel.followers) {
        if (follower->parked()) parked.push_back(follower->TakeParked());
      }
    }
  }
  for (Done<WatchBatch>& done : parked) done(Closed());
}

}  // namespace kernelfleet::server
