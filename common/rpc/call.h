// Client calls: a deadline always, jittered retries where they help, and a way
// to end them from another thread.
//
//   auto jobs = v1::JobService::NewStub(channel);
//   v1::GetJobRequest request;
//   request.set_job_id("last");
//   KF_ASSIGN_OR_RETURN(v1::JobDetail job,
//       Call(*jobs, &v1::JobService::Stub::GetJob, request));
#ifndef KERNELFLEET_COMMON_RPC_CALL_H_
#define KERNELFLEET_COMMON_RPC_CALL_H_

#include <cstddef>
#include <set>
#include <type_traits>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/random.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/status.h"

namespace kernelfleet::rpc {

// Ends calls for good, for a drain or Ctrl-C. Thread-safe; outlives the calls.
class CallStop {
 public:
  // Running calls end with CANCELLED, later ones do not start.
  void Stop();
  bool stopped() const;

  // For Retry: false when stopped. Between Enter and Leave, Stop() cancels.
  bool Enter(grpc::ClientContext& context);
  void Leave(grpc::ClientContext& context);
  // Waits until `timeout` passed or Stop().
  void Sleep(Clock& clock, absl::Duration timeout);

 private:
  mutable Mutex mutex_;
  CondVar wake_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::set<grpc::ClientContext*> running_ ABSL_GUARDED_BY(mutex_);
};

struct CallOptions {
  // Of each attempt.
  absl::Duration deadline = absl::Seconds(30);
  // 1: no retry.
  int attempts = 5;
  // Full jitter between attempts: uniform in [0, min(cap, base * 2^n)].
  absl::Duration backoff_base = absl::Milliseconds(250);
  absl::Duration backoff_cap = absl::Seconds(10);
  CallStop* stop = nullptr;
  Clock* clock = &RealClock();
  Random* random = &SystemRandom();
};

// UNAVAILABLE and RESOURCE_EXHAUSTED: the same call may succeed later. Every
// call of ours is safe to repeat: submits carry a key, results a fence.
bool IsTransient(absl::StatusCode code);

// Runs `once` with a fresh context until it succeeds, fails for good, or
// attempts run out; returns the last status. Blocking.
absl::Status Retry(
    const CallOptions& options,
    absl::FunctionRef<grpc::Status(grpc::ClientContext& context)> once);

// INVALID_ARGUMENT when a request is over kMaxRequestBytes: retrying a message
// that cannot be sent helps nobody.
absl::Status CheckRequestSize(size_t bytes);

// One unary call by the stub's own method. Blocking.
template <typename Stub, typename Request, typename Response>
absl::StatusOr<Response> Call(Stub& stub,
                              grpc::Status (Stub::*method)(grpc::ClientContext*,
                                                           const Request&,
                                                           Response*),
                              const std::type_identity_t<Request>& request,
                              const CallOptions& options = {}) {
  if (absl::Status size = CheckRequestSize(request.ByteSizeLong());
      !size.ok()) {
    return size;
  }
  Response response;
  absl::Status status = Retry(options, [&](grpc::ClientContext& context) {
    response.Clear();
    return (stub.*method)(&context, request, &response);
  });
  if (!status.ok()) return status;
  return response;
}

}  // namespace kernelfleet::rpc

#endif  // KERNELFLEET_COMMON_RPC_CALL_H_
