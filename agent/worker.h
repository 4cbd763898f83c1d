// The agent's work: registers, leases, runs attempts, reports, and keeps going
// whatever the network does.
//
// Each kind of work is a turn: a method that does what is due now and returns
// how long it may rest. Run() calls the turns in loops on threads of their own;
// a test or a simulation calls them from one thread. No lock is held while a
// turn calls the coordinator or the runner.
//
//   Worker worker(options, coordinator, runner, RealClock(), SystemRandom());
//   worker.Recover();
//   worker.Run();   // until Drain(), from another thread
#ifndef KERNELFLEET_AGENT_WORKER_H_
#define KERNELFLEET_AGENT_WORKER_H_

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "agent/execute.h"
#include "agent/sender.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/random.h"

namespace kernelfleet::agent {

struct WorkerOptions {
  v1::NodeFacts facts;
  std::string data_dir;
  AttemptDefaults defaults;
  int64_t blob_cache_bytes = 256 << 20;
  // No new work below this much free disk.
  int64_t min_free_bytes = 256 << 20;
  absl::Duration lease_wait = absl::Seconds(30);
  absl::Duration backoff_base = absl::Milliseconds(250);
  absl::Duration backoff_cap = absl::Seconds(30);
  // Draining: attempts may finish for so long, then results may be sent for
  // so long; what is left stays in the data folder for the next start.
  absl::Duration drain_limit = absl::Seconds(30);
  absl::Duration flush_limit = absl::Seconds(10);
  int senders = 2;
};

// Thread-safe.
class Worker {
 public:
  // All references outlive the worker.
  Worker(WorkerOptions options, Coordinator& coordinator, PhaseRunner& runner,
         Clock& clock, Random& random);
  ~Worker();

  // Takes over what an earlier process left in the data folder: results go out
  // again, attempts that it died on are handed back. Call once, first.
  void Recover();

  // Blocks until drained.
  void Run();
  // No new leases; finish or hand back; then Run() returns.
  void Drain();
  // As Drain(), with nothing left to finish: a second SIGTERM.
  void Hurry();

  // Registers, or reports what is held and obeys the answer.
  absl::Duration ConnectTurn();
  // Asks for work: for compile slots, for GPUs.
  enum class Lane { kCompile, kGpu };
  absl::Duration LeaseTurn(Lane lane);
  // Runs one attempt from lease to result.
  absl::Duration WorkTurn();
  // Sends one finished attempt.
  absl::Duration SendTurn();
  // Sends what running attempts printed.
  absl::Duration LogTurn();
  // Enforces the limits of a drain.
  absl::Duration DrainTurn();

  // Attempts held, in any step.
  size_t held();
  bool drained();

 private:
  using AttemptPtr = std::shared_ptr<Attempt>;
  // What a loop waits for. A loop that read `count` before its turn does not
  // sleep if it changed since.
  struct Signal {
    uint64_t count = 0;
    CondVar wake;
  };
  enum Loop { kConnect, kLease, kWork, kSend, kLog, kDrain, kLoops };
  void RunLoop(Loop loop, const std::function<absl::Duration()>& turn);
  bool WaitForChange(Loop loop, uint64_t seen, absl::Duration pause);
  void Notify(Loop loop) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Duration Register();
  absl::Duration Beat(int64_t session);
  absl::Duration Unreachable(const absl::Status& status, int& failures);
  void LoseSession(int64_t session);
  std::vector<v1::HeldAttempt> Held() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // False: nothing is free in this lane.
  bool FillFree(Lane lane, v1::LeaseRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool DiskHasRoom();
  void Accept(const v1::LeasedTask& task);
  void Finish(const AttemptPtr& attempt);
  void Forget(const AttemptPtr& attempt);
  AttemptPtr TakeDue(std::deque<AttemptPtr>& queue, absl::Duration& pause)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const WorkerOptions options_;
  const std::string attempts_dir_;
  Coordinator& coordinator_;
  Clock& clock_;
  Random& random_;
  BlobCache blobs_;
  Executor executor_;
  Sender sender_;

  Mutex mutex_;
  std::array<Signal, kLoops> signals_ ABSL_GUARDED_BY(mutex_);
  int64_t session_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Duration heartbeat_ ABSL_GUARDED_BY(mutex_) = absl::Seconds(5);
  bool reachable_ ABSL_GUARDED_BY(mutex_) = true;
  bool disk_full_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<int64_t, AttemptPtr> held_ ABSL_GUARDED_BY(mutex_);
  std::deque<AttemptPtr> ready_ ABSL_GUARDED_BY(mutex_);
  std::deque<AttemptPtr> outbox_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Duration> drain_since_ ABSL_GUARDED_BY(mutex_);
  bool hurry_ ABSL_GUARDED_BY(mutex_) = false;
  bool drained_ ABSL_GUARDED_BY(mutex_) = false;
  int connect_failures_ = 0;                // ConnectTurn's thread
  std::array<int, 2> lease_failures_ = {};  // each lane's thread
};

}  // namespace kernelfleet::agent

#endif  // KERNELFLEET_AGENT_WORKER_H_
