#include "agent/blob_cache.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/base/log.h"
#include "common/base/status.h"

namespace kernelfleet::agent {
namespace {

namespace fs = std::filesystem;

struct CachedFile {
  fs::file_time_type written;
  int64_t bytes = 0;
  fs::path path;
};

// Makes room for `incoming` bytes. Another thread may remove the same files.
void Evict(const std::string& directory, int64_t incoming, int64_t max_bytes) {
  std::error_code error;
  std::vector<CachedFile> files;
  int64_t total = incoming;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    CachedFile file{entry.last_write_time(error),
                    static_cast<int64_t>(entry.file_size(error)), entry.path()};
    if (error) continue;
    total += file.bytes;
    files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.written < b.written; });
  for (const CachedFile& file : files) {
    if (total <= max_bytes) return;
    fs::remove(file.path, error);
    total -= file.bytes;
  }
}

}  // namespace

BlobCache::BlobCache(std::string directory, int64_t max_bytes)
    : directory_(std::move(directory)), max_bytes_(max_bytes) {}

absl::StatusOr<std::string> BlobCache::Get(const std::string& digest,
                                           Coordinator& coordinator) {
  // A digest becomes a file name: nothing else may.
  if (!IsDigest(digest)) return InvalidArgument("not a digest");
  const std::string path =
      JoinPath(directory_, digest.substr(digest.find(':') + 1));
  absl::StatusOr<std::string> cached = ReadFile(path);
  if (cached.ok() && DigestOf(*cached) == digest) return cached;
  KF_ASSIGN_OR_RETURN(std::string bytes, coordinator.Download(digest));
  if (DigestOf(bytes) != digest) {
    return Error(absl::StatusCode::kDataLoss,
                 digest + ": the bytes do not have this digest");
  }
  Keep(path, bytes);
  return bytes;
}

void BlobCache::Keep(const std::string& path, const std::string& bytes) {
  const auto size = static_cast<int64_t>(bytes.size());
  if (size > max_bytes_) return;
  absl::Status status = MakeDirectories(directory_);
  if (status.ok()) {
    Evict(directory_, size, max_bytes_);
    status = WriteFileAtomic(path, bytes);
  }
  if (!status.ok()) LogWarning("blob not cached", {{"error", Text(status)}});
}

}  // namespace kernelfleet::agent
