// Whole-file reads and crash-safe writes.
#ifndef KERNELFLEET_COMMON_BASE_FILE_H_
#define KERNELFLEET_COMMON_BASE_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kernelfleet {

// Owns a file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      Reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~Fd() { Reset(); }
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void Reset();

 private:
  int fd_ = -1;
};

// Both ends close on exec.
struct Pipe {
  Fd read;
  Fd write;
};
absl::StatusOr<Pipe> MakePipe();

// The whole regular file. NOT_FOUND, PERMISSION_DENIED; INVALID_ARGUMENT for a
// directory, device or FIFO; RESOURCE_EXHAUSTED past `max_bytes`.
absl::StatusOr<std::string> ReadFile(const std::string& path,
                                     int64_t max_bytes = int64_t{1} << 30);

// Opens for reading a name inside `directory` that an untrusted process could
// write: refuses symbolic links, anything not a regular file, and files with
// more than one link.
absl::StatusOr<Fd> OpenBeneath(const std::string& directory,
                               const std::string& name);

// Like ReadFile, opened as OpenBeneath does.
absl::StatusOr<std::string> ReadFileBeneath(const std::string& directory,
                                            const std::string& name,
                                            int64_t max_bytes);

enum class Sync { kNo, kYes };
// Writes to a temporary name, optionally fsyncs file and folder, renames over
// `path`: readers see the old bytes or the new, never a part.
absl::Status WriteFileAtomic(const std::string& path, std::string_view bytes,
                             Sync sync = Sync::kNo);

// All of `bytes` to a descriptor, through interruptions and short writes.
// `name` is for the error.
absl::Status WriteAll(int fd, std::string_view bytes, const std::string& name);

// Makes the folder and its parents (mode 0700 for new ones). OK if present.
absl::Status MakeDirectories(const std::string& path);

// Removes the tree without following links. OK if absent.
absl::Status RemoveTree(const std::string& path);

bool PathExists(const std::string& path);

// "a/b" from "a" and "b"; an absolute second part wins.
std::string JoinPath(std::string_view a, std::string_view b);

}  // namespace kernelfleet

#endif  // KERNELFLEET_COMMON_BASE_FILE_H_
