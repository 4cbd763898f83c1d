// Columns and messages: times, enum words, maps as JSON text.
#ifndef KERNELFLEET_SERVER_STORE_WORDS_H_
#define KERNELFLEET_SERVER_STORE_WORDS_H_

#include <google/protobuf/map.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "kernelfleet/v1/job.pb.h"
#include "server/store/database.h"

namespace kernelfleet::server {

int64_t Micros(absl::Time time);
absl::Time FromMicros(int64_t us);
void SetTimestamp(int64_t us, google::protobuf::Timestamp* stamp);

v1::TaskState::Name TaskStateOf(std::string_view word);
v1::JobState::Name JobStateOf(std::string_view word);
v1::Outcome::Code OutcomeOf(std::string_view word);

// {"a":"b"} with sorted keys.
std::string JsonOf(const google::protobuf::Map<std::string, std::string>& map);

int64_t KernelId(int64_t job, int kernel);

// The columns of KF_TASK_COLUMNS as a record.
v1::TaskRecord TaskRecordFrom(const Rows& rows);
// The columns of KF_JOB_COLUMNS as a summary; labels are not among them.
v1::JobSummary SummaryFrom(const Rows& rows);

}  // namespace kernelfleet::server

#define KF_TASK_COLUMNS                                                    \
  "t.id, t.state, t.reason, t.attempts, t.node, t.step, t.created_us, "    \
  "t.started_us, t.finished_us, t.from_cache, t.fence, t.spec, a.result, " \
  "t.job, t.kernel, a.environment, a.environment_hash "
#define KF_JOB_COLUMNS                                                       \
  "j.job_id, j.state, j.workflow, j.kernels, j.tasks, j.waiting, j.active, " \
  "j.done, j.failed, j.cancelled, j.findings, j.from_cache, j.user, "        \
  "j.created_us, j.finished_us, j.title, j.spec, j.id "

#endif  // KERNELFLEET_SERVER_STORE_WORDS_H_
