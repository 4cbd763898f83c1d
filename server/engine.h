// The state machine of jobs, tasks, attempts and nodes, run by the writer.
//
// Not thread-safe; never blocks but for the disk. The writer calls commands,
// then Work(), then commits the store, then Committed(). A command's status is
// a failure of the store: the writer rolls back and calls Rebuild(). What the
// caller is told, good or bad, is `*answer`, delivered after the commit.
#ifndef KERNELFLEET_SERVER_ENGINE_H_
#define KERNELFLEET_SERVER_ENGINE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/clock.h"
#include "common/base/random.h"
#include "kernelfleet/v1/service.pb.h"
#include "server/board.h"
#include "server/open_work.h"
#include "server/options.h"
#include "server/scheduler.h"
#include "server/store/store.h"

namespace kernelfleet::server {

template <typename Response>
using Answer = absl::StatusOr<Response>;

// An event of a committed batch. Complete only for jobs that were watched when
// it happened; else readers find it in the table.
struct Happened {
  int64_t job = 0;
  int64_t sequence = 0;
  std::optional<v1::JobEvent> event;
};

class Engine {
 public:
  using LeaseDone = std::function<void(absl::StatusOr<v1::LeaseResponse>)>;

  Engine(const CoordinatorOptions& options, Store& store, Clock& clock,
         Random& random, Board& board);

  // Reads the open work from the tables; forgets everything else but which
  // nodes were heard and which leases are parked.
  absl::Status Rebuild();

  // --- Commands.
  // `body` is the digest of the canonical spec.
  absl::Status Submit(std::shared_ptr<const v1::JobSpec> spec,
                      const std::string& key, const std::string& body,
                      Answer<v1::SubmitResponse>* answer);
  absl::Status CancelJob(int64_t job, const std::string& reason,
                         Answer<v1::CancelJobResponse>* answer);
  absl::Status SetNodeState(const v1::SetNodeStateRequest& request,
                            Answer<v1::SetNodeStateResponse>* answer);
  absl::Status Register(const v1::RegisterRequest& request,
                        Answer<v1::RegisterResponse>* answer);
  absl::Status Heartbeat(const v1::HeartbeatRequest& request,
                         Answer<v1::HeartbeatResponse>* answer);
  absl::Status Complete(const v1::CompleteRequest& request,
                        const std::string& sha256,
                        Answer<v1::CompleteResponse>* answer);
  // `done` runs in Committed(), FailBatch() or Shutdown().
  void Park(uint64_t call, v1::LeaseRequest request, LeaseDone done);
  void CancelParked(uint64_t call);
  void StopLeasing();

  // Everything that is due: clocks, planning, placement, and the rows of jobs
  // that changed. `more` is set when there is work left for the next batch.
  absl::Status Work(bool* more);
  // Runs the answers to leases; returns what happened, for the watchers.
  std::vector<Happened> Committed();
  // The batch was rolled back: leases granted in it are answered with `why`.
  void FailBatch(const absl::Status& why);
  void Shutdown();

  // When Work() must run even if nobody calls.
  absl::Duration NextDue() const;

 private:
  struct ParkedLease {
    uint64_t call = 0;
    v1::LeaseRequest request;
    LeaseDone done;
    absl::Duration until;
    absl::Status status;
    v1::LeaseResponse response;
  };
  enum class TimerKind { kRetry, kQueueClock, kTotalClock, kAttempt, kNode };
  struct Timer {
    absl::Duration due;
    TimerKind kind;
    int64_t id;
    std::string node;
    bool operator>(const Timer& other) const { return due > other.due; }
  };
  enum class FromCache { kNo, kYes };
  // How an attempt came to nothing.
  enum class Loss { kNode, kAttempt, kStopped, kReported };

  // engine.cc
  // Of Rebuild: attempts that still hold a slot, orphans too.
  absl::Status LoadAttempts(absl::Duration lease_until);
  absl::Status RunTimers();
  absl::Status RunTimer(const Timer& timer);
  absl::Status SaveSteps();
  // Shows readers the totals, and why classes wait when that changed.
  void Publish();
  absl::Status Event(OpenJob& job, const char* kind, int64_t task,
                     const std::string& node, const std::string& text);
  void StartTimer(absl::Duration due, TimerKind kind, int64_t id,
                  const std::string& node = "");
  static size_t KeyBit(const std::string& content_key);
  void Queue(OpenTask& task);
  void Unqueue(OpenTask& task);
  void AddOpenTask(OpenTask task);

  // engine_jobs.cc
  absl::Status PlanSlices(bool* more);
  absl::Status PlanKernels(OpenJob& job, int limit);
  // Asks the workflow what next for the kernel and stores what it says.
  absl::Status Advance(OpenJob& job, int kernel);
  // `*ended` is set when the cache answered the task at once.
  absl::Status AddTask(OpenJob& job, const v1::JobSpec& spec, int kernel,
                       v1::TaskSpec task_spec, bool* ended);
  absl::Status FinishIfDone(OpenJob& job);
  absl::Status Finish(OpenJob& job, v1::JobState::Name state,
                      const std::string& text);
  void KeepSpec(OpenJob& job, std::shared_ptr<const v1::JobSpec> spec);
  absl::StatusOr<std::shared_ptr<const v1::JobSpec>> SpecOf(OpenJob& job);
  // Ends all open tasks in this state, and the job.
  absl::Status StopJob(OpenJob& job, v1::TaskState::Name state,
                       const std::string& reason);
  absl::Status QueueClock(OpenTask& task);

  // engine_tasks.cc: the transitions of one task.
  void Count(OpenJob& job, v1::TaskState::Name state, int by);
  absl::Status SetDone(OpenTask& task, v1::Outcome::Code outcome,
                       FromCache from_cache, const std::string& node);
  absl::Status CountDone(OpenJob& job, int64_t task, v1::Outcome::Code outcome,
                         FromCache from_cache, const std::string& node);
  absl::Status End(OpenTask& task, v1::TaskState::Name state,
                   const std::string& reason);
  absl::Status EndFromCache(OpenTask& task, const Store::CacheHit& hit);
  absl::Status Requeue(OpenTask& task, const std::string& node, Loss loss,
                       const std::string& why);
  absl::Status Lose(int64_t fence, Loss loss, const std::string& why);
  // Forgets the task; its attempt, if any, keeps its slot as an orphan.
  void Close(OpenTask& task);
  void DropAttempt(int64_t fence);
  absl::Status CompleteInfra(const v1::CompleteRequest& request,
                             Answer<v1::CompleteResponse>* answer);
  std::string WhyStale(int64_t task, int64_t fence);

  // engine_nodes.cc
  absl::Status PlaceWork();
  absl::Status Grant(ParkedLease& lease, Node& node,
                     const Scheduler::Pick& pick);
  absl::Status FillLease(v1::LeasedTask* leased, const OpenJob& job,
                         const OpenTask& task);
  absl::Status Serve(ParkedLease& lease, bool* granted);
  // Does an open attempt of the node have this GPU for itself?
  bool HoldsGpu(const Node& node, int gpu) const;
  // Takes the node's word that it holds the attempt. False: it must stop it.
  absl::StatusOr<bool> Adopt(Node& node, const v1::HeldAttempt& held);
  bool Admits(const std::string& node, int64_t task);
  void Heard(Node& node);
  void UpdatePresence(Node& node);
  void ShowNode(const Node& node);

  const CoordinatorOptions& options_;
  Store& store_;
  Clock& clock_;
  Random& random_;
  Board& board_;

  std::unordered_map<int64_t, OpenJob> jobs_;
  std::unordered_map<int64_t, OpenTask> tasks_;
  std::unordered_map<int64_t, OpenAttempt> attempts_;
  std::map<std::string, Node> nodes_;
  Scheduler scheduler_;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  std::set<int64_t> unplanned_;
  int64_t last_planned_ = 0;
  std::set<int64_t> dirty_jobs_;
  // Steps that nodes reported: written with the next batch, or soon.
  std::map<int64_t, std::pair<int64_t, std::string>> steps_;
  absl::Duration steps_due_ = absl::InfiniteDuration();
  // Jobs whose spec is in memory, oldest first, with their kernels.
  std::deque<std::pair<int64_t, int>> recent_specs_;
  int64_t recent_kernels_ = 0;
  // Bits of content keys that were stored since the start. A waiting task
  // looks into the cache again only if its bit is set.
  std::vector<bool> stored_keys_;
  std::list<ParkedLease> parked_;
  std::list<ParkedLease> answered_;
  std::vector<Happened> happened_;
  Store::LastIds last_;
  absl::Duration started_;
  bool nodes_changed_ = true;
  bool in_grace_ = true;
  bool leasing_ = true;
  int known_classes_ = 0;
};

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_SERVER_ENGINE_H_
