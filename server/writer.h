// The one thread that changes anything: takes commands from a bounded queue,
// applies up to 128 of them in one transaction, commits, then answers.
#ifndef KERNELFLEET_SERVER_WRITER_H_
#define KERNELFLEET_SERVER_WRITER_H_

#include <atomic>
#include <deque>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "server/engine.h"
#include "server/log_book.h"
#include "server/options.h"
#include "server/store/store.h"
#include "server/watch_hub.h"

namespace kernelfleet::server {

struct Command {
  // Run in the batch's transaction; may run again after a rollback.
  std::function<absl::Status(Engine& engine)> apply;
  // Run once: OK after the commit, else why nothing was stored.
  std::function<void(const absl::Status& status)> reply;
};

// Push() and writable() from any thread; the rest from the owner's.
class Writer {
 public:
  Writer(const CoordinatorOptions& options, Store& store, Engine& engine,
         WatchHub& hub, LogBook& logs, Clock& clock);
  // As Stop().
  ~Writer();

  void Start();
  // Takes no more; applies what is queued (unless manual) and answers the
  // rest, parked calls included, with UNAVAILABLE.
  void Stop();

  // Refuses by replying. kAlways: even when the queue is full.
  enum class Room { kIfFree, kAlways };
  void Push(Command command, Room room = Room::kIfFree);
  bool writable() const { return writable_; }

  // See Coordinator::Turn().
  absl::Duration Turn();

 private:
  void Loop();
  void RunBatch(std::span<Command> commands);
  absl::Status TryBatch(std::span<Command> commands);
  void Recover(const absl::Status& why);

  const CoordinatorOptions& options_;
  Store& store_;
  Engine& engine_;
  WatchHub& hub_;
  LogBook& logs_;
  Clock& clock_;

  Mutex mutex_;
  CondVar wake_;
  std::deque<Command> queue_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;

  std::atomic<bool> writable_ = true;
  // The writer's own.
  bool more_ = false;
  bool wrote_ = false;
  // Nothing may be written any more.
  absl::Status broken_;
  absl::Duration rest_until_ = absl::ZeroDuration();
  std::thread thread_;
};

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_SERVER_WRITER_H_
