// Statements about tasks, and what is loaded at start.
#include <fmt/format.h>

#include "common/base/status.h"
#include "common/base/strings.h"
#include "server/scheduler.h"
#include "server/store/store.h"
#include "server/store/words.h"

namespace kernelfleet::server {

absl::Status Store::InsertTask(const OpenTask& task, const v1::TaskSpec& spec) {
  KF_RETURN_IF_ERROR(Begin());
  return db_->Run(
      "INSERT INTO task_row(id, job, kernel, phase, target, variant, "
      "needs_gpu, state, created_us, content_key, toggles, spec) "
      "VALUES(?,?,?,?,?,?,?,'waiting',?,?,?,?)",
      task.id, task.job, task.kernel, v1::Phase::Name_Name(spec.phase()),
      TargetText(spec.target()), spec.variant(), spec.needs_gpu(),
      Micros(task.created), task.content_key, JsonOf(spec.environment()),
      Blob{spec.SerializeAsString()});
}

absl::StatusOr<v1::TaskSpec> Store::LoadTaskSpec(int64_t task) {
  v1::TaskSpec spec;
  KF_ASSIGN_OR_RETURN(
      Rows rows, db_->Select("SELECT spec FROM task_row WHERE id=?", task));
  if (rows.Next()) spec.ParseFromString(rows.Text(0));
  KF_RETURN_IF_ERROR(rows.status());
  return spec;
}

absl::Status Store::SetLeased(const OpenTask& task, const std::string& node,
                              absl::Time now) {
  KF_RETURN_IF_ERROR(Begin());
  return db_->Run(
      "UPDATE task_row SET state='leased', reason='', step='', node=?, "
      "fence=?, attempts=?, started_us=? WHERE id=?",
      node, task.fence, task.attempts, Micros(now), task.id);
}

absl::Status Store::SetRunning(int64_t task, int64_t fence,
                               const std::string& step) {
  KF_RETURN_IF_ERROR(Begin());
  return db_->Run(
      "UPDATE task_row SET state='running', step=?, reason='' "
      "WHERE id=? AND fence=? AND state IN ('waiting', 'leased', 'running')",
      step, task, fence);
}

absl::Status Store::SetWaiting(const OpenTask& task,
                               const std::string& reason) {
  KF_RETURN_IF_ERROR(Begin());
  return db_->Run(
      "UPDATE task_row SET state='waiting', reason=?, step='', fence=?, "
      "infra_failures=?, lost_nodes=?, run_at_us=? WHERE id=?",
      reason, task.fence, task.infra_failures, Join(task.lost_nodes, "\n"),
      Micros(task.run_at), task.id);
}

absl::StatusOr<bool> Store::AcceptResult(int64_t task, int64_t fence,
                                         absl::Time now) {
  KF_RETURN_IF_ERROR(Begin());
  KF_RETURN_IF_ERROR(db_->Run(
      "UPDATE task_row SET state='done', reason='', step='', finished_us=?, "
      "result_fence=?3 WHERE id=?2 AND fence=?3 "
      "AND state IN ('waiting', 'leased', 'running')",
      Micros(now), task, fence));
  return db_->changes() == 1;
}

absl::Status Store::EndTask(int64_t task, v1::TaskState::Name state,
                            const std::string& reason, int64_t result_fence,
                            absl::Time now) {
  KF_RETURN_IF_ERROR(Begin());
  return db_->Run(
      "UPDATE task_row SET state=?, reason=?, step='', finished_us=?, "
      "result_fence=?, from_cache=? WHERE id=? "
      "AND state IN ('waiting', 'leased', 'running')",
      v1::TaskState::Name_Name(state), reason, Micros(now),
      result_fence > 0 ? std::optional<int64_t>(result_fence) : std::nullopt,
      result_fence > 0, task);
}

absl::Status Store::EndTasks(int64_t job, v1::TaskState::Name state,
                             const std::string& reason, absl::Time now) {
  KF_RETURN_IF_ERROR(Begin());
  return db_->Run(
      "UPDATE task_row SET state=?, reason=?, step='', finished_us=? "
      "WHERE job=? AND state IN ('waiting', 'leased', 'running')",
      v1::TaskState::Name_Name(state), reason, Micros(now), job);
}

absl::StatusOr<std::vector<OpenJob>> Store::LoadOpenJobs() {
  std::vector<OpenJob> jobs;
  KF_ASSIGN_OR_RETURN(
      Rows rows,
      db_->Select("SELECT " KF_JOB_COLUMNS
                  ", j.last_sequence, j.planned, j.priority, j.created_us "
                  "FROM job_row j WHERE j.state='active' ORDER BY j.id"));
  while (rows.Next()) {
    OpenJob& job = jobs.emplace_back();
    job.id = rows.Int(17);
    job.summary = SummaryFrom(rows);
    job.last_sequence = rows.Int(18);
    job.planned = static_cast<int>(rows.Int(19));
    job.priority = static_cast<int>(rows.Int(20));
    job.created = FromMicros(rows.Int(21));
    v1::JobSpec head;
    head.ParseFromString(rows.Text(16));
    SetClocks(head, &job);
  }
  KF_RETURN_IF_ERROR(rows.status());
  return jobs;
}

absl::StatusOr<std::vector<Store::LoadedTask>> Store::LoadOpenTasks() {
  std::vector<LoadedTask> tasks;
  KF_ASSIGN_OR_RETURN(
      Rows rows,
      db_->Select("SELECT t.id, t.job, t.kernel, t.state, t.fence, t.attempts, "
                  "t.infra_failures, t.lost_nodes, t.run_at_us, t.created_us, "
                  "t.content_key, t.spec "
                  "FROM task_row t INDEXED BY task_open "
                  "WHERE t.state IN ('waiting', 'leased', 'running')"));
  while (rows.Next()) {
    LoadedTask& each = tasks.emplace_back();
    OpenTask& task = each.task;
    task.id = rows.Int(0);
    task.job = rows.Int(1);
    task.kernel = static_cast<int>(rows.Int(2));
    task.state = TaskStateOf(rows.View(3));
    task.fence = rows.Int(4);
    task.attempts = static_cast<int>(rows.Int(5));
    task.infra_failures = static_cast<int>(rows.Int(6));
    const std::string lost = rows.Text(7);
    for (std::string_view node : Split(lost, '\n')) {
      if (!node.empty()) task.lost_nodes.emplace_back(node);
    }
    task.run_at = FromMicros(rows.Int(8));
    task.created = FromMicros(rows.Int(9));
    task.content_key = rows.Text(10);
    each.spec.ParseFromString(rows.Text(11));
  }
  KF_RETURN_IF_ERROR(rows.status());
  return tasks;
}

absl::StatusOr<std::vector<OpenAttempt>> Store::LoadOpenAttempts() {
  std::vector<OpenAttempt> attempts;
  KF_ASSIGN_OR_RETURN(
      Rows rows, db_->Select("SELECT fence, task, node, gpu_index, "
                             "environment_hash FROM attempt_row "
                             "INDEXED BY attempt_open WHERE state='leased'"));
  while (rows.Next()) {
    OpenAttempt& attempt = attempts.emplace_back();
    attempt.fence = rows.Int(0);
    attempt.task = rows.Int(1);
    attempt.node = rows.Text(2);
    attempt.gpu = static_cast<int>(rows.Int(3));
    attempt.environment_hash = rows.Text(4);
  }
  KF_RETURN_IF_ERROR(rows.status());
  return attempts;
}

absl::StatusOr<std::vector<Node>> Store::LoadNodes() {
  std::vector<Node> nodes;
  KF_ASSIGN_OR_RETURN(Rows rows,
                      db_->Select("SELECT node, session, state, reason, facts, "
                                  "registered_us FROM node_row"));
  while (rows.Next()) {
    Node& node = nodes.emplace_back();
    node.id = rows.Text(0);
    node.session = rows.Int(1);
    node.state = rows.Text(2);
    node.reason = rows.Text(3);
    node.facts.ParseFromString(rows.Text(4));
    node.last_seen_wall = FromMicros(rows.Int(5));
  }
  KF_RETURN_IF_ERROR(rows.status());
  return nodes;
}

absl::StatusOr<Store::LastIds> Store::LoadLastIds() {
  LastIds ids;
  KF_ASSIGN_OR_RETURN(ids.job,
                      db_->SelectInt(0, "SELECT max(id) FROM job_row"));
  KF_ASSIGN_OR_RETURN(ids.task,
                      db_->SelectInt(0, "SELECT max(id) FROM task_row"));
  KF_ASSIGN_OR_RETURN(ids.fence,
                      db_->SelectInt(0, "SELECT max(fence) FROM attempt_row"));
  KF_ASSIGN_OR_RETURN(ids.session,
                      db_->SelectInt(0, "SELECT max(session) FROM node_row"));
  return ids;
}

}  // namespace kernelfleet::server
