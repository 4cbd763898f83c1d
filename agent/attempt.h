// One attempt that this agent holds: its lease, its folder, how far it came.
//
// The folder, `<data dir>/attempts/<fence>`, holds
//   lease.pb     the LeasedTask, written first
//   work/        what the runner sees and may write
//   log          stdout and stderr of the runner, in the order we saw them
//   complete.pb  the CompleteRequest, once the work is over
// and lives until the coordinator has acknowledged the result, so a result
// outlasts the agent.
#ifndef KERNELFLEET_AGENT_ATTEMPT_H_
#define KERNELFLEET_AGENT_ATTEMPT_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/attempt_log.h"
#include "kernelfleet/v1/service.pb.h"

namespace kernelfleet::agent {

enum class Step { kPreparing, kRunning, kUploading };
enum class StopReason {
  kNone,
  // The coordinator said so.
  kCancelled,
  // The agent is draining.
  kDraining,
  // The lease is another's: what we have is worth nothing.
  kLost,
};

// Threads: `task`, `folder` and `work` never change; Stop() and the steps may
// be called from any thread; the rest belongs to the one thread that works on
// the attempt.
class Attempt {
 public:
  Attempt(v1::LeasedTask task, const std::string& attempts_dir);

  // The attempt as an earlier process left it: with its completion if the work
  // was over. INVALID_ARGUMENT: the folder holds no such attempt.
  static absl::StatusOr<std::shared_ptr<Attempt>> Load(
      const std::string& attempts_dir, const std::string& name);

  // Makes the folder with lease.pb; what stood there before is removed.
  absl::Status Create() const;
  absl::Status Remove() const;

  const v1::LeasedTask& task() const { return task_; }
  int64_t fence() const { return task_.fence(); }
  const std::string& folder() const { return folder_; }
  std::string work() const;

  Step step() const { return step_; }
  void set_step(Step step) { step_ = step; }

  // The first reason stays, except that kLost overrules the others.
  void Stop(StopReason reason);
  StopReason stop_reason() const { return stop_reason_; }
  std::stop_token stop_token() const { return stop_.get_token(); }

  AttemptLog& log() { return log_; }

  // The result; kept in memory and, unless the disk is full, in the folder.
  void SetCompletion(v1::CompleteRequest completion);
  const v1::CompleteRequest& completion() const { return completion_; }
  v1::CompleteRequest& mutable_completion() { return completion_; }

  // For the queue that it stands in: not before this time, after so many
  // failures in a row.
  absl::Duration not_before;
  int failures = 0;

 private:
  const v1::LeasedTask task_;
  const std::string folder_;
  std::atomic<Step> step_ = Step::kPreparing;
  std::atomic<StopReason> stop_reason_ = StopReason::kNone;
  std::stop_source stop_;
  AttemptLog log_;
  v1::CompleteRequest completion_;
};

// "preparing", "running", "uploading".
std::string_view StepName(Step step);

// The folders of attempts that an earlier process left.
std::vector<std::string> ListAttempts(const std::string& attempts_dir);

}  // namespace kernelfleet::agent

#endif  // KERNELFLEET_AGENT_ATTEMPT_H_
