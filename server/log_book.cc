#include "server/log_book.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/base/file.h"
#include "common/base/status.h"

namespace kernelfleet::server {
namespace {

// What an error of a write says.
constexpr char kAppending[] = "cannot append to a log";
constexpr int kDefaultRead = 64 << 10;
constexpr int kLargestRead = 1 << 20;
// Files per folder.
constexpr int64_t kShard = 4096;

int64_t SizeOf(const std::string& path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_size : 0;
}

}  // namespace

std::string LogBook::PathOf(int64_t fence) const {
  return fmt::format("{}/{}/{}.log", directory_, fence / kShard, fence);
}

absl::StatusOr<int64_t> LogBook::Append(int64_t fence, int64_t offset,
                                        std::string_view data, More more) {
  if (offset < 0) return InvalidArgument("a log offset is negative");
  const int64_t end = offset + static_cast<int64_t>(data.size());
  int64_t next = end;
  std::list<Waiting> woken;
  {
    MutexLock lock(mutex_);
    const std::string path = PathOf(fence);
    const int64_t size = SizeOf(path);
    // Longer than the cap: the marker is there, the rest is dropped.
    if (size <= cap_bytes_) {
      if (offset > size) return size;
      next = std::max(end, size);
      std::string_view fresh = data;
      fresh.remove_prefix(
          std::min(data.size(), static_cast<size_t>(size - offset)));
      const auto room = static_cast<size_t>(cap_bytes_ - size);
      KF_RETURN_IF_ERROR(MakeDirectories(path.substr(0, path.rfind('/'))));
      Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
                   0600));
      if (!fd.valid()) return ErrnoError(path, errno);
      KF_RETURN_IF_ERROR(WriteAll(fd.get(), fresh.substr(0, room), kAppending));
      if (fresh.size() > room) {
        KF_RETURN_IF_ERROR(
            WriteAll(fd.get(),
                     fmt::format("\n[kernelfleet: the log was cut here at {} "
                                 "bytes; the rest was dropped]\n",
                                 cap_bytes_),
                     kAppending));
      }
    }
    if (more == More::kComplete) {
      KF_RETURN_IF_ERROR(MakeDirectories(path.substr(0, path.rfind('/'))));
      KF_RETURN_IF_ERROR(WriteFileAtomic(path + ".end", ""));
    }
    for (auto each = waiting_.begin(); each != waiting_.end();) {
      const auto waiting = each++;
      if (waiting->fence == fence) {
        woken.splice(woken.end(), waiting_, waiting);
      }
    }
  }
  Answer(std::move(woken));
  return next;
}

absl::StatusOr<v1::ReadLogResponse> LogBook::Read(int64_t fence, int64_t offset,
                                                  int max_bytes) {
  if (offset < 0) return InvalidArgument("a log offset is negative");
  const int limit =
      max_bytes <= 0 ? kDefaultRead : std::min(max_bytes, kLargestRead);
  v1::ReadLogResponse response;
  response.set_fence(fence);
  response.set_next_offset(offset);
  const std::string path = PathOf(fence);
  // Before the bytes: once it is there, no more come.
  const bool ended = PathExists(path + ".end");
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) {
    response.set_complete(ended);
    return response;
  }
  std::string* data = response.mutable_data();
  data->resize(static_cast<size_t>(limit));
  const ssize_t n = ::pread(fd.get(), data->data(), data->size(), offset);
  if (n < 0) return ErrnoError(path, errno);
  data->resize(static_cast<size_t>(n));
  response.set_next_offset(offset + n);
  response.set_complete(ended && response.next_offset() >= SizeOf(path));
  return response;
}

void LogBook::Follow(uint64_t call, int64_t fence, int64_t offset,
                     int max_bytes, absl::Duration until, ReadDone done) {
  absl::StatusOr<v1::ReadLogResponse> now;
  {
    // Under the lock, so that no append falls between the look and the wait.
    MutexLock lock(mutex_);
    now = Read(fence, offset, max_bytes);
    if (now.ok() && now->data().empty() && !now->complete()) {
      waiting_.push_back(
          {call, fence, offset, max_bytes, until, std::move(done)});
      return;
    }
  }
  done(std::move(now));
}

void LogBook::Answer(std::list<Waiting> waiting) {
  for (Waiting& each : waiting) {
    each.done(Read(each.fence, each.offset, each.max_bytes));
  }
}

void LogBook::Cancel(uint64_t call) {
  std::list<Waiting> found;
  {
    MutexLock lock(mutex_);
    const auto each = std::ranges::find(waiting_, call, &Waiting::call);
    if (each == waiting_.end()) return;
    found.splice(found.end(), waiting_, each);
  }
  found.front().done(absl::CancelledError("the caller went away"));
}

void LogBook::Expire(absl::Duration now) {
  std::list<Waiting> due;
  {
    MutexLock lock(mutex_);
    for (auto each = waiting_.begin(); each != waiting_.end();) {
      const auto waiting = each++;
      if (waiting->until <= now) due.splice(due.end(), waiting_, waiting);
    }
  }
  Answer(std::move(due));
}

absl::Duration LogBook::NextDue() const {
  MutexLock lock(mutex_);
  absl::Duration due = absl::InfiniteDuration();
  for (const Waiting& each : waiting_) due = std::min(due, each.until);
  return due;
}

}  // namespace kernelfleet::server
