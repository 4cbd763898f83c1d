#include "server/coordinator.h"

#include "common/base/status.h"

namespace kernelfleet::server {
namespace {

absl::Status NotYet() {
  return Error(absl::StatusCode::kUnimplemented, "not built yet");
}

}  // namespace

struct Coordinator::Parts {};

Coordinator::Coordinator(std::unique_ptr<Parts> parts)
    : parts_(std::move(parts)) {}
Coordinator::~Coordinator() = default;

absl::StatusOr<std::unique_ptr<Coordinator>> Coordinator::Open(
    CoordinatorOptions, Clock&, Random&) {
  return std::unique_ptr<Coordinator>(
      new Coordinator(std::make_unique<Parts>()));
}

void Coordinator::Submit(v1::SubmitRequest, Done<v1::SubmitResponse> done) {
  done(NotYet());
}
void Coordinator::CancelJob(v1::CancelJobRequest,
                            Done<v1::CancelJobResponse> done) {
  done(NotYet());
}
void Coordinator::SetNodeState(v1::SetNodeStateRequest,
                               Done<v1::SetNodeStateResponse> done) {
  done(NotYet());
}
void Coordinator::Register(v1::RegisterRequest,
                           Done<v1::RegisterResponse> done) {
  done(NotYet());
}
void Coordinator::Heartbeat(v1::HeartbeatRequest,
                            Done<v1::HeartbeatResponse> done) {
  done(NotYet());
}
void Coordinator::Complete(v1::CompleteRequest,
                           Done<v1::CompleteResponse> done) {
  done(NotYet());
}
uint64_t Coordinator::Lease(v1::LeaseRequest, Done<v1::LeaseResponse> done) {
  done(NotYet());
  return 0;
}
uint64_t Coordinator::ReadLog(v1::ReadLogRequest,
                              Done<v1::ReadLogResponse> done) {
  done(NotYet());
  return 0;
}
absl::StatusOr<v1::AppendLogResponse> Coordinator::AppendLog(
    const v1::AppendLogRequest&) {
  return NotYet();
}
absl::StatusOr<v1::JobDetail> Coordinator::GetJob(const v1::GetJobRequest&) {
  return NotYet();
}
absl::StatusOr<v1::ListTasksResponse> Coordinator::ListTasks(
    const v1::ListTasksRequest&) {
  return NotYet();
}
absl::StatusOr<v1::ListJobsResponse> Coordinator::ListJobs(
    const v1::ListJobsRequest&) {
  return NotYet();
}
absl::StatusOr<v1::ListNodesResponse> Coordinator::ListNodes() {
  return NotYet();
}
absl::StatusOr<v1::QueryResponse> Coordinator::Query(const v1::QueryRequest&) {
  return NotYet();
}
absl::StatusOr<v1::ServerInfo> Coordinator::GetServerInfo() { return NotYet(); }
absl::StatusOr<std::unique_ptr<Watch>> Coordinator::WatchJob(
    const v1::WatchJobRequest&) {
  return NotYet();
}
void Coordinator::CancelCall(uint64_t) {}
void Coordinator::StopLeasing() {}
bool Coordinator::writable() const { return false; }
absl::Duration Coordinator::Turn() { return absl::InfiniteDuration(); }

}  // namespace kernelfleet::server
