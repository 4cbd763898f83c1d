// A coordinator and a runner that do as the test says.
#ifndef KERNELFLEET_TESTS_AGENT_FAKES_H_
#define KERNELFLEET_TESTS_AGENT_FAKES_H_

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/coordinator.h"
#include "agent/phase_runner.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/base/mutex.h"
#include "common/base/status.h"

namespace kernelfleet::agent {

// Thread-safe. Each call fails with the next status queued for its name; then
// it does what a coordinator with one job for each leased task would.
class FakeCoordinator final : public Coordinator {
 public:
  void Fail(const std::string& call, absl::StatusCode code, int times = 1) {
    MutexLock lock(mutex_);
    for (int i = 0; i < times; ++i) {
      failures_[call].push_back(Error(code, "as the test says"));
    }
  }
  void Offer(v1::LeasedTask task) {
    MutexLock lock(mutex_);
    offers_.push_back(std::move(task));
  }
  void Cancel(int64_t fence) {
    MutexLock lock(mutex_);
    cancels_.insert(fence);
  }
  // Fences that the next Register does not keep.
  void Disown(int64_t fence) {
    MutexLock lock(mutex_);
    disowned_.insert(fence);
  }
  std::string AddBlob(const std::string& bytes) {
    MutexLock lock(mutex_);
    blobs_[DigestOf(bytes)] = bytes;
    return DigestOf(bytes);
  }
  int Calls(const std::string& call) {
    MutexLock lock(mutex_);
    return calls_[call];
  }
  std::vector<v1::CompleteRequest> completed() {
    MutexLock lock(mutex_);
    return completed_;
  }
  std::map<std::string, std::string> blobs() {
    MutexLock lock(mutex_);
    return blobs_;
  }
  std::map<int64_t, std::string> logs() {
    MutexLock lock(mutex_);
    return logs_;
  }
  v1::HeartbeatRequest last_heartbeat() {
    MutexLock lock(mutex_);
    return heartbeat_;
  }
  v1::RegisterRequest last_register() {
    MutexLock lock(mutex_);
    return register_;
  }
  v1::LeaseRequest last_lease() {
    MutexLock lock(mutex_);
    return lease_;
  }

  absl::StatusOr<v1::RegisterResponse> Register(
      const v1::RegisterRequest& request) override {
    MutexLock lock(mutex_);
    KF_RETURN_IF_ERROR(Next("Register"));
    register_ = request;
    v1::RegisterResponse response;
    response.set_session(++sessions_);
    response.set_heartbeat_s(5);
    response.set_lease_s(30);
    for (const v1::HeldAttempt& held : request.held()) {
      if (!disowned_.contains(held.fence())) {
        response.add_keep_fences(held.fence());
      }
    }
    return response;
  }
  absl::StatusOr<v1::LeaseResponse> Lease(
      const v1::LeaseRequest& request) override {
    MutexLock lock(mutex_);
    KF_RETURN_IF_ERROR(Next("Lease"));
    lease_ = request;
    if (stopped_) return absl::CancelledError("stopped");
    v1::LeaseResponse response;
    for (int slots = request.slots(); slots > 0 && !offers_.empty(); --slots) {
      *response.add_tasks() = offers_.front();
      offers_.pop_front();
    }
    return response;
  }
  absl::StatusOr<v1::HeartbeatResponse> Heartbeat(
      const v1::HeartbeatRequest& request) override {
    MutexLock lock(mutex_);
    KF_RETURN_IF_ERROR(Next("Heartbeat"));
    heartbeat_ = request;
    v1::HeartbeatResponse response;
    for (const int64_t fence : cancels_) response.add_cancel_fences(fence);
    return response;
  }
  absl::StatusOr<v1::CompleteResponse> Complete(
      const v1::CompleteRequest& request) override {
    MutexLock lock(mutex_);
    KF_RETURN_IF_ERROR(Next("Complete"));
    completed_.push_back(request);
    v1::CompleteResponse response;
    response.set_accepted(true);
    return response;
  }
  absl::StatusOr<v1::AppendLogResponse> AppendLog(
      const v1::AppendLogRequest& request) override {
    MutexLock lock(mutex_);
    KF_RETURN_IF_ERROR(Next("AppendLog"));
    std::string& log = logs_[request.fence()];
    if (request.offset() == static_cast<int64_t>(log.size())) {
      log += request.data();
    }
    v1::AppendLogResponse response;
    response.set_next_offset(static_cast<int64_t>(log.size()));
    return response;
  }
  absl::StatusOr<std::vector<std::string>> FindMissing(
      const std::vector<std::string>& digests) override {
    MutexLock lock(mutex_);
    KF_RETURN_IF_ERROR(Next("FindMissing"));
    std::vector<std::string> missing;
    for (const std::string& digest : digests) {
      if (!blobs_.contains(digest)) missing.push_back(digest);
    }
    return missing;
  }
  absl::Status Upload(const std::string& digest,
                      std::string_view bytes) override {
    MutexLock lock(mutex_);
    KF_RETURN_IF_ERROR(Next("Upload"));
    if (DigestOf(bytes) != digest) return absl::DataLossError("digest");
    blobs_[digest] = std::string(bytes);
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> Download(const std::string& digest) override {
    MutexLock lock(mutex_);
    KF_RETURN_IF_ERROR(Next("Download"));
    const auto it = blobs_.find(digest);
    if (it == blobs_.end()) return absl::NotFoundError("no such blob");
    return it->second;
  }
  void StopLeasing() override {
    MutexLock lock(mutex_);
    stopped_ = true;
  }

 private:
  absl::Status Next(const std::string& call)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    ++calls_[call];
    std::deque<absl::Status>& failures = failures_[call];
    if (failures.empty()) return absl::OkStatus();
    absl::Status status = failures.front();
    failures.pop_front();
    return status;
  }

  Mutex mutex_;
  std::map<std::string, int> calls_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::deque<absl::Status>> failures_
      ABSL_GUARDED_BY(mutex_);
  std::deque<v1::LeasedTask> offers_ ABSL_GUARDED_BY(mutex_);
  std::set<int64_t> cancels_ ABSL_GUARDED_BY(mutex_);
  std::set<int64_t> disowned_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::string> blobs_ ABSL_GUARDED_BY(mutex_);
  std::map<int64_t, std::string> logs_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::CompleteRequest> completed_ ABSL_GUARDED_BY(mutex_);
  v1::HeartbeatRequest heartbeat_ ABSL_GUARDED_BY(mutex_);
  v1::RegisterRequest register_ ABSL_GUARDED_BY(mutex_);
  v1::LeaseRequest lease_ ABSL_GUARDED_BY(mutex_);
  int64_t sessions_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

// Thread-safe. Writes what a compile probe would, then lets the test add to it.
class FakeRunner final : public PhaseRunner {
 public:
  using Behaviour = std::function<absl::StatusOr<PhaseEnd>(
      const PhaseRun& run, std::stop_token stop)>;

  explicit FakeRunner(Behaviour behaviour = Compile)
      : behaviour_(std::move(behaviour)) {}

  absl::StatusOr<PhaseEnd> Run(const PhaseRun& run,
                               std::stop_token stop) override {
    {
      MutexLock lock(mutex_);
      runs_.push_back(run);
    }
    return behaviour_(run, stop);
  }
  std::vector<PhaseRun> runs() {
    MutexLock lock(mutex_);
    return runs_;
  }
  void set_behaviour(Behaviour behaviour) { behaviour_ = std::move(behaviour); }

  static absl::StatusOr<PhaseEnd> Compile(const PhaseRun& run,
                                          std::stop_token) {
    KF_RETURN_IF_ERROR(WriteFileAtomic(JoinPath(run.directory, "kernel.ttir"),
                                       "module of " + run.id));
    KF_RETURN_IF_ERROR(
        WriteFileAtomic(JoinPath(run.directory, "stdout.txt"), "hello\n"));
    KF_RETURN_IF_ERROR(WriteFileAtomic(JoinPath(run.directory, "result.json"),
                                       R"({"outcome": "compiled", "total_ms": 5,
            "artifacts": [{"name": "kernel.ttir", "kind": "ttir"}]})"));
    PhaseEnd end;
    end.exit_status = 0;
    return end;
  }

 private:
  Mutex mutex_;
  std::vector<PhaseRun> runs_ ABSL_GUARDED_BY(mutex_);
  Behaviour behaviour_;
};

}  // namespace kernelfleet::agent

#endif  // KERNELFLEET_TESTS_AGENT_FAKES_H_
