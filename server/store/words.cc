#include "server/store/words.h"

#include <fmt/format.h>

#include <map>

namespace kernelfleet::server {
namespace {

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace

int64_t Micros(absl::Time time) { return absl::ToUnixMicros(time); }
absl::Time FromMicros(int64_t us) { return absl::FromUnixMicros(us); }

void SetTimestamp(int64_t us, google::protobuf::Timestamp* stamp) {
  stamp->set_seconds(us / 1'000'000);
  stamp->set_nanos(static_cast<int32_t>(us % 1'000'000) * 1000);
}

v1::TaskState::Name TaskStateOf(std::string_view word) {
  v1::TaskState::Name state = v1::TaskState::state_unspecified;
  v1::TaskState::Name_Parse(std::string(word), &state);
  return state;
}
v1::JobState::Name JobStateOf(std::string_view word) {
  v1::JobState::Name state = v1::JobState::state_unspecified;
  v1::JobState::Name_Parse(std::string(word), &state);
  return state;
}
v1::Outcome::Code OutcomeOf(std::string_view word) {
  v1::Outcome::Code code = v1::Outcome::outcome_unspecified;
  v1::Outcome::Code_Parse(std::string(word), &code);
  return code;
}

std::string JsonOf(const google::protobuf::Map<std::string, std::string>& map) {
  if (map.empty()) return "{}";
  const std::map<std::string, std::string> sorted(map.begin(), map.end());
  std::string out;
  for (const auto& [key, value] : sorted) {
    out += (out.empty() ? "{" : ",") + Quoted(key) + ":" + Quoted(value);
  }
  return out + "}";
}

int64_t KernelId(int64_t job, int kernel) { return job << 20 | kernel; }

v1::TaskRecord TaskRecordFrom(const Rows& rows) {
  v1::TaskRecord record;
  record.set_task_id(rows.Int(0));
  record.set_state(TaskStateOf(rows.View(1)));
  record.set_reason(rows.Text(2));
  record.set_attempts(static_cast<int32_t>(rows.Int(3)));
  record.set_node_id(rows.Text(4));
  record.set_step(rows.Text(5));
  SetTimestamp(rows.Int(6), record.mutable_created());
  if (!rows.IsNull(7)) SetTimestamp(rows.Int(7), record.mutable_started());
  if (!rows.IsNull(8)) SetTimestamp(rows.Int(8), record.mutable_finished());
  record.set_from_cache(rows.Int(9) != 0);
  record.set_last_fence(rows.Int(10));
  record.mutable_spec()->ParseFromArray(rows.View(11).data(),
                                        static_cast<int>(rows.View(11).size()));
  if (!rows.IsNull(12)) {
    v1::TaskResult& result = *record.mutable_result();
    result.ParseFromArray(rows.View(12).data(),
                          static_cast<int>(rows.View(12).size()));
    result.set_environment_name(rows.Text(15));
    result.set_environment_hash(rows.Text(16));
  }
  return record;
}

v1::JobSummary SummaryFrom(const Rows& rows) {
  const auto count = [&](int column) {
    return static_cast<int32_t>(rows.Int(column));
  };
  v1::JobSummary summary;
  summary.set_job_id(rows.Text(0));
  summary.set_state(JobStateOf(rows.View(1)));
  summary.set_workflow(rows.Text(2));
  summary.set_kernels(count(3));
  summary.set_tasks(count(4));
  summary.set_waiting(count(5));
  summary.set_active(count(6));
  summary.set_done(count(7));
  summary.set_failed(count(8));
  summary.set_cancelled(count(9));
  summary.set_findings(count(10));
  summary.set_from_cache(count(11));
  summary.set_user(rows.Text(12));
  SetTimestamp(rows.Int(13), summary.mutable_created());
  if (!rows.IsNull(14)) SetTimestamp(rows.Int(14), summary.mutable_finished());
  summary.set_title(rows.Text(15));
  v1::JobSpec spec;
  spec.ParseFromArray(rows.View(16).data(),
                      static_cast<int>(rows.View(16).size()));
  *summary.mutable_labels() = spec.labels();
  return summary;
}

}  // namespace kernelfleet::server
