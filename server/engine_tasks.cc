// The transitions of one task, and what an attempt's end does to it.
#include <fmt/format.h>

#include <algorithm>

#include "common/base/log.h"
#include "common/base/status.h"
#include "server/engine.h"
#include "server/store/words.h"

namespace kernelfleet::server {
namespace {

// Attempts in all, whatever the reason for each end: a fleet that restarts in
// circles must not keep a task for ever.
constexpr int kMaxAttempts = 50;

bool IsFinding(v1::Outcome::Code outcome) {
  switch (outcome) {
    case v1::Outcome::compile_error:
    case v1::Outcome::out_of_resources:
    case v1::Outcome::crashed:
    case v1::Outcome::timed_out:
    case v1::Outcome::invalid_result:
    case v1::Outcome::limit_exceeded:
      return true;
    default:
      return false;
  }
}

// Outcomes that follow from content and environment alone.
bool IsCacheable(v1::Outcome::Code outcome) {
  switch (outcome) {
    case v1::Outcome::compiled:
    case v1::Outcome::compile_error:
    case v1::Outcome::out_of_resources:
    case v1::Outcome::unsupported_target:
      return true;
    default:
      return false;
  }
}

}  // namespace

void Engine::Count(OpenJob& job, v1::TaskState::Name state, int by) {
  v1::JobSummary& s = job.summary;
  switch (state) {
    case v1::TaskState::waiting:
      s.set_waiting(s.waiting() + by);
      break;
    case v1::TaskState::leased:
    case v1::TaskState::running:
      s.set_active(s.active() + by);
      break;
    case v1::TaskState::done:
      s.set_done(s.done() + by);
      break;
    case v1::TaskState::failed:
    case v1::TaskState::dead:
      s.set_failed(s.failed() + by);
      break;
    case v1::TaskState::cancelled:
      s.set_cancelled(s.cancelled() + by);
      break;
    default:
      break;
  }
  dirty_jobs_.insert(job.id);
}

void Engine::DropAttempt(int64_t fence) {
  const auto attempt = attempts_.find(fence);
  if (attempt == attempts_.end()) return;
  Node& node = nodes_[attempt->second.node];
  node.fences.erase(fence);
  steps_.erase(fence);
  ShowNode(node);
  attempts_.erase(attempt);
}

void Engine::Close(OpenTask& task) {
  Unqueue(task);
  const auto attempt = attempts_.find(task.fence);
  if (attempt != attempts_.end()) attempt->second.orphan = true;
  steps_.erase(task.fence);
  jobs_.at(task.job).tasks.erase(task.id);
  tasks_.erase(task.id);
}

absl::Status Engine::CountDone(OpenJob& job, int64_t task,
                               v1::Outcome::Code outcome, FromCache from_cache,
                               const std::string& node) {
  const bool cached = from_cache == FromCache::kYes;
  v1::JobSummary& summary = job.summary;
  Count(job, v1::TaskState::done, +1);
  if (IsFinding(outcome)) summary.set_findings(summary.findings() + 1);
  if (cached) summary.set_from_cache(summary.from_cache() + 1);
  return Event(
      job, "done", task, node,
      v1::Outcome::Code_Name(outcome) + (cached ? " (from cache)" : ""));
}

absl::Status Engine::SetDone(OpenTask& task, v1::Outcome::Code outcome,
                             FromCache from_cache, const std::string& node) {
  OpenJob& job = jobs_.at(task.job);
  const int64_t id = task.id;
  const int kernel = task.kernel;
  Count(job, task.state, -1);
  Close(task);
  KF_RETURN_IF_ERROR(CountDone(job, id, outcome, from_cache, node));
  KF_RETURN_IF_ERROR(Advance(job, kernel));
  return FinishIfDone(job);
}

absl::Status Engine::End(OpenTask& task, v1::TaskState::Name state,
                         const std::string& reason) {
  OpenJob& job = jobs_.at(task.job);
  const int64_t id = task.id;
  const int kernel = task.kernel;
  KF_RETURN_IF_ERROR(store_.EndTask(id, state, reason, 0, clock_.Now()));
  Count(job, task.state, -1);
  Count(job, state, +1);
  Close(task);
  KF_RETURN_IF_ERROR(
      Event(job, v1::TaskState::Name_Name(state).c_str(), id, "", reason));
  KF_RETURN_IF_ERROR(Advance(job, kernel));
  return FinishIfDone(job);
}

absl::Status Engine::EndFromCache(OpenTask& task, const Store::CacheHit& hit) {
  KF_RETURN_IF_ERROR(store_.EndTask(task.id, v1::TaskState::done, "", hit.fence,
                                    clock_.Now()));
  return SetDone(task, hit.outcome, FromCache::kYes, "");
}

absl::Status Engine::Requeue(OpenTask& task, const std::string& node, Loss loss,
                             const std::string& why) {
  // After a loss the fence stays: until somebody else takes the task, the
  // result may still come and saves the work. A node that gave up won't send.
  if (loss == Loss::kStopped || loss == Loss::kReported) task.fence = 0;
  if (loss != Loss::kStopped) {
    ++task.infra_failures;
    task.avoid.push_back(node);
    task.patience = clock_.Steady() + options_.other_node_patience;
  }
  if (loss == Loss::kNode &&
      std::ranges::find(task.lost_nodes, node) == task.lost_nodes.end()) {
    task.lost_nodes.push_back(node);
  }
  if (static_cast<int>(task.lost_nodes.size()) >= options_.max_lost_nodes) {
    return End(task, v1::TaskState::dead,
               fmt::format("{} different nodes were lost while they ran it; "
                           "the last: {}",
                           task.lost_nodes.size(), why));
  }
  if (task.infra_failures > options_.max_infra_failures ||
      task.attempts >= kMaxAttempts) {
    return End(task, v1::TaskState::failed,
               fmt::format("gave up after {} attempts; the last: {}",
                           task.attempts, why));
  }
  const absl::Duration wait =
      loss == Loss::kStopped
          ? absl::ZeroDuration()
          : Backoff(random_, task.infra_failures - 1, options_.backoff_base,
                    options_.backoff_cap);
  task.run_at = clock_.Now() + wait;
  OpenJob& job = jobs_.at(task.job);
  Count(job, task.state, -1);
  Count(job, v1::TaskState::waiting, +1);
  task.state = v1::TaskState::waiting;
  const std::string reason = fmt::format("attempt {}: {}", task.attempts, why);
  KF_RETURN_IF_ERROR(store_.SetWaiting(task, reason));
  KF_RETURN_IF_ERROR(Event(job, "waiting", task.id, node, reason));
  if (wait > absl::ZeroDuration()) {
    StartTimer(clock_.Steady() + wait, TimerKind::kRetry, task.id);
  } else {
    Queue(task);
  }
  return absl::OkStatus();
}

absl::Status Engine::Lose(int64_t fence, Loss loss, const std::string& why) {
  const OpenAttempt attempt = attempts_.at(fence);
  DropAttempt(fence);
  KF_RETURN_IF_ERROR(store_.EndAttempt(
      fence, attempt.orphan ? "cancelled" : "lost", why, clock_.Now()));
  const auto task = tasks_.find(attempt.task);
  if (attempt.orphan || task == tasks_.end() || task->second.fence != fence) {
    return absl::OkStatus();
  }
  // A lease that the node never confirmed may have been lost on its way: that
  // is no sign that the task kills nodes.
  if (loss == Loss::kNode && !attempt.acknowledged) loss = Loss::kAttempt;
  return Requeue(task->second, attempt.node, loss, why);
}

std::string Engine::WhyStale(int64_t task, int64_t fence) {
  const auto open = tasks_.find(task);
  if (open == tasks_.end()) return "the task has ended";
  if (open->second.fence == 0 || open->second.fence == fence) {
    return "the attempt was given up";
  }
  const auto owner = attempts_.find(open->second.fence);
  return fmt::format(
      "attempt {}{} owns the task", open->second.fence,
      owner == attempts_.end() ? "" : " on node " + owner->second.node);
}

absl::Status Engine::CompleteInfra(const v1::CompleteRequest& request,
                                   Answer<v1::CompleteResponse>* answer) {
  v1::CompleteResponse response;
  const auto attempt = attempts_.find(request.fence());
  response.set_accepted(attempt != attempts_.end());
  if (attempt == attempts_.end()) {
    response.set_reason(WhyStale(request.task_id(), request.fence()));
    *answer = response;
    return absl::OkStatus();
  }
  *answer = response;
  const bool stopped = request.infra() == v1::InfraFailure::agent_stopped ||
                       request.infra() == v1::InfraFailure::cancelled;
  const std::string why = fmt::format(
      "{} on node {}{}{}", v1::InfraFailure::Name_Name(request.infra()),
      attempt->second.node, request.infra_message().empty() ? "" : ": ",
      request.infra_message().substr(0, 500));
  const OpenAttempt ended = attempt->second;
  DropAttempt(request.fence());
  KF_RETURN_IF_ERROR(store_.EndAttempt(request.fence(),
                                       ended.orphan ? "cancelled" : "infra",
                                       why, clock_.Now()));
  const auto task = tasks_.find(ended.task);
  if (ended.orphan || task == tasks_.end() ||
      task->second.fence != request.fence()) {
    return absl::OkStatus();
  }
  return Requeue(task->second, ended.node,
                 stopped ? Loss::kStopped : Loss::kReported, why);
}

absl::Status Engine::Complete(const v1::CompleteRequest& request,
                              const std::string& sha256,
                              Answer<v1::CompleteResponse>* answer) {
  const int64_t fence = request.fence();
  KF_ASSIGN_OR_RETURN(const std::optional<AttemptRow> row,
                      store_.FindAttempt(fence));
  if (!row || row->task != request.task_id()) {
    *answer = NotFound(
        fmt::format("task {} has no attempt {}", request.task_id(), fence));
    return absl::OkStatus();
  }
  if (row->node != request.node_id()) {
    *answer = Error(absl::StatusCode::kPermissionDenied,
                    fmt::format("attempt {} belongs to node {}, not to {}",
                                fence, row->node, request.node_id()));
    return absl::OkStatus();
  }
  const auto node = nodes_.find(request.node_id());
  if (node != nodes_.end() && node->second.session == request.session()) {
    Heard(node->second);
  }
  v1::CompleteResponse response;
  if (row->state == "infra" || row->state == "cancelled") {
    response.set_accepted(request.infra() > v1::InfraFailure::none);
    response.set_reason(row->reason);
    *answer = response;
    return absl::OkStatus();
  }
  if (!row->result_sha256.empty()) {
    // The same again gets the same answer.
    const bool same = row->result_sha256 == sha256;
    response.set_accepted(same && row->state == "accepted");
    response.set_reason(same ? row->reason
                             : "this attempt has already sent another result");
    *answer = response;
    return absl::OkStatus();
  }
  if (request.infra() > v1::InfraFailure::none) {
    return CompleteInfra(request, answer);
  }
  KF_ASSIGN_OR_RETURN(
      const bool accepted,
      store_.AcceptResult(request.task_id(), fence, clock_.Now()));
  response.set_accepted(accepted);
  if (!accepted) response.set_reason(WhyStale(request.task_id(), fence));
  KF_RETURN_IF_ERROR(store_.SaveResult(
      fence, accepted ? "accepted" : "rejected", response.reason(), sha256,
      request.result(), clock_.Now()));
  std::string environment_hash = request.result().environment_hash();
  if (environment_hash.empty()) environment_hash = row->environment_hash;
  *answer = response;
  DropAttempt(fence);
  if (!accepted) return absl::OkStatus();
  const auto task = tasks_.find(request.task_id());
  if (task == tasks_.end()) {
    return Internal(fmt::format("task {} is open on disk and not in memory",
                                request.task_id()));
  }
  const v1::Outcome::Code outcome = request.result().probe().outcome();
  if (!task->second.content_key.empty() && !environment_hash.empty() &&
      IsCacheable(outcome)) {
    stored_keys_[KeyBit(task->second.content_key)] = true;
    KF_RETURN_IF_ERROR(
        store_.PutCache(task->second.content_key, environment_hash, fence));
  }
  return SetDone(task->second, outcome, FromCache::kNo, request.node_id());
}

}  // namespace kernelfleet::server
