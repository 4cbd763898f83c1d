#include "server/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/log.h"
#include "common/base/status.h"

namespace kernelfleet::server {
namespace {

constexpr size_t kLargestBatch = 128;
// After this long without a command the log is folded into the database.
constexpr absl::Duration kIdle = absl::Milliseconds(500);
// After a refused write, before work that nobody asked for is tried again.
constexpr absl::Duration kRest = absl::Seconds(1);

}  // namespace

Writer::Writer(const CoordinatorOptions& options, Store& store, Engine& engine,
               WatchHub& hub, LogBook& logs, Clock& clock)
    : options_(options),
      store_(store),
      engine_(engine),
      hub_(hub),
      logs_(logs),
      clock_(clock) {}

Writer::~Writer() { Stop(); }

void Writer::Start() {
  thread_ = std::thread([this] { Loop(); });
}

void Writer::Stop() {
  {
    MutexLock lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
    wake_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
  std::deque<Command> left;
  {
    MutexLock lock(mutex_);
    left.swap(queue_);
  }
  const absl::Status why = Unavailable("the coordinator is shutting down");
  for (Command& each : left) each.reply(why);
  engine_.Shutdown();
  hub_.Shutdown();
  logs_.Expire(absl::InfiniteDuration());
  if (broken_.ok()) store_.Checkpoint(Store::Moment::kIdle);
}

void Writer::Push(Command command, Room room) {
  absl::Status refused;
  {
    MutexLock lock(mutex_);
    if (stopping_) {
      refused = Unavailable("the coordinator is shutting down");
    } else if (room == Room::kIfFree &&
               queue_.size() >= static_cast<size_t>(options_.queue_limit)) {
      refused =
          Error(absl::StatusCode::kResourceExhausted,
                fmt::format("{} calls wait to be stored: try again in a moment",
                            queue_.size()));
    } else {
      queue_.push_back(std::move(command));
      if (queue_.size() == 1) wake_.NotifyOne();
    }
  }
  if (!refused.ok()) command.reply(refused);
}

void Writer::Loop() {
  for (;;) {
    absl::Duration wait = Turn();
    MutexLock lock(mutex_);
    if (stopping_ && queue_.empty()) return;
    if (!queue_.empty() || wait <= absl::ZeroDuration()) continue;
    if (wrote_) wait = std::min(wait, kIdle);
    const absl::Duration before = clock_.Steady();
    wake_.Wait(mutex_, clock_, wait);
    if (queue_.empty() && wrote_ && clock_.Steady() - before >= kIdle) {
      wrote_ = false;
      store_.Checkpoint(Store::Moment::kIdle);
    }
  }
}

absl::Duration Writer::Turn() {
  std::vector<Command> batch;
  {
    MutexLock lock(mutex_);
    const size_t size = std::min(queue_.size(), kLargestBatch);
    batch.reserve(size);
    for (size_t i = 0; i < size; ++i) {
      batch.push_back(std::move(queue_.front()));
      queue_.pop_front();
    }
  }
  const absl::Duration now = clock_.Steady();
  if (!batch.empty() || rest_until_ <= now) RunBatch(batch);
  logs_.Expire(clock_.Steady());
  if (store_.in_transaction()) store_.Rollback();
  MutexLock lock(mutex_);
  if (!queue_.empty() || more_) return absl::ZeroDuration();
  const absl::Duration due =
      std::min(engine_.NextDue(), logs_.NextDue() - clock_.Steady());
  return std::max(due, rest_until_ - clock_.Steady());
}

absl::Status Writer::TryBatch(std::span<Command> commands) {
  KF_RETURN_IF_ERROR(broken_);
  for (Command& each : commands) {
    KF_RETURN_IF_ERROR(each.apply(engine_));
  }
  KF_RETURN_IF_ERROR(engine_.Work(&more_));
  wrote_ = wrote_ || store_.in_transaction();
  if (options_.before_commit && store_.in_transaction()) {
    options_.before_commit();
  }
  return store_.Commit();
}

void Writer::RunBatch(std::span<Command> commands) {
  const absl::Status status = TryBatch(commands);
  if (status.ok()) {
    writable_ = true;
    const std::vector<Happened> happened = engine_.Committed();
    for (Command& each : commands) each.reply(status);
    hub_.Publish(happened);
    store_.Checkpoint(Store::Moment::kBusy);
    return;
  }
  Recover(status);
  // One bad command must not take its neighbours down.
  if (commands.size() > 1) {
    for (Command& each : commands) RunBatch({&each, 1});
    return;
  }
  for (Command& each : commands) {
    each.reply(
        Unavailable(fmt::format("the database refused the write ({}): "
                                "nothing was stored, try again",
                                Text(status))));
  }
}

void Writer::Recover(const absl::Status& why) {
  LogError("batch rolled back", {{"error", Text(why)}});
  writable_ = false;
  more_ = false;
  rest_until_ = clock_.Steady() + kRest;
  store_.Rollback();
  engine_.FailBatch(Unavailable("the database refused the write: try again"));
  if (!broken_.ok()) return;
  // A failed flush says that earlier writes may be gone: nobody can tell.
  if (why.code() == absl::StatusCode::kDataLoss) broken_ = why;
  const absl::Status rebuilt = engine_.Rebuild();
  if (!rebuilt.ok()) broken_ = rebuilt;
  if (!broken_.ok()) {
    LogError("nothing is written any more: restart after checking the disk",
             {{"error", Text(broken_)}});
  }
}

}  // namespace kernelfleet::server
