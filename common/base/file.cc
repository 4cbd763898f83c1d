#include "common/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "common/base/status.h"
#include "common/base/strings.h"

namespace kernelfleet {
namespace {

absl::StatusOr<std::string> ReadAll(int fd, const std::string& name,
                                    int64_t max_bytes) {
  const auto shown = [&] { return Printable(name); };
  std::string out;
  struct stat info = {};
  if (::fstat(fd, &info) != 0) {
    return ErrnoError(shown(), errno);
  }
  if (!S_ISREG(info.st_mode)) {
    return InvalidArgument(fmt::format("{}: not a regular file", shown()));
  }
  if (info.st_size > max_bytes) {
    return Error(absl::StatusCode::kResourceExhausted,
                 fmt::format("{}: {} bytes, more than the limit of {}", shown(),
                             info.st_size, max_bytes));
  }
  out.resize(static_cast<size_t>(info.st_size));
  size_t done = 0;
  // /proc files say size 0; files may grow while we read.
  for (;;) {
    if (done == out.size()) {
      if (done >= static_cast<size_t>(max_bytes)) break;
      out.resize(std::min(static_cast<size_t>(max_bytes),
                          done + std::max<size_t>(4096, done / 2)));
    }
    const ssize_t n = ::read(fd, out.data() + done, out.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoError(shown(), errno);
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  out.resize(done);
  return out;
}

}  // namespace

absl::StatusOr<Pipe> MakePipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return ErrnoError("pipe", errno);
  return Pipe{Fd(fds[0]), Fd(fds[1])};
}

absl::Status WriteAll(int fd, std::string_view bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoError(name, errno);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

void Fd::Reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

absl::StatusOr<std::string> ReadFile(const std::string& path,
                                     int64_t max_bytes) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return ErrnoError(Printable(path), errno);
  return ReadAll(fd.get(), path, max_bytes);
}

absl::StatusOr<Fd> OpenBeneath(const std::string& directory,
                               const std::string& name) {
  Fd root(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root.valid()) return ErrnoError(Printable(directory), errno);
  struct open_how how = {};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  Fd fd(static_cast<int>(
      ::syscall(SYS_openat2, root.get(), name.c_str(), &how, sizeof how)));
  if (!fd.valid()) return ErrnoError(Printable(name), errno);
  struct stat info = {};
  if (::fstat(fd.get(), &info) != 0) return ErrnoError(Printable(name), errno);
  if (!S_ISREG(info.st_mode)) {
    return InvalidArgument(
        fmt::format("{}: not a regular file", Printable(name)));
  }
  if (info.st_nlink > 1) {
    return InvalidArgument(
        fmt::format("{}: has {} links", Printable(name), info.st_nlink));
  }
  return fd;
}

absl::StatusOr<std::string> ReadFileBeneath(const std::string& directory,
                                            const std::string& name,
                                            int64_t max_bytes) {
  KF_ASSIGN_OR_RETURN(Fd fd, OpenBeneath(directory, name));
  return ReadAll(fd.get(), name, max_bytes);
}

absl::Status WriteFileAtomic(const std::string& path, std::string_view bytes,
                             Sync sync) {
  std::string temporary = path + ".XXXXXX";
  Fd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.valid()) return ErrnoError(Printable(path), errno);
  absl::Status status = WriteAll(fd.get(), bytes, path);
  if (status.ok() && sync == Sync::kYes && ::fsync(fd.get()) != 0) {
    status = ErrnoError(path, errno);
  }
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) {
    status = ErrnoError(Printable(path), errno);
  }
  if (!status.ok()) {
    ::unlink(temporary.c_str());
    return status;
  }
  if (sync == Sync::kYes) {
    const std::string folder =
        std::filesystem::path(path).parent_path().string();
    Fd dir(::open(folder.empty() ? "." : folder.c_str(),
                  O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!dir.valid() || ::fsync(dir.get()) != 0) {
      return ErrnoError(folder, errno);
    }
  }
  return absl::OkStatus();
}

absl::Status MakeDirectories(const std::string& path) {
  std::string made;
  for (const auto& part : std::filesystem::path(path)) {
    made = JoinPath(made, part.string());
    if (::mkdir(made.c_str(), 0700) == 0) continue;
    const int error = errno;
    struct stat info = {};
    if (::stat(made.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) continue;
    return ErrnoError(Printable(path), error == EEXIST ? ENOTDIR : error);
  }
  return absl::OkStatus();
}

absl::Status RemoveTree(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error) return ErrnoError(Printable(path), error.value());
  return absl::OkStatus();
}

bool PathExists(const std::string& path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0;
}

std::string JoinPath(std::string_view a, std::string_view b) {
  if (a.empty() || b.starts_with('/')) return std::string(b);
  if (b.empty()) return std::string(a);
  return fmt::format("{}{}{}", a, a.ends_with('/') ? "" : "/", b);
}

}  // namespace kernelfleet
