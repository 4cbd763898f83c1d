// One WatchJob call: a job's events to one client, one write in flight, so
// that a slow reader costs one batch of memory and holds up nobody.
#ifndef KERNELFLEET_SERVER_WATCH_CALL_H_
#define KERNELFLEET_SERVER_WATCH_CALL_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "common/base/mutex.h"
#include "grpcpp/support/server_callback.h"
#include "server/coordinator.h"
#include "server/open_calls.h"

namespace kernelfleet::server {

// Deletes itself.
class WatchCall final : public grpc::ServerWriteReactor<v1::JobEvent> {
 public:
  // An error in `watch` ends the call.
  WatchCall(absl::StatusOr<std::unique_ptr<Watch>> watch, OpenCalls& calls);

  void OnWriteDone(bool ok) override;
  void OnCancel() override { Stop(); }
  void OnDone() override;

 private:
  void Ask();
  void Answer(absl::StatusOr<WatchBatch> batch);
  void WriteNext();
  // Lets go of the watch, which answers a parked Next() with CANCELLED.
  void Stop();

  OpenCalls& calls_;
  uint64_t open_ = 0;
  // Of the answer being sent; touched by one reaction at a time.
  WatchBatch batch_;
  size_t sent_ = 0;
  Mutex mutex_;
  // Shared between this call and a running Next(); null once stopped.
  std::shared_ptr<Watch> watch_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_SERVER_WATCH_CALL_H_
