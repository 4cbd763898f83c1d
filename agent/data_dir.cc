#include "agent/data_dir.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "common/base/status.h"
#include "common/base/strings.h"

namespace kernelfleet::agent {
namespace {

constexpr size_t kMaxName = 64;

// Letters, digits, '.', '_' and '-'; anything else becomes '-'.
std::string SafeName(std::string_view name) {
  std::string out;
  for (const char c : name.substr(0, kMaxName)) {
    const bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      (c >= '0' && c <= '9') || c == '.' || c == '_';
    out += fine ? c : '-';
  }
  return out.empty() ? "node" : out;
}

}  // namespace

absl::StatusOr<Fd> LockDataDir(const std::string& path) {
  KF_RETURN_IF_ERROR(MakeDirectories(path));
  const std::string name = JoinPath(path, "agent.lock");
  Fd fd(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd.valid()) return ErrnoError(Printable(name), errno);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return ErrnoError(Printable(name), errno);
    return FailedPrecondition(
        fmt::format("{}: another agent uses this folder", Printable(path)));
  }
  return fd;
}

absl::StatusOr<std::string> StableNodeId(const std::string& data_dir,
                                         const std::string& name,
                                         Random& random) {
  const std::string path = JoinPath(data_dir, "node_id");
  const absl::StatusOr<std::string> kept = ReadFile(path, 1024);
  if (kept.ok() && !Trim(*kept).empty()) {
    return SafeName(Trim(*kept));
  }
  std::string base = name;
  if (base.empty()) {
    char host[256] = {};
    ::gethostname(host, sizeof host - 1);
    base = host;
  }
  const std::string id =
      SafeName(base.substr(0, kMaxName - 7)) + "-" + random.Id(6);
  KF_RETURN_IF_ERROR(WriteFileAtomic(path, id + "\n", Sync::kYes));
  return id;
}

}  // namespace kernelfleet::agent
