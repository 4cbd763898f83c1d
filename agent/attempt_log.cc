#include "agent/attempt_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/base/status.h"
#include "common/base/strings.h"

namespace kernelfleet::agent {
namespace {

constexpr int64_t kChunk = 64 << 10;

absl::StatusOr<std::string> ReadAt(int fd, int64_t offset, int64_t max_bytes) {
  std::string out(static_cast<size_t>(max_bytes), '\0');
  ssize_t n = 0;
  do {
    n = ::pread(fd, out.data(), out.size(), offset);
  } while (n < 0 && errno == EINTR);
  if (n < 0) return ErrnoError("attempt log", errno);
  out.resize(static_cast<size_t>(n));
  return out;
}

}  // namespace

AttemptLog::AttemptLog(std::string path, std::string work)
    : path_(std::move(path)), work_(std::move(work)) {}

absl::Status AttemptLog::Append(std::string_view bytes) {
  if (!stream_.valid()) {
    stream_ = Fd(
        ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (!stream_.valid()) return ErrnoError(path_, errno);
  }
  while (!bytes.empty()) {
    const ssize_t n = ::write(stream_.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoError(path_, errno);
    size_ += n;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

absl::Status AttemptLog::Take(Source& source, int64_t cap_bytes) {
  if (!source.fd.valid()) {
    absl::StatusOr<Fd> fd = OpenBeneath(work_, source.name);
    // Not there yet, or not a plain file: nothing to take.
    if (!fd.ok()) return absl::OkStatus();
    source.fd = *std::move(fd);
  }
  while (!capped_) {
    const int64_t room = cap_bytes - size_;
    KF_ASSIGN_OR_RETURN(std::string bytes,
                        ReadAt(source.fd.get(), source.taken, kChunk));
    if (bytes.empty()) return absl::OkStatus();
    if (static_cast<int64_t>(bytes.size()) > room) {
      capped_ = true;
      bytes.resize(static_cast<size_t>(std::max<int64_t>(0, room)));
      bytes += fmt::format("\n[cut: more than {} bytes]\n", cap_bytes);
    }
    source.taken += static_cast<int64_t>(bytes.size());
    KF_RETURN_IF_ERROR(Append(bytes));
  }
  return absl::OkStatus();
}

absl::Status AttemptLog::Pump(int64_t cap_bytes) {
  MutexLock lock(mutex_);
  for (Source& source : sources_) {
    KF_RETURN_IF_ERROR(Take(source, cap_bytes));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> AttemptLog::Read(int64_t offset,
                                             int64_t max_bytes) {
  MutexLock lock(mutex_);
  if (!stream_.valid()) {
    stream_ = Fd(::open(path_.c_str(), O_RDWR | O_APPEND | O_CLOEXEC));
    // Nothing was ever printed.
    if (!stream_.valid()) return std::string();
    struct stat info = {};
    if (::fstat(stream_.get(), &info) == 0) size_ = info.st_size;
  }
  return ReadAt(stream_.get(), offset, max_bytes);
}

int64_t AttemptLog::sent() {
  MutexLock lock(mutex_);
  return sent_;
}

void AttemptLog::set_sent(int64_t offset) {
  MutexLock lock(mutex_);
  sent_ = offset;
}

std::string AttemptLog::Tail(int64_t max_bytes) {
  int64_t size = 0;
  {
    MutexLock lock(mutex_);
    size = size_;
  }
  const int64_t from = std::max<int64_t>(0, size - max_bytes);
  const absl::StatusOr<std::string> bytes = Read(from, max_bytes);
  if (!bytes.ok()) return "";
  std::string_view text = *bytes;
  if (from > 0) text.remove_prefix(std::min(text.size(), text.find('\n') + 1));
  return Printable(Trim(text), Newlines::kKeep);
}

}  // namespace kernelfleet::agent
