// What a coordinator needs to know and to be given.
#ifndef KERNELFLEET_SERVER_OPTIONS_H_
#define KERNELFLEET_SERVER_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernelfleet/v1/job.pb.h"

namespace kernelfleet::server {

// What the workflow wants next for one kernel: new tasks, and conclusions.
// A decision replaces an earlier one of the same kernel, rule and target.
struct Plan {
  std::vector<v1::TaskSpec> tasks;
  std::vector<v1::Decision> decisions;
};

// Pure; called by the writer inside its transaction, first with no records,
// then with all tasks of the kernel after each one that ended.
using NextFunction = std::function<Plan(const v1::JobSpec& job, int kernel,
                                        std::span<const v1::TaskRecord>)>;

// kFull: an acknowledged call survives power loss. kNormal: it survives the
// death of the process. kOff: for tests.
enum class Durability { kFull, kNormal, kOff };

// kManual: nothing runs until Coordinator::Turn() is called; for simulation.
enum class WriterMode { kThread, kManual };

struct CoordinatorOptions {
  // Holds the database, its lock and the logs. Made if absent. Local disk.
  std::string data_dir;
  // The pure workflow. Required.
  NextFunction next;
  // Refuses a job that the workflow would not understand; may be empty.
  std::function<absl::Status(const v1::JobSpec&)> check_spec;
  // The blob store: called on callers' threads, thread-safe. Required where
  // jobs name blobs.
  std::function<absl::StatusOr<std::string>(const std::string& digest)>
      read_blob;
  std::function<bool(const std::string& digest)> has_blob;
  std::string version;

  Durability durability = Durability::kFull;
  WriterMode writer = WriterMode::kThread;
  int readers = 2;

  // Told to agents: how often to report, and how long silence is forgiven.
  absl::Duration heartbeat = absl::Seconds(5);
  absl::Duration lease = absl::Seconds(30);
  // After a start nothing expires for this long: agents are reconnecting.
  absl::Duration grace = absl::Seconds(15);
  // Longest park of Lease and of ReadLog with `follow`.
  absl::Duration longest_poll = absl::Seconds(30);

  // Infrastructure failures forgiven per task, and the wait between.
  int max_infra_failures = 5;
  absl::Duration backoff_base = absl::Seconds(1);
  absl::Duration backoff_cap = absl::Seconds(60);
  // A task that was lost with this many different nodes is dead.
  int max_lost_nodes = 3;
  // How long a task that failed on a node waits for another node.
  absl::Duration other_node_patience = absl::Seconds(60);

  // Kept of one attempt's log.
  int64_t log_cap_bytes = int64_t{8} << 20;
  // Commands waiting for the writer; more is RESOURCE_EXHAUSTED.
  int queue_limit = 16384;

  // Run by the writer just before each COMMIT: where tests die.
  std::function<void()> before_commit;
};

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_SERVER_OPTIONS_H_
