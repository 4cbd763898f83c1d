// Jobs: submitting, planning, cancelling, their clocks and their end.
#include <fmt/format.h>

#include <algorithm>

#include "common/base/log.h"
#include "common/base/status.h"
#include "server/engine.h"
#include "server/probe_request.h"
#include "server/store/words.h"

namespace kernelfleet::server {
namespace {

// Kernels planned in one batch: a submission of 100,000 must not hold up the
// heartbeats and results of others.
constexpr int kPlanSlice = 512;
// Parsed specs kept in memory: those of so many jobs, unless they are big.
constexpr size_t kRecentSpecs = 4096;
constexpr int64_t kRecentKernels = 400'000;
// A workflow that never ends is our bug; the job says so.
constexpr size_t kMaxTasksPerKernel = 4096;
constexpr int kJobIdLength = 12;

}  // namespace

absl::Status Engine::Submit(std::shared_ptr<const v1::JobSpec> spec,
                            const std::string& key, const std::string& body,
                            Answer<v1::SubmitResponse>* answer) {
  v1::SubmitResponse response;
  if (!key.empty()) {
    KF_ASSIGN_OR_RETURN(const std::optional<Store::KnownJob> known,
                        store_.FindKey(spec->user(), key));
    if (known && known->body_sha256 != body) {
      *answer =
          Error(absl::StatusCode::kAlreadyExists,
                fmt::format("the idempotency key belongs to job {}, which was "
                            "submitted with another specification",
                            known->job_id));
      return absl::OkStatus();
    }
    if (known) {
      response.set_job_id(known->job_id);
      *answer = response;
      return absl::OkStatus();
    }
  }
  OpenJob job;
  job.id = ++last_.job;
  job.priority = spec->priority();
  job.created = clock_.Now();
  SetClocks(*spec, &job);
  v1::JobSummary& summary = job.summary;
  summary.set_job_id(random_.Id(kJobIdLength));
  summary.set_state(v1::JobState::active);
  summary.set_workflow(spec->workflow());
  summary.set_kernels(spec->kernels_size());
  *summary.mutable_labels() = spec->labels();
  summary.set_user(spec->user());
  SetTimestamp(Micros(job.created), summary.mutable_created());
  if (!spec->kernels().empty()) summary.set_title(spec->kernels(0).name());
  KF_RETURN_IF_ERROR(store_.InsertJob(job, *spec, key, body));
  if (job.total_timeout < absl::InfiniteDuration()) {
    StartTimer(clock_.Steady() + job.total_timeout, TimerKind::kTotalClock,
               job.id);
  }
  response.set_job_id(summary.job_id());
  response.set_created(true);
  *answer = response;
  OpenJob& open = jobs_.emplace(job.id, std::move(job)).first->second;
  KeepSpec(open, std::move(spec));
  const int kernels = open.summary.kernels();
  KF_RETURN_IF_ERROR(
      Event(open, "submitted", 0, "",
            fmt::format("{} kernel{}", kernels, kernels == 1 ? "" : "s")));
  unplanned_.insert(open.id);
  // Small jobs are whole when Submit answers.
  if (kernels <= kPlanSlice) return PlanKernels(open, kPlanSlice);
  return absl::OkStatus();
}

absl::Status Engine::PlanKernels(OpenJob& job, int limit) {
  const int end = std::min(job.planned + limit, job.summary.kernels());
  while (job.planned < end) {
    KF_RETURN_IF_ERROR(Advance(job, job.planned++));
  }
  dirty_jobs_.insert(job.id);
  if (job.planned < job.summary.kernels()) return absl::OkStatus();
  unplanned_.erase(job.id);
  return FinishIfDone(job);
}

absl::Status Engine::PlanSlices(bool* more) {
  if (unplanned_.empty()) return absl::OkStatus();
  // Big jobs take turns.
  auto next = unplanned_.upper_bound(last_planned_);
  if (next == unplanned_.end()) next = unplanned_.begin();
  last_planned_ = *next;
  KF_RETURN_IF_ERROR(PlanKernels(jobs_.at(*next), kPlanSlice));
  *more = !unplanned_.empty();
  return absl::OkStatus();
}

void Engine::KeepSpec(OpenJob& job, std::shared_ptr<const v1::JobSpec> spec) {
  job.spec = std::move(spec);
  recent_specs_.emplace_back(job.id, job.spec->kernels_size());
  recent_kernels_ += job.spec->kernels_size();
  while (recent_specs_.size() > 1 && (recent_specs_.size() > kRecentSpecs ||
                                      recent_kernels_ > kRecentKernels)) {
    const auto [oldest, kernels] = recent_specs_.front();
    recent_specs_.pop_front();
    recent_kernels_ -= kernels;
    const auto open = jobs_.find(oldest);
    if (open != jobs_.end() && oldest != job.id) open->second.spec = nullptr;
  }
}

absl::StatusOr<std::shared_ptr<const v1::JobSpec>> Engine::SpecOf(
    OpenJob& job) {
  if (!job.spec) {
    KF_ASSIGN_OR_RETURN(std::shared_ptr<const v1::JobSpec> spec,
                        store_.LoadSpec(job.id));
    KeepSpec(job, std::move(spec));
  }
  return job.spec;
}

absl::Status Engine::Advance(OpenJob& job, int kernel) {
  if (job.summary.state() != v1::JobState::active) return absl::OkStatus();
  KF_ASSIGN_OR_RETURN(const std::shared_ptr<const v1::JobSpec> spec,
                      SpecOf(job));
  std::vector<v1::TaskRecord> records;
  bool again = true;
  while (again) {
    again = false;
    // A new job's first kernel has none: spare small jobs the look.
    if (job.summary.tasks() > 0) {
      KF_ASSIGN_OR_RETURN(records, store_.LoadRecords(job.id, kernel));
    }
    if (records.size() >= kMaxTasksPerKernel) {
      LogError("workflow never ends",
               {{"job", job.summary.job_id()}, {"kernel", kernel}});
      return store_.SetJobReason(
          job.id, fmt::format("kernel {} has {} tasks and its workflow asks "
                              "for more: it was stopped there",
                              kernel, records.size()));
    }
    Plan plan = options_.next(*spec, kernel, records);
    for (v1::Decision& decision : plan.decisions) {
      decision.set_kernel(kernel);
      KF_ASSIGN_OR_RETURN(const bool news,
                          store_.PutDecision(job.id, decision, clock_.Now()));
      if (!news) continue;
      KF_RETURN_IF_ERROR(Event(job, "decided", 0, "",
                               decision.verdict() + ": " + decision.text()));
    }
    for (v1::TaskSpec& task : plan.tasks) {
      KF_RETURN_IF_ERROR(AddTask(job, *spec, kernel, std::move(task), &again));
    }
  }
  return absl::OkStatus();
}

absl::Status Engine::AddTask(OpenJob& job, const v1::JobSpec& spec, int kernel,
                             v1::TaskSpec task_spec, bool* ended) {
  task_spec.set_kernel(kernel);
  OpenTask task;
  task.id = ++last_.task;
  task.job = job.id;
  task.kernel = kernel;
  task.needs = scheduler_.ClassOf(NeedsOf(spec, task_spec));
  task.created = clock_.Now();
  if (task_spec.deterministic()) {
    task.content_key = ContentKey(spec.kernels(kernel), task_spec);
  }
  KF_RETURN_IF_ERROR(store_.InsertTask(task, task_spec));
  job.summary.set_tasks(job.summary.tasks() + 1);
  if (!task.content_key.empty() && !job.no_cache) {
    KF_ASSIGN_OR_RETURN(const std::vector<Store::CacheHit> hits,
                        store_.FindCache(task.content_key));
    const std::vector<std::string> hashes =
        hits.empty() ? std::vector<std::string>()
                     : scheduler_.EnvironmentHashes(task.needs);
    for (const Store::CacheHit& hit : hits) {
      if (std::ranges::find(hashes, hit.environment_hash) == hashes.end()) {
        continue;
      }
      *ended = true;
      KF_RETURN_IF_ERROR(store_.EndTask(task.id, v1::TaskState::done, "",
                                        hit.fence, clock_.Now()));
      return CountDone(job, task.id, hit.outcome, FromCache::kYes, "");
    }
  }
  Count(job, v1::TaskState::waiting, +1);
  AddOpenTask(std::move(task));
  return absl::OkStatus();
}

absl::Status Engine::FinishIfDone(OpenJob& job) {
  v1::JobSummary& s = job.summary;
  if (s.state() != v1::JobState::active || s.waiting() + s.active() > 0 ||
      job.planned < s.kernels()) {
    return absl::OkStatus();
  }
  return Finish(job, s.failed() > 0 ? v1::JobState::failed : v1::JobState::done,
                fmt::format("{} done, {} failed", s.done(), s.failed()));
}

absl::Status Engine::Finish(OpenJob& job, v1::JobState::Name state,
                            const std::string& text) {
  job.summary.set_state(state);
  SetTimestamp(Micros(clock_.Now()), job.summary.mutable_finished());
  return Event(job, "job_done", 0, "", text);
}

absl::Status Engine::StopJob(OpenJob& job, v1::TaskState::Name state,
                             const std::string& reason) {
  KF_RETURN_IF_ERROR(store_.EndTasks(job.id, state, reason, clock_.Now()));
  KF_RETURN_IF_ERROR(store_.SetJobReason(job.id, reason));
  const std::set<int64_t> tasks = job.tasks;
  for (const int64_t id : tasks) {
    OpenTask& task = tasks_.at(id);
    Count(job, task.state, -1);
    Count(job, state, +1);
    Close(task);
  }
  unplanned_.erase(job.id);
  job.planned = job.summary.kernels();
  const char* kind = v1::TaskState::Name_Name(state).c_str();
  KF_RETURN_IF_ERROR(Event(job, kind, 0, "",
                           fmt::format("{} open task{}: {}", tasks.size(),
                                       tasks.size() == 1 ? "" : "s", reason)));
  return Finish(job,
                state == v1::TaskState::cancelled ? v1::JobState::cancelled
                                                  : v1::JobState::failed,
                reason);
}

absl::Status Engine::CancelJob(int64_t id, const std::string& reason,
                               Answer<v1::CancelJobResponse>* answer) {
  v1::CancelJobResponse response;
  const auto job = jobs_.find(id);
  if (job == jobs_.end() ||
      job->second.summary.state() != v1::JobState::active) {
    *answer = response;
    return absl::OkStatus();
  }
  response.set_cancelled_tasks(static_cast<int32_t>(job->second.tasks.size()));
  *answer = response;
  return StopJob(job->second, v1::TaskState::cancelled,
                 reason.empty() ? "cancelled by the user" : reason);
}

absl::Status Engine::QueueClock(OpenTask& task) {
  const absl::Duration timeout = jobs_.at(task.job).queue_timeout;
  // Counts from when it last began to wait.
  const absl::Time since = std::max(task.created, task.run_at);
  absl::Duration left = since + timeout - clock_.Now();
  if (task.state != v1::TaskState::waiting) left = timeout;
  if (left > absl::ZeroDuration()) {
    StartTimer(clock_.Steady() + left, TimerKind::kQueueClock, task.id);
    return absl::OkStatus();
  }
  return End(
      task, v1::TaskState::failed,
      fmt::format("waited {} s in the queue: {}", absl::ToInt64Seconds(timeout),
                  scheduler_.WhyWaiting(task.needs)));
}

}  // namespace kernelfleet::server
