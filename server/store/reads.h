// What people ask: jobs, tasks, nodes, events and read-only SQL, on a
// connection that cannot write.
//
// One thread at a time; the coordinator keeps a small pool.
#ifndef KERNELFLEET_SERVER_STORE_READS_H_
#define KERNELFLEET_SERVER_STORE_READS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/clock.h"
#include "kernelfleet/v1/service.pb.h"
#include "server/store/database.h"

namespace kernelfleet::server {

class Reads {
 public:
  static absl::StatusOr<std::unique_ptr<Reads>> Open(const std::string& path);

  // The row of a full id, a unique prefix, or "last".
  absl::StatusOr<int64_t> FindJob(const std::string& name);
  absl::StatusOr<v1::JobSummary> Summary(int64_t job);
  // With all kernels, or with their names and digests alone.
  enum class Kernels { kWhole, kNames };
  absl::StatusOr<v1::JobSpec> Spec(int64_t job, Kernels kernels);
  absl::StatusOr<v1::JobSpec> Head(int64_t job);
  absl::StatusOr<std::vector<v1::Decision>> Decisions(int64_t job);
  // In order of id, after `after`; kernel -1: all.
  absl::StatusOr<std::vector<v1::TaskRecord>> Tasks(int64_t job, int kernel,
                                                    int64_t after, int limit);
  absl::StatusOr<v1::ListJobsResponse> Jobs(const v1::ListJobsRequest& request);
  absl::StatusOr<std::vector<v1::NodeStatus>> Nodes();

  struct Events {
    std::vector<v1::JobEvent> events;
    bool job_ended = false;
    int64_t last_sequence = 0;
  };
  absl::StatusOr<Events> EventsAfter(int64_t job, int64_t after, int limit);

  struct Attempt {
    int64_t fence = 0;
    int64_t task = 0;
    std::string node;
    // Not set while it runs.
    absl::Time finished = absl::InfiniteFuture();
  };
  absl::StatusOr<Attempt> FindAttempt(int64_t fence);
  // The newest of a job's task.
  absl::StatusOr<Attempt> LastAttempt(int64_t job, int64_t task);

  // query.cc. `clock` bounds the time.
  absl::StatusOr<v1::QueryResponse> Query(const v1::QueryRequest& request,
                                          Clock& clock);

 private:
  explicit Reads(std::unique_ptr<Database> db) : db_(std::move(db)) {}
  std::unique_ptr<Database> db_;
};

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_SERVER_STORE_READS_H_
