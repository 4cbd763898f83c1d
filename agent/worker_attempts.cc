// The attempts of a worker: run, sent, forgotten; and the end of it all.
#include <algorithm>
#include <utility>

#include "agent/worker.h"
#include "common/base/log.h"
#include "common/base/status.h"

namespace kernelfleet::agent {
namespace {

constexpr absl::Duration kLogInterval = absl::Seconds(1);
constexpr absl::Duration kDrainInterval = absl::Milliseconds(100);

}  // namespace

// The first attempt whose time has come; else `pause` says when one will.
Worker::AttemptPtr Worker::TakeDue(std::deque<AttemptPtr>& queue,
                                   absl::Duration& pause) {
  const absl::Duration now = clock_.Steady();
  for (auto it = queue.begin(); it != queue.end(); ++it) {
    const StopReason stop = (*it)->stop_reason();
    // Whoever was stopped need not wait for a module; a result that nobody
    // wants need not wait for the network.
    const bool hasty = (*it)->step() == Step::kUploading
                           ? stop == StopReason::kLost
                           : stop != StopReason::kNone;
    if ((*it)->not_before > now && !hasty) {
      pause = std::min(pause, (*it)->not_before - now);
      continue;
    }
    AttemptPtr attempt = std::move(*it);
    queue.erase(it);
    return attempt;
  }
  return nullptr;
}

absl::Duration Worker::WorkTurn() {
  AttemptPtr attempt;
  {
    absl::Duration pause = absl::InfiniteDuration();
    MutexLock lock(mutex_);
    attempt = TakeDue(ready_, pause);
    if (!attempt) return pause;
    Notify(kLog);
  }
  const absl::Status status = executor_.Execute(*attempt);
  if (status.ok()) {
    Finish(attempt);
    return absl::ZeroDuration();
  }
  LogWarning("attempt waits",
             {{"fence", attempt->fence()}, {"error", Text(status)}});
  MutexLock lock(mutex_);
  attempt->not_before =
      clock_.Steady() + Backoff(random_, std::min(attempt->failures++, 16),
                                options_.backoff_base, options_.backoff_cap);
  ready_.push_back(std::move(attempt));
  return absl::ZeroDuration();
}

// The work is over: its slot is free, its result goes out.
void Worker::Finish(const AttemptPtr& attempt) {
  attempt->set_step(Step::kUploading);
  MutexLock lock(mutex_);
  attempt->not_before = absl::ZeroDuration();
  attempt->failures = 0;
  outbox_.push_back(attempt);
  Notify(kSend);
  Notify(kLease);
}

absl::Duration Worker::SendTurn() {
  AttemptPtr attempt;
  int64_t session = 0;
  {
    absl::Duration pause = absl::InfiniteDuration();
    MutexLock lock(mutex_);
    if (session_ == 0) return pause;
    session = session_;
    attempt = TakeDue(outbox_, pause);
    if (!attempt) return pause;
  }
  absl::Status status;
  if (attempt->stop_reason() != StopReason::kLost) {
    status = sender_.Send(*attempt, session);
  }
  if (MayRetry(status)) {
    if (!absl::IsResourceExhausted(status)) LoseSession(session);
    MutexLock lock(mutex_);
    attempt->not_before =
        clock_.Steady() + Backoff(random_, std::min(attempt->failures++, 16),
                                  options_.backoff_base, options_.backoff_cap);
    outbox_.push_back(std::move(attempt));
    return absl::ZeroDuration();
  }
  if (!status.ok()) {
    LogError("result refused",
             {{"fence", attempt->fence()}, {"error", Text(status)}});
  }
  Forget(attempt);
  return absl::ZeroDuration();
}

void Worker::Forget(const AttemptPtr& attempt) {
  if (const absl::Status status = attempt->Remove(); !status.ok()) {
    LogWarning("attempt folder not removed", {{"error", Text(status)}});
  }
  MutexLock lock(mutex_);
  held_.erase(attempt->fence());
  Notify(kLease);
  Notify(kDrain);
}

absl::Duration Worker::LogTurn() {
  std::vector<AttemptPtr> running;
  {
    MutexLock lock(mutex_);
    for (const auto& [fence, attempt] : held_) {
      if (attempt->step() == Step::kUploading) continue;
      running.push_back(attempt);
    }
    if (running.empty()) return absl::InfiniteDuration();
    if (session_ == 0) return kLogInterval;
  }
  for (const AttemptPtr& attempt : running) {
    // Failures wait for the next turn, or for the end of the attempt.
    const int64_t cap = attempt->task().limits().output_bytes();
    (void)attempt->log().Pump(cap > 0 ? cap : options_.defaults.output_bytes);
    (void)sender_.SendLog(*attempt);
  }
  return kLogInterval;
}

// --- The end.

void Worker::Drain() {
  {
    MutexLock lock(mutex_);
    if (drain_since_) return;
    LogInfo("draining", {{"held", held_.size()}});
    drain_since_ = clock_.Steady();
    // What has not begun is handed back at once.
    for (const AttemptPtr& attempt : ready_) {
      attempt->Stop(StopReason::kDraining);
    }
    for (const Loop loop : {kConnect, kLease, kWork, kDrain}) Notify(loop);
  }
  coordinator_.StopLeasing();
}

void Worker::Hurry() {
  Drain();
  MutexLock lock(mutex_);
  hurry_ = true;
  Notify(kDrain);
}

absl::Duration Worker::DrainTurn() {
  MutexLock lock(mutex_);
  if (!drain_since_) return absl::InfiniteDuration();
  const absl::Duration spent = clock_.Steady() - *drain_since_;
  const absl::Duration limit =
      hurry_ ? absl::ZeroDuration() : options_.drain_limit;
  bool working = false;
  for (const auto& [fence, attempt] : held_) {
    if (attempt->step() == Step::kUploading) continue;
    working = true;
    if (spent >= limit) attempt->Stop(StopReason::kDraining);
  }
  if (held_.empty() || (!working && spent >= limit + options_.flush_limit)) {
    LogInfo("drained", {{"kept", held_.size()}});
    drained_ = true;
    for (int loop = 0; loop < kLoops; ++loop) {
      ++signals_[static_cast<size_t>(loop)].count;
      signals_[static_cast<size_t>(loop)].wake.NotifyAll();
    }
    return absl::ZeroDuration();
  }
  return kDrainInterval;
}

size_t Worker::held() {
  MutexLock lock(mutex_);
  return held_.size();
}

bool Worker::drained() {
  MutexLock lock(mutex_);
  return drained_;
}

}  // namespace kernelfleet::agent
