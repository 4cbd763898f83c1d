#include "server/store/reads.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/status.h"
#include "common/base/strings.h"
#include "server/store/words.h"

namespace kernelfleet::server {
namespace {

constexpr int kDefaultPage = 50;
constexpr int kLargestPage = 500;

bool HasLabels(const v1::JobSummary& job,
               const google::protobuf::Map<std::string, std::string>& wanted) {
  return std::ranges::all_of(wanted, [&](const auto& each) {
    const auto found = job.labels().find(each.first);
    return found != job.labels().end() && found->second == each.second;
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Reads>> Reads::Open(const std::string& path) {
  KF_ASSIGN_OR_RETURN(std::unique_ptr<Database> db,
                      Database::Open(path, Database::Role::kReader));
  KF_RETURN_IF_ERROR(db->Execute("PRAGMA query_only=ON;"));
  return std::unique_ptr<Reads>(new Reads(std::move(db)));
}

absl::StatusOr<int64_t> Reads::FindJob(const std::string& name) {
  if (name == "last") {
    KF_ASSIGN_OR_RETURN(const int64_t last,
                        db_->SelectInt(0, "SELECT max(id) FROM job_row"));
    if (last == 0) return NotFound("there is no job yet");
    return last;
  }
  if (name.empty()) return InvalidArgument("the job id is empty");
  const std::string end = name + "{";  // After every letter of an id.
  KF_ASSIGN_OR_RETURN(Rows rows, db_->Select("SELECT id, job_id FROM job_row "
                                             "WHERE job_id>=? AND job_id<? "
                                             "ORDER BY job_id LIMIT 2",
                                             name, end));
  std::vector<int64_t> found;
  while (rows.Next()) {
    if (rows.View(1) == name) return rows.Int(0);
    found.push_back(rows.Int(0));
  }
  KF_RETURN_IF_ERROR(rows.status());
  const std::string shown = Printable(Shorten(name, 80));
  if (found.empty()) return NotFound(fmt::format("no job {}", shown));
  if (found.size() > 1) {
    return InvalidArgument(fmt::format(
        "{} is the start of several job ids: say more of it", shown));
  }
  return found[0];
}

absl::StatusOr<v1::JobSummary> Reads::Summary(int64_t job) {
  KF_ASSIGN_OR_RETURN(
      Rows rows,
      db_->Select("SELECT " KF_JOB_COLUMNS "FROM job_row j WHERE j.id=?", job));
  if (rows.Next()) return SummaryFrom(rows);
  KF_RETURN_IF_ERROR(rows.status());
  return Internal("the job's row is gone");
}

absl::StatusOr<v1::JobSpec> Reads::Head(int64_t job) {
  v1::JobSpec head;
  KF_ASSIGN_OR_RETURN(Rows rows,
                      db_->Select("SELECT spec FROM job_row WHERE id=?", job));
  if (rows.Next()) head.ParseFromString(rows.Text(0));
  KF_RETURN_IF_ERROR(rows.status());
  return head;
}

absl::StatusOr<v1::JobSpec> Reads::Spec(int64_t job, Kernels kernels) {
  KF_ASSIGN_OR_RETURN(v1::JobSpec spec, Head(job));
  KF_ASSIGN_OR_RETURN(
      Rows rows,
      db_->Select("SELECT name, source_file, file_sha256, module_digest, "
                  "classification, spec FROM kernel_row "
                  "WHERE id BETWEEN ? AND ? ORDER BY id",
                  KernelId(job, 0), KernelId(job + 1, 0) - 1));
  while (rows.Next()) {
    v1::KernelSpec& kernel = *spec.add_kernels();
    if (kernels == Kernels::kWhole) {
      kernel.ParseFromString(rows.Text(5));
      continue;
    }
    kernel.set_name(rows.Text(0));
    kernel.set_source_file(rows.Text(1));
    kernel.set_file_sha256(rows.Text(2));
    kernel.set_module_digest(rows.Text(3));
    kernel.set_classification(rows.Text(4));
  }
  KF_RETURN_IF_ERROR(rows.status());
  return spec;
}

absl::StatusOr<std::vector<v1::Decision>> Reads::Decisions(int64_t job) {
  std::vector<v1::Decision> decisions;
  KF_ASSIGN_OR_RETURN(Rows rows,
                      db_->Select("SELECT decision FROM decision_row "
                                  "WHERE job=? ORDER BY kernel, time_us",
                                  job));
  while (rows.Next()) decisions.emplace_back().ParseFromString(rows.Text(0));
  KF_RETURN_IF_ERROR(rows.status());
  return decisions;
}

absl::StatusOr<std::vector<v1::TaskRecord>> Reads::Tasks(int64_t job,
                                                         int kernel,
                                                         int64_t after,
                                                         int limit) {
  std::vector<v1::TaskRecord> tasks;
  KF_ASSIGN_OR_RETURN(
      Rows rows,
      db_->Select("SELECT " KF_TASK_COLUMNS
                  "FROM task_row t LEFT JOIN attempt_row a "
                  "ON a.fence = t.result_fence WHERE t.job=?1 AND t.id>?3 "
                  "AND (?2<0 OR t.kernel=?2) ORDER BY t.id LIMIT ?4",
                  job, kernel, after, limit));
  while (rows.Next()) tasks.push_back(TaskRecordFrom(rows));
  KF_RETURN_IF_ERROR(rows.status());
  return tasks;
}

absl::StatusOr<v1::ListJobsResponse> Reads::Jobs(
    const v1::ListJobsRequest& request) {
  int64_t before = INT64_MAX;
  if (!request.page_token().empty()) {
    const std::optional<int64_t> token = ParseInt(request.page_token());
    if (!token) return InvalidArgument("the page token is not one of ours");
    before = *token;
  }
  const int size = request.page_size() <= 0
                       ? kDefaultPage
                       : std::min(request.page_size(), kLargestPage);
  std::string states;
  for (const std::string& state : request.states()) {
    if (JobStateOf(state) == v1::JobState::state_unspecified) {
      return InvalidArgument(
          fmt::format("no job state is called {}: active, done, cancelled, "
                      "failed",
                      Printable(Shorten(state, 80))));
    }
    states += "|" + state + "|";
  }
  const auto since = static_cast<int64_t>(request.since_unix_s() * 1e6);
  KF_ASSIGN_OR_RETURN(
      Rows rows,
      db_->Select(
          "SELECT " KF_JOB_COLUMNS "FROM job_row j WHERE j.id<?1 "
          "AND (?2='' OR instr(?2, '|' || j.state || '|')>0) "
          "AND (?3='' OR j.user=?3) AND (?4='' OR j.workflow=?4) "
          "AND j.created_us>=?5 "
          "AND (?6='' OR j.id IN "
          "     (SELECT id >> 20 FROM kernel_row WHERE name=?6)) "
          "AND (?7='' OR EXISTS (SELECT 1 FROM task_row t WHERE t.job=j.id "
          "                      AND t.target=?7)) ORDER BY j.id DESC",
          before, states, request.user(), request.workflow(), since,
          request.kernel(), request.target()));
  v1::ListJobsResponse response;
  int64_t last = 0;
  while (rows.Next()) {
    v1::JobSummary job = SummaryFrom(rows);
    if (!HasLabels(job, request.labels())) continue;
    if (response.jobs_size() == size) {
      response.set_next_page_token(std::to_string(last));
      break;
    }
    last = rows.Int(17);
    *response.add_jobs() = std::move(job);
  }
  KF_RETURN_IF_ERROR(rows.status());
  return response;
}

absl::StatusOr<std::vector<v1::NodeStatus>> Reads::Nodes() {
  std::vector<v1::NodeStatus> nodes;
  KF_ASSIGN_OR_RETURN(Rows rows,
                      db_->Select("SELECT facts, state, reason, registered_us, "
                                  "node FROM node_row ORDER BY node"));
  while (rows.Next()) {
    v1::NodeStatus& node = nodes.emplace_back();
    node.mutable_facts()->ParseFromString(rows.Text(0));
    node.mutable_facts()->set_node_id(rows.Text(4));
    node.set_state(rows.Text(1));
    node.set_reason(rows.Text(2));
    node.set_last_seen_s(static_cast<double>(rows.Int(3)) / 1e6);
  }
  KF_RETURN_IF_ERROR(rows.status());
  return nodes;
}

absl::StatusOr<Reads::Events> Reads::EventsAfter(int64_t job, int64_t after,
                                                 int limit) {
  Events found;
  std::string job_id;
  {
    // First: events that are committed in between are then among the rows.
    KF_ASSIGN_OR_RETURN(
        Rows head, db_->Select("SELECT state<>'active', last_sequence, job_id "
                               "FROM job_row WHERE id=?",
                               job));
    if (head.Next()) {
      found.job_ended = head.Int(0) != 0;
      found.last_sequence = head.Int(1);
      job_id = head.Text(2);
    }
    KF_RETURN_IF_ERROR(head.status());
  }
  KF_ASSIGN_OR_RETURN(
      Rows rows, db_->Select("SELECT sequence, time_us, kind, task, node, text "
                             "FROM event_row WHERE job=? AND sequence>? "
                             "ORDER BY sequence LIMIT ?",
                             job, after, limit));
  while (rows.Next()) {
    v1::JobEvent& event = found.events.emplace_back();
    event.set_job_id(job_id);
    event.set_sequence(rows.Int(0));
    SetTimestamp(rows.Int(1), event.mutable_time());
    event.set_kind(rows.Text(2));
    event.set_task_id(rows.Int(3));
    event.set_node_id(rows.Text(4));
    event.set_text(rows.Text(5));
  }
  KF_RETURN_IF_ERROR(rows.status());
  return found;
}

absl::StatusOr<Reads::Attempt> Reads::FindAttempt(int64_t fence) {
  KF_ASSIGN_OR_RETURN(Rows rows, db_->Select("SELECT task, node, finished_us "
                                             "FROM attempt_row WHERE fence=?",
                                             fence));
  if (!rows.Next()) {
    KF_RETURN_IF_ERROR(rows.status());
    return NotFound(fmt::format("no attempt {}", fence));
  }
  Attempt attempt{fence, rows.Int(0), rows.Text(1), absl::InfiniteFuture()};
  if (!rows.IsNull(2)) attempt.finished = FromMicros(rows.Int(2));
  return attempt;
}

absl::StatusOr<Reads::Attempt> Reads::LastAttempt(int64_t job, int64_t task) {
  KF_ASSIGN_OR_RETURN(
      const int64_t fence,
      db_->SelectInt(0,
                     "SELECT max(a.fence, coalesce(t.result_fence, 0)) "
                     "FROM task_row t JOIN attempt_row a ON a.task = t.id "
                     "WHERE t.id=? AND t.job=? ORDER BY a.fence DESC LIMIT 1",
                     task, job));
  if (fence == 0) {
    return NotFound(fmt::format("task {} of this job has no attempt", task));
  }
  return FindAttempt(fence);
}

}  // namespace kernelfleet::server
