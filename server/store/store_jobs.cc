// Statements about jobs, kernels, events and decisions.
#include "common/base/status.h"
#include "server/store/store.h"
#include "server/store/words.h"

namespace kernelfleet::server {

absl::StatusOr<std::optional<Store::KnownJob>> Store::FindKey(
    const std::string& user, const std::string& key) {
  KF_ASSIGN_OR_RETURN(Rows rows,
                      db_->Select("SELECT job_id, body_sha256 FROM job_row "
                                  "WHERE user=? AND idempotency_key=?",
                                  user, key));
  std::optional<KnownJob> known;
  if (rows.Next()) known = KnownJob{rows.Text(0), rows.Text(1)};
  KF_RETURN_IF_ERROR(rows.status());
  return known;
}

absl::Status Store::InsertJob(const OpenJob& job, const v1::JobSpec& spec,
                              const std::string& key, const std::string& body) {
  KF_RETURN_IF_ERROR(Begin());
  // The kernels have rows of their own, so that one can be read alone.
  v1::JobSpec head;
  head.set_workflow(spec.workflow());
  *head.mutable_targets() = spec.targets();
  *head.mutable_labels() = spec.labels();
  head.set_user(spec.user());
  head.set_priority(spec.priority());
  if (spec.has_limits()) *head.mutable_limits() = spec.limits();
  head.set_no_cache(spec.no_cache());
  head.set_node(spec.node());
  head.set_environment(spec.environment());
  head.set_queue_timeout_s(spec.queue_timeout_s());
  head.set_total_timeout_s(spec.total_timeout_s());
  const std::string title =
      spec.kernels().empty() ? std::string() : spec.kernels(0).name();
  KF_RETURN_IF_ERROR(db_->Run(
      "INSERT INTO job_row(id, job_id, state, workflow, user, title, priority, "
      "kernels, planned, created_us, idempotency_key, body_sha256, labels, "
      "spec) VALUES(?,?,'active',?,?,?,?,?,0,?,?,?,?,?)",
      job.id, job.summary.job_id(), spec.workflow(), spec.user(), title,
      spec.priority(), spec.kernels_size(), Micros(job.created),
      key.empty() ? std::nullopt : std::optional<std::string>(key), body,
      JsonOf(spec.labels()), Blob{head.SerializeAsString()}));
  for (int i = 0; i < spec.kernels_size(); ++i) {
    const v1::KernelSpec& kernel = spec.kernels(i);
    KF_RETURN_IF_ERROR(db_->Run("INSERT INTO kernel_row VALUES(?,?,?,?,?,?,?)",
                                KernelId(job.id, i), kernel.name(),
                                kernel.source_file(), kernel.file_sha256(),
                                kernel.module_digest(), kernel.classification(),
                                Blob{kernel.SerializeAsString()}));
  }
  return absl::OkStatus();
}

absl::Status Store::SaveJob(const OpenJob& job) {
  KF_RETURN_IF_ERROR(Begin());
  const v1::JobSummary& s = job.summary;
  std::optional<int64_t> finished;
  if (s.has_finished()) {
    finished = s.finished().seconds() * 1'000'000 + s.finished().nanos() / 1000;
  }
  return db_->Run(
      "UPDATE job_row SET state=?, planned=?, tasks=?, waiting=?, active=?, "
      "done=?, failed=?, cancelled=?, findings=?, from_cache=?, finished_us=?, "
      "last_sequence=? WHERE id=?",
      v1::JobState::Name_Name(s.state()), job.planned, s.tasks(), s.waiting(),
      s.active(), s.done(), s.failed(), s.cancelled(), s.findings(),
      s.from_cache(), finished, job.last_sequence, job.id);
}

absl::Status Store::SetJobReason(int64_t job, const std::string& reason) {
  KF_RETURN_IF_ERROR(Begin());
  return db_->Run("UPDATE job_row SET reason=? WHERE id=?", reason, job);
}

absl::Status Store::InsertEvent(int64_t job, int64_t sequence, int64_t time_us,
                                std::string_view kind, int64_t task,
                                const std::string& node,
                                const std::string& text) {
  KF_RETURN_IF_ERROR(Begin());
  return db_->Run("INSERT INTO event_row VALUES(?,?,?,?,?,?,?)", job, sequence,
                  time_us, kind, task, node, text);
}

absl::StatusOr<bool> Store::PutDecision(int64_t job,
                                        const v1::Decision& decision,
                                        absl::Time now) {
  KF_RETURN_IF_ERROR(Begin());
  const std::string inputs = JsonOf(decision.inputs());
  KF_RETURN_IF_ERROR(db_->Run(
      "INSERT INTO decision_row VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9) "
      "ON CONFLICT(job, kernel, rule, target) DO UPDATE SET verdict=?5, "
      "text=?6, inputs=?7, time_us=?8, decision=?9 "
      "WHERE verdict<>?5 OR text<>?6 OR inputs<>?7",
      job, decision.kernel(), decision.rule(), decision.target(),
      decision.verdict(), decision.text(), inputs, Micros(now),
      Blob{decision.SerializeAsString()}));
  return db_->changes() > 0;
}

absl::StatusOr<v1::JobSpec> Store::LoadHead(int64_t job) {
  v1::JobSpec head;
  KF_ASSIGN_OR_RETURN(Rows rows,
                      db_->Select("SELECT spec FROM job_row WHERE id=?", job));
  if (rows.Next()) head.ParseFromString(rows.Text(0));
  KF_RETURN_IF_ERROR(rows.status());
  return head;
}

absl::StatusOr<std::shared_ptr<const v1::JobSpec>> Store::LoadSpec(
    int64_t job) {
  auto spec = std::make_shared<v1::JobSpec>();
  KF_ASSIGN_OR_RETURN(*spec, LoadHead(job));
  KF_ASSIGN_OR_RETURN(
      Rows rows, db_->Select("SELECT spec FROM kernel_row WHERE id BETWEEN ? "
                             "AND ? ORDER BY id",
                             KernelId(job, 0), KernelId(job + 1, 0) - 1));
  while (rows.Next()) spec->add_kernels()->ParseFromString(rows.Text(0));
  KF_RETURN_IF_ERROR(rows.status());
  return std::shared_ptr<const v1::JobSpec>(std::move(spec));
}

absl::StatusOr<v1::KernelSpec> Store::LoadKernel(int64_t job, int kernel) {
  v1::KernelSpec spec;
  KF_ASSIGN_OR_RETURN(Rows rows,
                      db_->Select("SELECT spec FROM kernel_row WHERE id=?",
                                  KernelId(job, kernel)));
  if (rows.Next()) spec.ParseFromString(rows.Text(0));
  KF_RETURN_IF_ERROR(rows.status());
  return spec;
}

absl::StatusOr<std::vector<v1::TaskRecord>> Store::LoadRecords(int64_t job,
                                                               int kernel) {
  std::vector<v1::TaskRecord> records;
  KF_ASSIGN_OR_RETURN(Rows rows,
                      db_->Select("SELECT " KF_TASK_COLUMNS
                                  "FROM task_row t LEFT JOIN attempt_row a "
                                  "ON a.fence = t.result_fence "
                                  "WHERE t.job=? AND t.kernel=? ORDER BY t.id",
                                  job, kernel));
  while (rows.Next()) records.push_back(TaskRecordFrom(rows));
  KF_RETURN_IF_ERROR(rows.status());
  return records;
}

}  // namespace kernelfleet::server
