#include "common/rpc/call.h"

#include <fmt/format.h>

#include "absl/time/clock.h"
#include "common/base/status.h"
#include "common/rpc/limits.h"
#include "common/rpc/status.h"

namespace kernelfleet::rpc {

void CallStop::Stop() {
  MutexLock lock(mutex_);
  stopped_ = true;
  for (grpc::ClientContext* context : running_) context->TryCancel();
  wake_.NotifyAll();
}

bool CallStop::stopped() const {
  MutexLock lock(mutex_);
  return stopped_;
}

bool CallStop::Enter(grpc::ClientContext& context) {
  MutexLock lock(mutex_);
  if (!stopped_) running_.insert(&context);
  return !stopped_;
}

void CallStop::Leave(grpc::ClientContext& context) {
  MutexLock lock(mutex_);
  running_.erase(&context);
}

void CallStop::Sleep(Clock& clock, absl::Duration timeout) {
  const absl::Duration until = clock.Steady() + timeout;
  MutexLock lock(mutex_);
  while (!stopped_ && clock.Steady() < until) {
    wake_.Wait(mutex_, clock, until - clock.Steady());
  }
}

bool IsTransient(absl::StatusCode code) {
  return code == absl::StatusCode::kUnavailable ||
         code == absl::StatusCode::kResourceExhausted;
}

absl::Status Retry(
    const CallOptions& options,
    absl::FunctionRef<grpc::Status(grpc::ClientContext& context)> once) {
  CallStop never;
  CallStop& stop = options.stop != nullptr ? *options.stop : never;
  for (int attempt = 0;; ++attempt) {
    grpc::ClientContext context;
    // gRPC keeps its own clock: a deadline is real time even under a fake one.
    context.set_deadline(absl::ToChronoTime(absl::Now() + options.deadline));
    if (!stop.Enter(context)) {
      return Error(absl::StatusCode::kCancelled, "stopped");
    }
    const absl::Status status = FromGrpc(once(context));
    stop.Leave(context);
    if (!IsTransient(status.code()) || attempt + 1 >= options.attempts) {
      return status;
    }
    stop.Sleep(*options.clock,
               Backoff(*options.random, attempt, options.backoff_base,
                       options.backoff_cap));
  }
}

absl::Status CheckRequestSize(size_t bytes) {
  if (bytes <= static_cast<size_t>(kMaxRequestBytes)) return absl::OkStatus();
  return InvalidArgument(
      fmt::format("request of {} bytes: the server takes at most {}", bytes,
                  kMaxRequestBytes));
}

}  // namespace kernelfleet::rpc
