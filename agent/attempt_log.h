// What a runner prints, made one append-only stream: bytes of stdout.txt and
// stderr.txt in the order in which we saw them. The stream is a file of the
// agent's, so that bytes once sent are sent again unchanged.
#ifndef KERNELFLEET_AGENT_ATTEMPT_LOG_H_
#define KERNELFLEET_AGENT_ATTEMPT_LOG_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/file.h"
#include "common/base/mutex.h"

namespace kernelfleet::agent {

// Thread-safe.
class AttemptLog {
 public:
  // `path` is the stream, `work` the folder that the runner may write.
  AttemptLog(std::string path, std::string work);

  // Takes over what the runner printed since the last call, up to `cap_bytes`
  // in all; a last line says when more was dropped.
  absl::Status Pump(int64_t cap_bytes);

  // At most `max_bytes` of the stream from `offset`; empty at its end.
  absl::StatusOr<std::string> Read(int64_t offset, int64_t max_bytes);

  // How much the coordinator has; set by whoever sends.
  int64_t sent();
  void set_sent(int64_t offset);

  // The stream's end for people: at most `max_bytes`, whole lines.
  std::string Tail(int64_t max_bytes);

 private:
  struct Source {
    const char* name;
    Fd fd = Fd();
    int64_t taken = 0;
  };
  absl::Status Take(Source& source, int64_t cap_bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Append(std::string_view bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string path_;
  const std::string work_;
  Mutex mutex_;
  std::array<Source, 2> sources_ ABSL_GUARDED_BY(mutex_) = {
      Source{"stdout.txt"}, Source{"stderr.txt"}};
  Fd stream_ ABSL_GUARDED_BY(mutex_);
  int64_t size_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t sent_ ABSL_GUARDED_BY(mutex_) = 0;
  bool capped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace kernelfleet::agent

#endif  // KERNELFLEET_AGENT_ATTEMPT_LOG_H_
