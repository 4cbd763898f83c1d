#include "server/engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/check.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "server/store/words.h"

namespace kernelfleet::server {
namespace {

// Steps are news, not truth: they wait this long for a batch to ride on.
constexpr absl::Duration kStepDelay = absl::Milliseconds(200);

// One bit per stored result in this process's life: 128 KiB.
constexpr size_t kKeyBits = size_t{1} << 20;

}  // namespace

size_t Engine::KeyBit(const std::string& content_key) {
  return std::hash<std::string>()(content_key) % kKeyBits;
}

Engine::Engine(const CoordinatorOptions& options, Store& store, Clock& clock,
               Random& random, Board& board)
    : options_(options),
      store_(store),
      clock_(clock),
      random_(random),
      board_(board),
      started_(clock.Steady()) {}

void Engine::StartTimer(absl::Duration due, TimerKind kind, int64_t id,
                        const std::string& node) {
  timers_.push({due, kind, id, node});
}

void Engine::Queue(OpenTask& task) {
  if (task.queued) return;
  const OpenJob& job = jobs_.at(task.job);
  scheduler_.Push(task.needs, job.priority, task.job, task.id);
  task.queued = true;
}

void Engine::Unqueue(OpenTask& task) {
  if (!task.queued) return;
  const OpenJob& job = jobs_.at(task.job);
  scheduler_.Erase(task.needs, job.priority, task.job, task.id);
  task.queued = false;
}

// Puts a waiting task into the queue, or behind its timer; starts its clock.
void Engine::AddOpenTask(OpenTask new_task) {
  const int64_t id = new_task.id;
  OpenJob& job = jobs_.at(new_task.job);
  job.tasks.insert(id);
  OpenTask& task =
      tasks_.insert_or_assign(id, std::move(new_task)).first->second;
  const absl::Time now = clock_.Now();
  const absl::Duration steady = clock_.Steady();
  if (job.queue_timeout < absl::InfiniteDuration()) {
    StartTimer(steady + (task.created + job.queue_timeout - now),
               TimerKind::kQueueClock, id);
  }
  if (task.state != v1::TaskState::waiting) return;
  if (task.run_at > now) {
    StartTimer(steady + (task.run_at - now), TimerKind::kRetry, id);
  } else {
    Queue(task);
  }
}

absl::Status Engine::Rebuild() {
  jobs_.clear();
  tasks_.clear();
  attempts_.clear();
  timers_ = {};
  unplanned_.clear();
  dirty_jobs_.clear();
  steps_.clear();
  steps_due_ = absl::InfiniteDuration();
  recent_specs_.clear();
  recent_kernels_ = 0;
  stored_keys_.assign(kKeyBits, false);
  happened_.clear();
  scheduler_ = Scheduler();
  known_classes_ = 0;
  nodes_changed_ = true;
  KF_ASSIGN_OR_RETURN(last_, store_.LoadLastIds());
  std::map<std::string, Node> heard;
  heard.swap(nodes_);
  KF_ASSIGN_OR_RETURN(std::vector<Node> nodes, store_.LoadNodes());
  for (Node& each : nodes) {
    Node& node = nodes_[each.id] = std::move(each);
    const auto before = heard.find(node.id);
    if (before != heard.end() && before->second.session == node.session) {
      node.present = before->second.present;
      node.leaving = before->second.leaving;
      node.last_seen = before->second.last_seen;
      node.last_seen_wall = before->second.last_seen_wall;
    }
    scheduler_.SetNode(node.id, node.facts);
    if (node.present) {
      StartTimer(node.last_seen + options_.lease, TimerKind::kNode, 0, node.id);
    }
    UpdatePresence(node);
  }
  KF_ASSIGN_OR_RETURN(std::vector<OpenJob> jobs, store_.LoadOpenJobs());
  const absl::Duration steady = clock_.Steady();
  for (OpenJob& job : jobs) {
    if (job.planned < job.summary.kernels()) unplanned_.insert(job.id);
    if (job.total_timeout < absl::InfiniteDuration()) {
      StartTimer(steady + (job.created + job.total_timeout - clock_.Now()),
                 TimerKind::kTotalClock, job.id);
    }
    const int64_t id = job.id;
    jobs_.emplace(id, std::move(job));
  }
  KF_ASSIGN_OR_RETURN(std::vector<Store::LoadedTask> tasks,
                      store_.LoadOpenTasks());
  // Node and environment pins stand in the job's head.
  const absl::Duration until =
      steady + std::max(options_.lease, options_.grace);
  std::unordered_map<int64_t, v1::JobSpec> heads;
  for (Store::LoadedTask& each : tasks) {
    OpenTask& task = each.task;
    auto [head, added] = heads.try_emplace(task.job);
    if (added) {
      KF_ASSIGN_OR_RETURN(head->second, store_.LoadHead(task.job));
    }
    task.needs = scheduler_.ClassOf(NeedsOf(head->second, each.spec));
    task.avoid = task.lost_nodes;
    // Its result may have been stored just before the restart.
    stored_keys_[KeyBit(task.content_key)] = true;
    AddOpenTask(std::move(task));
  }
  return LoadAttempts(until);
}

absl::Status Engine::LoadAttempts(absl::Duration lease_until) {
  KF_ASSIGN_OR_RETURN(std::vector<OpenAttempt> attempts,
                      store_.LoadOpenAttempts());
  for (OpenAttempt& attempt : attempts) {
    const int64_t fence = attempt.fence;
    const auto task = tasks_.find(attempt.task);
    attempt.orphan = task == tasks_.end() || task->second.fence != fence;
    attempt.acknowledged = true;
    attempt.lease_until = lease_until;
    nodes_[attempt.node].fences.insert(fence);
    StartTimer(lease_until, TimerKind::kAttempt, fence);
    attempts_.emplace(fence, std::move(attempt));
  }
  return absl::OkStatus();
}

absl::Status Engine::Event(OpenJob& job, const char* kind, int64_t task,
                           const std::string& node, const std::string& text) {
  const int64_t sequence = ++job.last_sequence;
  const int64_t now_us = Micros(clock_.Now());
  dirty_jobs_.insert(job.id);
  Happened& happened = happened_.emplace_back();
  happened.job = job.id;
  happened.sequence = sequence;
  if (board_.IsWatched(job.id)) {
    v1::JobEvent& event = happened.event.emplace();
    event.set_job_id(job.summary.job_id());
    event.set_sequence(sequence);
    SetTimestamp(now_us, event.mutable_time());
    event.set_kind(kind);
    event.set_task_id(task);
    event.set_node_id(node);
    event.set_text(text);
    *event.mutable_summary() = job.summary;
  }
  return store_.InsertEvent(job.id, sequence, now_us, kind, task, node, text);
}

absl::Status Engine::RunTimers() {
  const absl::Duration now = clock_.Steady();
  while (!timers_.empty() && timers_.top().due <= now) {
    const Timer timer = timers_.top();
    timers_.pop();
    KF_RETURN_IF_ERROR(RunTimer(timer));
  }
  return absl::OkStatus();
}

// A timer is a hint: what it was for may have changed or gone.
absl::Status Engine::RunTimer(const Timer& timer) {
  const absl::Duration now = clock_.Steady();
  switch (timer.kind) {
    case TimerKind::kRetry: {
      const auto task = tasks_.find(timer.id);
      if (task == tasks_.end()) return absl::OkStatus();
      if (task->second.state == v1::TaskState::waiting &&
          task->second.run_at <= clock_.Now()) {
        Queue(task->second);
      }
      return absl::OkStatus();
    }
    case TimerKind::kQueueClock: {
      const auto task = tasks_.find(timer.id);
      if (task == tasks_.end()) return absl::OkStatus();
      return QueueClock(task->second);
    }
    case TimerKind::kTotalClock: {
      const auto job = jobs_.find(timer.id);
      if (job == jobs_.end() ||
          job->second.summary.state() != v1::JobState::active) {
        return absl::OkStatus();
      }
      return StopJob(
          job->second, v1::TaskState::failed,
          fmt::format("the job passed its total time of {} s",
                      absl::ToInt64Seconds(job->second.total_timeout)));
    }
    case TimerKind::kAttempt: {
      const auto attempt = attempts_.find(timer.id);
      if (attempt == attempts_.end()) return absl::OkStatus();
      const absl::Duration until =
          std::min(attempt->second.lease_until, attempt->second.run_until);
      if (until > now) {
        StartTimer(until, TimerKind::kAttempt, timer.id);
        return absl::OkStatus();
      }
      const Node& node = nodes_[attempt->second.node];
      const bool silent = now - node.last_seen >= options_.lease;
      if (attempt->second.run_until <= now) {
        return Lose(timer.id, Loss::kAttempt,
                    fmt::format("node {} overran the run time", node.id));
      }
      return Lose(
          timer.id, silent ? Loss::kNode : Loss::kAttempt,
          silent ? fmt::format("node {} was lost: silent for {} s", node.id,
                               absl::ToInt64Seconds(options_.lease))
                 : fmt::format("node {} no longer holds it", node.id));
    }
    case TimerKind::kNode: {
      const auto node = nodes_.find(timer.node);
      if (node == nodes_.end() || !node->second.present) {
        return absl::OkStatus();
      }
      const absl::Duration due = node->second.last_seen + options_.lease;
      if (due > now) {
        StartTimer(due, TimerKind::kNode, 0, timer.node);
        return absl::OkStatus();
      }
      node->second.present = false;
      UpdatePresence(node->second);
      LogWarning("node went silent", {{"node", timer.node}});
      return absl::OkStatus();
    }
  }
  return absl::OkStatus();
}

absl::Status Engine::SaveSteps() {
  if (steps_.empty()) {
    steps_due_ = absl::InfiniteDuration();
    return absl::OkStatus();
  }
  if (!store_.in_transaction() && clock_.Steady() < steps_due_) {
    return absl::OkStatus();
  }
  for (const auto& [fence, step] : steps_) {
    const auto task = tasks_.find(step.first);
    if (task == tasks_.end() || task->second.fence != fence) continue;
    KF_RETURN_IF_ERROR(store_.SetRunning(step.first, fence, step.second));
    if (task->second.state == v1::TaskState::running) continue;
    OpenJob& job = jobs_.at(task->second.job);
    Count(job, task->second.state, -1);
    task->second.state = v1::TaskState::running;
    Count(job, task->second.state, +1);
    KF_RETURN_IF_ERROR(Event(job, "running", step.first,
                             attempts_.at(fence).node, step.second));
  }
  steps_.clear();
  steps_due_ = absl::InfiniteDuration();
  return absl::OkStatus();
}

absl::Status Engine::Work(bool* more) {
  *more = false;
  KF_RETURN_IF_ERROR(RunTimers());
  KF_RETURN_IF_ERROR(PlanSlices(more));
  KF_RETURN_IF_ERROR(PlaceWork());
  if (!steps_.empty() && steps_due_ == absl::InfiniteDuration()) {
    steps_due_ = clock_.Steady() + kStepDelay;
  }
  KF_RETURN_IF_ERROR(SaveSteps());
  for (const int64_t id : dirty_jobs_) {
    const auto job = jobs_.find(id);
    if (job == jobs_.end()) continue;
    KF_RETURN_IF_ERROR(store_.SaveJob(job->second));
    if (job->second.summary.state() != v1::JobState::active) jobs_.erase(job);
  }
  dirty_jobs_.clear();
  return absl::OkStatus();
}

void Engine::Publish() {
  int present = 0;
  for (const auto& [id, node] : nodes_) present += node.present;
  board_.SetTotals(static_cast<int64_t>(tasks_.size()), present);
  const bool grace = clock_.Steady() < started_ + options_.grace;
  if (!nodes_changed_ && known_classes_ == scheduler_.classes() &&
      grace == in_grace_) {
    return;
  }
  nodes_changed_ = false;
  known_classes_ = scheduler_.classes();
  in_grace_ = grace;
  std::map<Needs, std::string> reasons;
  for (int c = 0; c < scheduler_.classes(); ++c) {
    reasons[scheduler_.needs(c)] =
        grace && !scheduler_.FitsElsewhere(c, {})
            ? "the coordinator has just started: nodes are reconnecting"
            : scheduler_.WhyWaiting(c);
  }
  board_.SetReasons(std::move(reasons));
}

std::vector<Happened> Engine::Committed() {
  Publish();
  std::list<ParkedLease> answered;
  answered.swap(answered_);
  for (ParkedLease& each : answered) {
    if (each.status.ok()) {
      each.done(std::move(each.response));
    } else {
      each.done(each.status);
    }
  }
  return std::exchange(happened_, {});
}

void Engine::FailBatch(const absl::Status& why) {
  std::list<ParkedLease> answered;
  answered.swap(answered_);
  for (ParkedLease& each : answered) each.done(why);
  happened_.clear();
}

void Engine::Shutdown() {
  answered_.splice(answered_.end(), parked_);
  FailBatch(Unavailable("the coordinator is shutting down"));
}

absl::Duration Engine::NextDue() const {
  absl::Duration due = steps_due_;
  if (!timers_.empty()) due = std::min(due, timers_.top().due);
  for (const ParkedLease& each : parked_) due = std::min(due, each.until);
  return due - clock_.Steady();
}

}  // namespace kernelfleet::server
