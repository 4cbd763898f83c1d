#include "common/base/status.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace kernelfleet {
namespace {

absl::StatusCode CodeOf(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::StatusCode::kNotFound;
    case EEXIST:
      return absl::StatusCode::kAlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::StatusCode::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return absl::StatusCode::kResourceExhausted;
    case EINVAL:
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG:
      return absl::StatusCode::kInvalidArgument;
    default:
      return absl::StatusCode::kInternal;
  }
}

}  // namespace

absl::Status Error(absl::StatusCode code, std::string_view text) {
  return absl::Status(code, absl::string_view(text.data(), text.size()));
}

absl::Status InvalidArgument(std::string_view text) {
  return Error(absl::StatusCode::kInvalidArgument, text);
}
absl::Status NotFound(std::string_view text) {
  return Error(absl::StatusCode::kNotFound, text);
}
absl::Status Unavailable(std::string_view text) {
  return Error(absl::StatusCode::kUnavailable, text);
}
absl::Status Internal(std::string_view text) {
  return Error(absl::StatusCode::kInternal, text);
}
absl::Status FailedPrecondition(std::string_view text) {
  return Error(absl::StatusCode::kFailedPrecondition, text);
}

absl::Status ErrnoError(std::string_view what, int error) {
  return Error(CodeOf(error),
               fmt::format("{}: {}", what, std::strerror(error)));
}

std::string Text(const absl::Status& status) {
  return std::string(status.message().data(), status.message().size());
}

}  // namespace kernelfleet
