// What the writer keeps in memory: jobs, tasks and attempts that have not
// ended. The tables are the truth; this is rebuilt from them at start.
#ifndef KERNELFLEET_SERVER_OPEN_WORK_H_
#define KERNELFLEET_SERVER_OPEN_WORK_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "kernelfleet/v1/job.pb.h"
#include "kernelfleet/v1/node.pb.h"

namespace kernelfleet::server {

struct OpenJob {
  int64_t id = 0;
  // Its counters are written once per batch.
  v1::JobSummary summary;
  int64_t last_sequence = 0;
  // Kernels for which the workflow was asked at least once.
  int planned = 0;
  int priority = 0;
  absl::Time created;
  absl::Duration queue_timeout = absl::InfiniteDuration();
  absl::Duration total_timeout = absl::InfiniteDuration();
  v1::Limits limits;
  bool no_cache = false;
  std::set<int64_t> tasks;
  // Loaded when needed.
  std::shared_ptr<const v1::JobSpec> spec;
};

// The clocks and switches of the job's spec.
inline void SetClocks(const v1::JobSpec& spec, OpenJob* job) {
  if (spec.queue_timeout_s() > 0) {
    job->queue_timeout = absl::Seconds(spec.queue_timeout_s());
  }
  if (spec.total_timeout_s() > 0) {
    job->total_timeout = absl::Seconds(spec.total_timeout_s());
  }
  job->limits = spec.limits();
  job->no_cache = spec.no_cache();
}

struct OpenTask {
  int64_t id = 0;
  int64_t job = 0;
  int kernel = 0;
  v1::TaskState::Name state = v1::TaskState::waiting;
  // Class of needs in the scheduler.
  int needs = 0;
  bool queued = false;
  std::string step;
  int64_t fence = 0;
  int attempts = 0;
  int infra_failures = 0;
  std::vector<std::string> lost_nodes;
  // Nodes that failed it: others go first until `patience`.
  std::vector<std::string> avoid;
  absl::Duration patience = absl::ZeroDuration();
  absl::Time created;
  absl::Time run_at;
  std::string content_key;
};

struct OpenAttempt {
  int64_t fence = 0;
  int64_t task = 0;
  std::string node;
  int gpu = -1;
  std::string environment_hash;
  absl::Duration lease_until;
  absl::Duration run_until = absl::InfiniteDuration();
  // The node has said that it holds it.
  bool acknowledged = false;
  // The task ended without it; only its slot is still taken.
  bool orphan = false;
};

struct Node {
  std::string id;
  int64_t session = 0;
  // "online", "cordoned", "draining": what was asked for.
  std::string state;
  std::string reason;
  // The agent says that it is stopping.
  bool leaving = false;
  bool present = false;
  absl::Duration last_seen;
  absl::Time last_seen_wall;
  v1::NodeFacts facts;
  std::set<int64_t> fences;
};

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_SERVER_OPEN_WORK_H_
