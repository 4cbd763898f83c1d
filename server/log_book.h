// The logs of attempts: one append-only file each, capped with a marker that a
// reader sees, and the readers that wait for more.
//
// Thread-safe. Appends are not synced: after a power cut a file may be shorter,
// and the agent resumes from the offset that the answer names.
#ifndef KERNELFLEET_SERVER_LOG_BOOK_H_
#define KERNELFLEET_SERVER_LOG_BOOK_H_

#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "kernelfleet/v1/service.pb.h"

namespace kernelfleet::server {

class LogBook {
 public:
  using ReadDone = std::function<void(absl::StatusOr<v1::ReadLogResponse>)>;

  LogBook(std::string directory, int64_t cap_bytes)
      : directory_(std::move(directory)), cap_bytes_(cap_bytes) {}

  // Appends what of `data` is new; answers the offset to send from next. An
  // offset past the end appends nothing. `complete`: no more will come.
  enum class More { kMayCome, kComplete };
  absl::StatusOr<int64_t> Append(int64_t fence, int64_t offset,
                                 std::string_view data, More more);

  // An attempt without a log reads as empty.
  absl::StatusOr<v1::ReadLogResponse> Read(int64_t fence, int64_t offset,
                                           int max_bytes);

  // Answers at once when there are bytes or the log is complete, else then,
  // or at `until`.
  void Follow(uint64_t call, int64_t fence, int64_t offset, int max_bytes,
              absl::Duration until, ReadDone done);
  void Cancel(uint64_t call);
  // Answers those whose time has come; infinity answers all.
  void Expire(absl::Duration now);
  absl::Duration NextDue() const;

 private:
  struct Waiting {
    uint64_t call;
    int64_t fence;
    int64_t offset;
    int max_bytes;
    absl::Duration until;
    ReadDone done;
  };
  std::string PathOf(int64_t fence) const;
  void Answer(std::list<Waiting> waiting);

  const std::string directory_;
  const int64_t cap_bytes_;
  // Held over file operations too: appends to one file stay in order.
  mutable Mutex mutex_;
  std::list<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_SERVER_LOG_BOOK_H_
