#include "server/watch_call.h"

#include <utility>

#include "common/base/status.h"
#include "common/rpc/status.h"

namespace kernelfleet::server {

WatchCall::WatchCall(absl::StatusOr<std::unique_ptr<Watch>> watch,
                     OpenCalls& calls)
    : calls_(calls) {
  if (!watch.ok()) {
    Finish(rpc::ToGrpc(watch.status()));
    return;
  }
  {
    MutexLock lock(mutex_);
    watch_ = *std::move(watch);
  }
  open_ = calls_.Add([this] { Stop(); });
  Ask();
}

void WatchCall::Ask() {
  std::shared_ptr<Watch> watch;
  {
    MutexLock lock(mutex_);
    watch = watch_;
  }
  if (watch == nullptr) {
    Answer(Error(absl::StatusCode::kCancelled, "the watch was cancelled"));
    return;
  }
  // Not under the lock: the answer may come before Next() returns. After it the
  // call may be gone, but not the watch.
  watch->Next(
      [this](absl::StatusOr<WatchBatch> batch) { Answer(std::move(batch)); });
}

void WatchCall::Answer(absl::StatusOr<WatchBatch> batch) {
  if (!batch.ok()) {
    Finish(rpc::ToGrpc(calls_.Explain(batch.status())));
    return;
  }
  batch_ = *std::move(batch);
  sent_ = 0;
  WriteNext();
}

void WatchCall::WriteNext() {
  if (sent_ < batch_.events.size()) {
    StartWrite(&batch_.events[sent_++]);
  } else if (batch_.last) {
    Finish(grpc::Status::OK);
  } else {
    Ask();
  }
}

void WatchCall::OnWriteDone(bool ok) {
  if (ok) {
    WriteNext();
  } else {
    Answer(Error(absl::StatusCode::kCancelled, "the watcher went away"));
  }
}

void WatchCall::Stop() {
  std::shared_ptr<Watch> watch;
  MutexLock lock(mutex_);
  watch.swap(watch_);
}

void WatchCall::OnDone() {
  calls_.Remove(open_);
  delete this;
}

}  // namespace kernelfleet::server
