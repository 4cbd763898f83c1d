#include "agent/worker.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <set>
#include <thread>
#include <utility>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status.h"

namespace kernelfleet::agent {
namespace {

constexpr int kProtocol = 1;
constexpr absl::Duration kDiskRecheck = absl::Seconds(10);
// An empty answer that comes at once is no long poll: do not spin on it.
constexpr absl::Duration kEmptyPause = absl::Seconds(1);
// Results that wait for the coordinator; beyond, no new work is asked for.
constexpr size_t kMaxOutbox = 256;

bool IsGpuWork(const Attempt& attempt) {
  return attempt.task().spec().needs_gpu();
}

}  // namespace

Worker::Worker(WorkerOptions options, Coordinator& coordinator,
               PhaseRunner& runner, Clock& clock, Random& random)
    : options_(std::move(options)),
      attempts_dir_(JoinPath(options_.data_dir, "attempts")),
      coordinator_(coordinator),
      clock_(clock),
      random_(random),
      blobs_(JoinPath(options_.data_dir, "blobs"), options_.blob_cache_bytes),
      executor_(options_.facts, options_.defaults, blobs_, coordinator, runner),
      sender_(options_.facts.node_id(), coordinator) {}

Worker::~Worker() = default;

void Worker::Recover() {
  for (const std::string& name : ListAttempts(attempts_dir_)) {
    absl::StatusOr<AttemptPtr> attempt = Attempt::Load(attempts_dir_, name);
    if (!attempt.ok()) {
      LogWarning("unreadable attempt removed",
                 {{"error", Text(attempt.status())}});
      (void)RemoveTree(JoinPath(attempts_dir_, name));
      continue;
    }
    if ((*attempt)->completion().fence() == 0) {
      (*attempt)->SetCompletion(
          InfraCompletion((*attempt)->task(), v1::InfraFailure::agent_stopped,
                          "the agent stopped while it ran"));
    }
    LogInfo("attempt taken over", {{"fence", (*attempt)->fence()}});
    {
      MutexLock lock(mutex_);
      held_[(*attempt)->fence()] = *attempt;
    }
    Finish(*attempt);
  }
}

// --- Loops.

void Worker::Run() {
  std::vector<std::thread> threads;
  const auto start = [&](Loop loop, auto turn) {
    threads.emplace_back([this, loop, turn] { RunLoop(loop, turn); });
  };
  const int gpus = options_.facts.gpus_size();
  start(kConnect, [this] { return ConnectTurn(); });
  start(kLease, [this] { return LeaseTurn(Lane::kCompile); });
  if (gpus > 0) start(kLease, [this] { return LeaseTurn(Lane::kGpu); });
  start(kLog, [this] { return LogTurn(); });
  for (int i = 0; i < options_.senders; ++i) {
    start(kSend, [this] { return SendTurn(); });
  }
  for (int i = 0; i < options_.facts.compile_slots() + gpus; ++i) {
    start(kWork, [this] { return WorkTurn(); });
  }
  RunLoop(kDrain, [this] { return DrainTurn(); });
  for (std::thread& thread : threads) thread.join();
}

void Worker::RunLoop(Loop loop, const std::function<absl::Duration()>& turn) {
  for (;;) {
    uint64_t seen = 0;
    {
      MutexLock lock(mutex_);
      seen = signals_[loop].count;
    }
    const absl::Duration pause = turn();
    if (!WaitForChange(loop, seen, pause)) return;
  }
}

bool Worker::WaitForChange(Loop loop, uint64_t seen, absl::Duration pause) {
  MutexLock lock(mutex_);
  const absl::Duration deadline = clock_.Steady() + pause;
  while (!drained_ && signals_[loop].count == seen) {
    const absl::Duration left = deadline - clock_.Steady();
    if (left <= absl::ZeroDuration()) break;
    signals_[loop].wake.Wait(mutex_, clock_, left);
  }
  return !drained_;
}

void Worker::Notify(Loop loop) {
  ++signals_[loop].count;
  // An attempt needs one thread; all else is one thread or a few.
  if (loop == kWork || loop == kSend) {
    signals_[loop].wake.NotifyOne();
  } else {
    signals_[loop].wake.NotifyAll();
  }
}

// --- The connection.

absl::Duration Worker::ConnectTurn() {
  int64_t session = 0;
  {
    MutexLock lock(mutex_);
    session = session_;
  }
  return session == 0 ? Register() : Beat(session);
}

absl::Duration Worker::Register() {
  v1::RegisterRequest request;
  *request.mutable_facts() = options_.facts;
  request.set_protocol(kProtocol);
  {
    MutexLock lock(mutex_);
    for (v1::HeldAttempt& held : Held()) *request.add_held() = std::move(held);
  }
  const absl::StatusOr<v1::RegisterResponse> response =
      coordinator_.Register(request);
  if (!response.ok()) {
    return Unreachable(response.status(), connect_failures_);
  }
  connect_failures_ = 0;
  const std::set<int64_t> kept(response->keep_fences().begin(),
                               response->keep_fences().end());
  MutexLock lock(mutex_);
  LogInfo("registered",
          {{"session", response->session()}, {"held", request.held_size()}});
  reachable_ = true;
  session_ = response->session();
  if (response->heartbeat_s() > 0) {
    heartbeat_ = absl::Seconds(response->heartbeat_s());
  }
  // Only what was reported: a lease may have come in since.
  for (const v1::HeldAttempt& held : request.held()) {
    const auto it = held_.find(held.fence());
    if (it != held_.end() && !kept.contains(held.fence())) {
      it->second->Stop(StopReason::kLost);
    }
  }
  Notify(kLease);
  Notify(kSend);
  return heartbeat_;
}

absl::Duration Worker::Beat(int64_t session) {
  v1::HeartbeatRequest request;
  request.set_node_id(options_.facts.node_id());
  request.set_session(session);
  {
    MutexLock lock(mutex_);
    request.set_draining(drain_since_.has_value());
    for (v1::HeldAttempt& held : Held()) *request.add_held() = std::move(held);
  }
  const absl::StatusOr<v1::HeartbeatResponse> response =
      coordinator_.Heartbeat(request);
  if (!response.ok()) {
    LoseSession(session);
    return Unreachable(response.status(), connect_failures_);
  }
  connect_failures_ = 0;
  MutexLock lock(mutex_);
  for (const int64_t fence : response->cancel_fences()) {
    const auto it = held_.find(fence);
    if (it == held_.end()) continue;
    LogInfo("attempt cancelled", {{"fence", fence}});
    it->second->Stop(StopReason::kCancelled);
  }
  return heartbeat_;
}

// Says so once, then waits longer each time.
absl::Duration Worker::Unreachable(const absl::Status& status, int& failures) {
  MutexLock lock(mutex_);
  if (reachable_) {
    LogWarning("coordinator does not answer", {{"error", Text(status)}});
  }
  reachable_ = false;
  // Who has waited in the call need not wait as long again.
  const absl::Duration cap = absl::IsDeadlineExceeded(status)
                                 ? options_.backoff_base
                                 : options_.backoff_cap;
  const absl::Duration pause =
      Backoff(random_, std::min(failures++, 16), options_.backoff_base, cap);
  LogDebug("trying again", {{"after_ms", absl::ToInt64Milliseconds(pause)},
                            {"failures", failures},
                            {"error", Text(status)}});
  return pause;
}

void Worker::LoseSession(int64_t session) {
  MutexLock lock(mutex_);
  if (session_ != session) return;
  session_ = 0;
  Notify(kConnect);
}

std::vector<v1::HeldAttempt> Worker::Held() {
  std::vector<v1::HeldAttempt> out;
  for (const auto& [fence, attempt] : held_) {
    v1::HeldAttempt& held = out.emplace_back();
    held.set_task_id(attempt->task().task_id());
    held.set_fence(fence);
    held.set_step(std::string(StepName(attempt->step())));
  }
  return out;
}

// --- Leases.

absl::Duration Worker::LeaseTurn(Lane lane) {
  v1::LeaseRequest request;
  {
    MutexLock lock(mutex_);
    if (drain_since_ || session_ == 0 || outbox_.size() > kMaxOutbox ||
        !FillFree(lane, request)) {
      return absl::InfiniteDuration();
    }
    request.set_session(session_);
  }
  if (!DiskHasRoom()) return kDiskRecheck;
  request.set_node_id(options_.facts.node_id());
  request.set_wait_s(absl::ToDoubleSeconds(options_.lease_wait));
  const absl::Duration asked = clock_.Steady();
  int& failures = lease_failures_[static_cast<size_t>(lane)];
  const absl::StatusOr<v1::LeaseResponse> response =
      coordinator_.Lease(request);
  if (!response.ok()) {
    if (absl::IsCancelled(response.status())) return absl::InfiniteDuration();
    // Full servers keep their sessions.
    if (!absl::IsResourceExhausted(response.status())) {
      LoseSession(request.session());
    }
    return Unreachable(response.status(), failures);
  }
  failures = 0;
  for (const v1::LeasedTask& task : response->tasks()) Accept(task);
  const bool spinning =
      response->tasks().empty() && clock_.Steady() - asked < kEmptyPause;
  return spinning ? kEmptyPause : absl::ZeroDuration();
}

bool Worker::FillFree(Lane lane, v1::LeaseRequest& request) {
  int slots = options_.facts.compile_slots();
  std::set<int> gpus;
  for (const v1::Gpu& gpu : options_.facts.gpus()) gpus.insert(gpu.index());
  for (const auto& [fence, attempt] : held_) {
    // A finished attempt waits for the network, not for a slot.
    if (attempt->step() == Step::kUploading) continue;
    if (IsGpuWork(*attempt)) {
      gpus.erase(attempt->task().gpu());
    } else {
      --slots;
    }
  }
  if (lane == Lane::kCompile) {
    request.set_slots(std::max(0, slots));
    return slots > 0;
  }
  request.mutable_free_gpus()->Add(gpus.begin(), gpus.end());
  return !gpus.empty();
}

bool Worker::DiskHasRoom() {
  struct statvfs disk = {};
  const bool known = ::statvfs(options_.data_dir.c_str(), &disk) == 0;
  const auto free = static_cast<int64_t>(disk.f_bavail * disk.f_frsize);
  const bool room = !known || free >= options_.min_free_bytes;
  MutexLock lock(mutex_);
  if (disk_full_ == room) {
    if (room) LogInfo("disk has room again", {{"free_bytes", free}});
    if (!room) LogWarning("disk full: no new work", {{"free_bytes", free}});
  }
  disk_full_ = !room;
  return room;
}

void Worker::Accept(const v1::LeasedTask& task) {
  auto attempt = std::make_shared<Attempt>(task, attempts_dir_);
  {
    MutexLock lock(mutex_);
    // The same answer twice is one lease.
    if (!held_.emplace(task.fence(), attempt).second) return;
    // A newer attempt of a task that we hold: the older one is over.
    for (const auto& [fence, other] : held_) {
      if (other->task().task_id() == task.task_id() && fence < task.fence()) {
        other->Stop(StopReason::kLost);
      }
    }
  }
  LogInfo("leased", {{"task", task.task_id()},
                     {"fence", task.fence()},
                     {"job", task.job_id()},
                     {"kernel", task.request().entry()}});
  if (const absl::Status status = attempt->Create(); !status.ok()) {
    attempt->SetCompletion(InfraCompletion(
        task, v1::InfraFailure::runner_unavailable, Text(status)));
    Finish(attempt);
    return;
  }
  MutexLock lock(mutex_);
  if (drain_since_) attempt->Stop(StopReason::kDraining);
  ready_.push_back(std::move(attempt));
  Notify(kWork);
}

}  // namespace kernelfleet::agent
