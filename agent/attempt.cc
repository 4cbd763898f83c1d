#include "agent/attempt.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/base/strings.h"

namespace kernelfleet::agent {
namespace {

constexpr int64_t kMaxSpoolBytes = 64 << 20;

}  // namespace

std::string_view StepName(Step step) {
  switch (step) {
    case Step::kPreparing:
      return "preparing";
    case Step::kRunning:
      return "running";
    case Step::kUploading:
      return "uploading";
  }
  return "";
}

Attempt::Attempt(v1::LeasedTask task, const std::string& attempts_dir)
    : task_(std::move(task)),
      folder_(JoinPath(attempts_dir, std::to_string(task_.fence()))),
      log_(JoinPath(folder_, "log"), JoinPath(folder_, "work")) {}

std::string Attempt::work() const { return JoinPath(folder_, "work"); }

absl::Status Attempt::Create() const {
  KF_RETURN_IF_ERROR(RemoveTree(folder_));
  KF_RETURN_IF_ERROR(MakeDirectories(work()));
  // No fsync: a power cut costs a second run of the attempt, nothing else.
  return WriteFileAtomic(JoinPath(folder_, "lease.pb"),
                         task_.SerializeAsString());
}

absl::Status Attempt::Remove() const { return RemoveTree(folder_); }

absl::StatusOr<std::shared_ptr<Attempt>> Attempt::Load(
    const std::string& attempts_dir, const std::string& name) {
  const std::string folder = JoinPath(attempts_dir, name);
  KF_ASSIGN_OR_RETURN(std::string lease,
                      ReadFile(JoinPath(folder, "lease.pb"), kMaxSpoolBytes));
  v1::LeasedTask task;
  if (!task.ParseFromString(lease) || task.task_id() == 0 ||
      std::to_string(task.fence()) != name) {
    return InvalidArgument(fmt::format("{}: not an attempt", folder));
  }
  auto attempt = std::make_shared<Attempt>(std::move(task), attempts_dir);
  const absl::StatusOr<std::string> spooled =
      ReadFile(JoinPath(folder, "complete.pb"), kMaxSpoolBytes);
  if (!spooled.ok()) return attempt;
  v1::CompleteRequest completion;
  if (completion.ParseFromString(*spooled) &&
      completion.fence() == attempt->fence()) {
    attempt->completion_ = std::move(completion);
    attempt->set_step(Step::kUploading);
  }
  return attempt;
}

void Attempt::Stop(StopReason reason) {
  StopReason before = StopReason::kNone;
  if (!stop_reason_.compare_exchange_strong(before, reason) &&
      reason == StopReason::kLost) {
    stop_reason_ = reason;
  }
  stop_.request_stop();
}

void Attempt::SetCompletion(v1::CompleteRequest completion) {
  completion_ = std::move(completion);
  const absl::Status status = WriteFileAtomic(JoinPath(folder_, "complete.pb"),
                                              completion_.SerializeAsString());
  if (!status.ok()) {
    LogWarning("result not spooled",
               {{"fence", fence()}, {"error", Text(status)}});
  }
}

std::vector<std::string> ListAttempts(const std::string& attempts_dir) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(attempts_dir, error)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

}  // namespace kernelfleet::agent
