// Our errors: absl::Status made from formatted text, and the two macros that
// pass one up. A finding about a kernel is never a Status.
#ifndef KERNELFLEET_COMMON_BASE_STATUS_H_
#define KERNELFLEET_COMMON_BASE_STATUS_H_

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kernelfleet {

// A status with this code and text. Example:
//   return Error(absl::StatusCode::kNotFound,
//                fmt::format("no job {}", id));
absl::Status Error(absl::StatusCode code, std::string_view text);

absl::Status InvalidArgument(std::string_view text);
absl::Status NotFound(std::string_view text);
absl::Status Unavailable(std::string_view text);
absl::Status Internal(std::string_view text);
absl::Status FailedPrecondition(std::string_view text);

// The status of a failed system call: `what` and errno in words, with a code
// that fits errno (ENOENT is NOT_FOUND, ENOSPC is RESOURCE_EXHAUSTED …).
absl::Status ErrnoError(std::string_view what, int error);

// The message as std::string (Debian's absl::string_view is its own type).
std::string Text(const absl::Status& status);

}  // namespace kernelfleet

#define KF_RETURN_IF_ERROR(expr)         \
  do {                                   \
    ::absl::Status kf_status_ = (expr);  \
    if (!kf_status_.ok()) [[unlikely]] { \
      return kf_status_;                 \
    }                                    \
  } while (false)

#define KF_CONCAT_INNER_(a, b) a##b
#define KF_CONCAT_(a, b) KF_CONCAT_INNER_(a, b)
// KF_ASSIGN_OR_RETURN(auto text, ReadFile(path));
#define KF_ASSIGN_OR_RETURN(lhs, expr) \
  KF_ASSIGN_OR_RETURN_(KF_CONCAT_(kf_or_, __LINE__), lhs, expr)
#define KF_ASSIGN_OR_RETURN_(temp, lhs, expr) \
  auto temp = (expr);                         \
  if (!temp.ok()) [[unlikely]] {              \
    return temp.status();                     \
  }                                           \
  lhs = *std::move(temp)

#endif  // KERNELFLEET_COMMON_BASE_STATUS_H_
