// The coordinator without gRPC: one method per RPC of service.proto. The
// handlers in job_service.cc and node_service.cc unwrap, call and map.
//
// Thread-safe. Writes take a callback, which runs once, after COMMIT, on the
// writer's thread: it must not block and must not call back into a method that
// waits. Reads answer at once from their own connections.
//
//   KF_ASSIGN_OR_RETURN(auto coordinator,
//                       Coordinator::Open(options, RealClock(),
//                                         SystemRandom()));
//   coordinator->Submit(request, [reactor, response](auto answer) { … });
#ifndef KERNELFLEET_SERVER_COORDINATOR_H_
#define KERNELFLEET_SERVER_COORDINATOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/clock.h"
#include "common/base/random.h"
#include "kernelfleet/v1/service.pb.h"
#include "server/options.h"

namespace kernelfleet::server {

template <typename Response>
using Done = std::function<void(absl::StatusOr<Response>)>;

struct WatchBatch {
  // In sequence, without gaps. Events that just happened carry a summary.
  std::vector<v1::JobEvent> events;
  // The job ended and everything was delivered.
  bool last = false;
};

// One follower of one job's events. Destroying it stops the follow; `done` of
// a parked Next() then runs with CANCELLED.
class Watch {
 public:
  virtual ~Watch() = default;
  // Answers with the next events: at once when there are some, else when some
  // are committed. One call at a time; do not destroy the watch inside `done`.
  // After `last` there is nothing more to ask.
  virtual void Next(Done<WatchBatch> done) = 0;
};

class Coordinator {
 public:
  // Takes the data folder's lock, migrates the schema and rebuilds the open
  // work. FAILED_PRECONDITION: another coordinator owns the folder, or a newer
  // version wrote it. `clock` and `random` outlive the coordinator.
  static absl::StatusOr<std::unique_ptr<Coordinator>> Open(
      CoordinatorOptions options, Clock& clock, Random& random);
  // Answers what is queued, parked calls with UNAVAILABLE, and checkpoints.
  ~Coordinator();
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  // --- JobService, writing.
  void Submit(v1::SubmitRequest request, Done<v1::SubmitResponse> done);
  void CancelJob(v1::CancelJobRequest request,
                 Done<v1::CancelJobResponse> done);
  void SetNodeState(v1::SetNodeStateRequest request,
                    Done<v1::SetNodeStateResponse> done);

  // --- NodeService.
  void Register(v1::RegisterRequest request, Done<v1::RegisterResponse> done);
  // Parks until work fits or wait_s passed. The result names the call for
  // CancelCall(). ABORTED: a newer registration of the node took over.
  uint64_t Lease(v1::LeaseRequest request, Done<v1::LeaseResponse> done);
  void Heartbeat(v1::HeartbeatRequest request,
                 Done<v1::HeartbeatResponse> done);
  void Complete(v1::CompleteRequest request, Done<v1::CompleteResponse> done);
  absl::StatusOr<v1::AppendLogResponse> AppendLog(
      const v1::AppendLogRequest& request);

  // --- JobService, reading.
  absl::StatusOr<v1::JobDetail> GetJob(const v1::GetJobRequest& request);
  absl::StatusOr<v1::ListTasksResponse> ListTasks(
      const v1::ListTasksRequest& request);
  absl::StatusOr<v1::ListJobsResponse> ListJobs(
      const v1::ListJobsRequest& request);
  absl::StatusOr<v1::ListNodesResponse> ListNodes();
  absl::StatusOr<v1::QueryResponse> Query(const v1::QueryRequest& request);
  absl::StatusOr<v1::ServerInfo> GetServerInfo();
  // With `follow`, parks until there are more bytes, the log is complete, or
  // the longest poll passed. The result names the call for CancelCall().
  uint64_t ReadLog(v1::ReadLogRequest request, Done<v1::ReadLogResponse> done);
  absl::StatusOr<std::unique_ptr<Watch>> WatchJob(
      const v1::WatchJobRequest& request);

  // The caller of a parked Lease or ReadLog went away: `done` runs soon, with
  // CANCELLED if it had not run. Any other id is ignored.
  void CancelCall(uint64_t call);

  // Shutdown, first step: parked leases are answered empty, none are granted.
  void StopLeasing();

  // False: the disk refused a write; health should say NOT_SERVING.
  bool writable() const;

  // WriterMode::kManual only: runs one batch and what is due by the clock.
  // Returns how long the writer would sleep; zero: there is more to do.
  absl::Duration Turn();

 private:
  struct Parts;
  explicit Coordinator(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_SERVER_COORDINATOR_H_
