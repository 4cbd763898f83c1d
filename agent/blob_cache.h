// Module texts by digest, kept on disk: a job sends the same module to many
// tasks.
#ifndef KERNELFLEET_AGENT_BLOB_CACHE_H_
#define KERNELFLEET_AGENT_BLOB_CACHE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "agent/coordinator.h"

namespace kernelfleet::agent {

// Thread-safe: two threads that miss the same blob both fetch it.
class BlobCache {
 public:
  // `directory` is made on first use and kept under `max_bytes`, oldest first
  // out.
  BlobCache(std::string directory, int64_t max_bytes);

  // The blob's bytes, from the folder or from the coordinator. A damaged file
  // is fetched anew; a full disk is no reason to fail.
  absl::StatusOr<std::string> Get(const std::string& digest,
                                  Coordinator& coordinator);

 private:
  void Keep(const std::string& path, const std::string& bytes);

  const std::string directory_;
  const int64_t max_bytes_;
};

}  // namespace kernelfleet::agent

#endif  // KERNELFLEET_AGENT_BLOB_CACHE_H_
