#include "server/open_calls.h"

#include <utility>

#include "common/base/status.h"

namespace kernelfleet::server {

uint64_t OpenCalls::Add(std::function<void()> end) {
  MutexLock lock(mutex_);
  if (ending_) {
    end();
    return 0;
  }
  open_.emplace(next_, std::move(end));
  return next_++;
}

void OpenCalls::Remove(uint64_t call) {
  MutexLock lock(mutex_);
  open_.erase(call);
}

void OpenCalls::EndAll() {
  MutexLock lock(mutex_);
  ending_ = true;
  for (const auto& [call, end] : open_) end();
  open_.clear();
}

absl::Status OpenCalls::Explain(absl::Status status) const {
  if (!ending_ || status.code() != absl::StatusCode::kCancelled) return status;
  return Unavailable("the server is shutting down");
}

}  // namespace kernelfleet::server
