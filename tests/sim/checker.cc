#include "tests/sim/checker.h"

#include <fmt/format.h>

#include "common/base/status.h"

namespace kernelfleet::server {
namespace {

class Checker {
 public:
  Checker(Coordinator& coordinator, const Heard& heard)
      : coordinator_(coordinator), heard_(heard) {}

  std::vector<std::string> Run() {
    CheckAcknowledged();
    CheckSql();
    v1::ListJobsRequest request;
    request.set_page_size(500);
    const auto jobs = coordinator_.ListJobs(request);
    if (!jobs.ok()) return {Text(jobs.status())};
    for (const v1::JobSummary& job : jobs->jobs()) CheckJob(job.job_id());
    return std::move(found_);
  }

 private:
  void Violate(const std::string& text) { found_.push_back(text); }

  void CheckAcknowledged() {
    std::set<std::string> ids;
    for (const auto& [key, id] : heard_.submitted) {
      v1::GetJobRequest request;
      request.set_job_id(id);
      const auto job = coordinator_.GetJob(request);
      if (!job.ok() || job->summary().job_id() != id) {
        Violate(fmt::format("I1: acknowledged job {} is gone", id));
      }
      if (!ids.insert(id).second) {
        Violate(fmt::format("I5: job {} answers to two keys", id));
      }
    }
    // Submitted under keys alone: one job for each.
    v1::ListJobsRequest all;
    all.set_page_size(500);
    std::map<std::string, int> numbers;
    const auto jobs = coordinator_.ListJobs(all);
    if (!jobs.ok()) return;
    for (const v1::JobSummary& job : jobs->jobs()) {
      if (++numbers[job.labels().at("number")] > 1) {
        Violate(fmt::format("I5: submission {} made two jobs",
                            job.labels().at("number")));
      }
    }
    for (const auto& [fence, task] : heard_.accepted) {
      if (Count(fmt::format("SELECT count(*) FROM tasks WHERE task_id={} AND "
                            "result_fence={} AND state='done'",
                            task, fence)) != 1) {
        Violate(
            fmt::format("I2: result {} of task {} was acknowledged as "
                        "accepted and is not the task's",
                        fence, task));
      }
    }
  }

  int64_t Count(const std::string& sql) {
    v1::QueryRequest request;
    request.set_sql(sql);
    const auto answer = coordinator_.Query(request);
    if (!answer.ok()) {
      Violate("query failed: " + Text(answer.status()));
      return -1;
    }
    return answer->rows(0).values(0).integer();
  }
  void None(const char* what, const char* sql) {
    const int64_t count = Count(sql);
    if (count != 0) Violate(fmt::format("{} ({} times)", what, count));
  }

  void CheckSql() {
    None("I2: a task has two accepted results",
         "SELECT count(*) FROM (SELECT task_id FROM attempts WHERE "
         "state='accepted' GROUP BY task_id HAVING count(*) > 1)");
    None("I2: a done task has no result of its own or of the cache",
         "SELECT count(*) FROM tasks t WHERE state='done' AND NOT EXISTS "
         "(SELECT 1 FROM attempts a WHERE a.fence = t.result_fence AND "
         "a.state='accepted' AND (t.from_cache OR a.task_id = t.task_id))");
    None("I2: a result was accepted that a newer lease had overtaken",
         "SELECT count(*) FROM tasks t JOIN attempts a "
         "ON a.task_id = t.task_id WHERE t.state='done' AND NOT t.from_cache "
         "AND a.fence > t.result_fence");
    None("I2: an accepted result belongs to a task that is not done",
         "SELECT count(*) FROM attempts a JOIN tasks t "
         "ON a.task_id = t.task_id WHERE a.state='accepted' "
         "AND (t.state<>'done' OR t.result_fence<>a.fence)");
    None("I3: a fence is older than the one before",
         "SELECT count(*) FROM (SELECT leased < lag(leased) OVER "
         "(ORDER BY fence) AS back FROM attempts) WHERE back");
    None("I4: a GPU has two holders",
         "SELECT count(*) FROM (SELECT node FROM attempts WHERE "
         "state='leased' AND gpu_index>=0 GROUP BY node, gpu_index "
         "HAVING count(*) > 1)");
    None("I8: a task is open in a job that ended",
         "SELECT count(*) FROM tasks t JOIN jobs j ON j.job_id = t.job_id "
         "WHERE j.state<>'active' AND "
         "t.state IN ('waiting', 'leased', 'running')");
    None("I9: a job's counts are not those of its tasks",
         "SELECT count(*) FROM jobs j WHERE j.tasks <> (SELECT count(*) FROM "
         "tasks t WHERE t.job_id = j.job_id) OR j.done <> (SELECT count(*) "
         "FROM tasks t WHERE t.job_id = j.job_id AND t.state='done') "
         "OR j.failed <> (SELECT count(*) FROM tasks t WHERE "
         "t.job_id = j.job_id AND t.state IN ('failed', 'dead')) "
         "OR j.cancelled <> (SELECT count(*) FROM tasks t WHERE "
         "t.job_id = j.job_id AND t.state='cancelled')");
  }

  void CheckJob(const std::string& id) {
    v1::GetJobRequest request;
    request.set_job_id(id);
    const auto job = coordinator_.GetJob(request);
    if (!job.ok()) return Violate(Text(job.status()));
    if (job->summary().state() == v1::JobState::active) {
      std::string why;
      for (const v1::TaskRecord& task : job->tasks()) {
        if (task.state() >= v1::TaskState::done) continue;
        why +=
            fmt::format(" [{} {}: {}]", task.task_id(),
                        v1::TaskState::Name_Name(task.state()), task.reason());
      }
      Violate(fmt::format("I8: job {} never ended{}", id, why));
    }
    for (const v1::TaskRecord& task : job->tasks()) {
      for (const v1::Artifact& each : task.result().probe().artifacts()) {
        if (!heard_.blobs.contains(each.digest())) {
          Violate("I6: a result names a blob that is not there");
        }
      }
    }
    CheckEvents(*job);
  }

  // Folds the events into states and compares.
  void CheckEvents(const v1::JobDetail& job) {
    v1::WatchJobRequest request;
    request.set_job_id(job.summary().job_id());
    const auto watch = coordinator_.WatchJob(request);
    if (!watch.ok()) return Violate(Text(watch.status()));
    int64_t expected = 0;
    std::map<int64_t, std::string> states;
    for (const v1::TaskRecord& task : job.tasks()) {
      states[task.task_id()] = "waiting";
    }
    std::string last;
    bool more = true;
    while (more) {
      more = false;
      (*watch)->Next([&](absl::StatusOr<WatchBatch> batch) {
        if (!batch.ok()) return;
        for (const v1::JobEvent& event : batch->events) {
          if (event.sequence() != ++expected) {
            Violate(fmt::format("I9: job {} has event {} where {} is due",
                                event.job_id(), event.sequence(), expected));
          }
          last = event.kind();
          Fold(event, &states);
        }
        more = !batch->last;
      });
    }
    if (last != "job_done") {
      Violate(fmt::format("I9: job {} ends with event \"{}\"",
                          job.summary().job_id(), last));
    }
    for (const v1::TaskRecord& task : job.tasks()) {
      const std::string state = v1::TaskState::Name_Name(task.state());
      if (states[task.task_id()] == state) continue;
      Violate(fmt::format("I9: task {} is {} and its events say {}",
                          task.task_id(), state, states[task.task_id()]));
    }
  }

  void Fold(const v1::JobEvent& event, std::map<int64_t, std::string>* states) {
    static const std::map<std::string, std::set<std::string>> kBefore = {
        {"leased", {"waiting"}},
        {"running", {"leased"}},
        {"waiting", {"leased", "running"}},
        // A result may still be taken between two leases; a cache answers
        // what waits.
        {"done", {"waiting", "leased", "running"}},
        {"failed", {"waiting", "leased", "running"}},
        {"dead", {"leased", "running"}},
        {"cancelled", {"waiting", "leased", "running"}},
    };
    const auto before = kBefore.find(event.kind());
    if (before == kBefore.end()) return;
    for (auto& [task, state] : *states) {
      if (event.task_id() == 0 && before->second.contains(state)) {
        state = event.kind();
      }
    }
    if (event.task_id() == 0) return;
    std::string& state = (*states)[event.task_id()];
    if (!before->second.contains(state)) {
      Violate(fmt::format("I3: task {} went from {} to {}", event.task_id(),
                          state, event.kind()));
    }
    state = event.kind();
  }

  Coordinator& coordinator_;
  const Heard& heard_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> CheckInvariants(Coordinator& coordinator,
                                         const Heard& heard) {
  return Checker(coordinator, heard).Run();
}

}  // namespace kernelfleet::server
