// Bytes by digest, on files: DIR/sha256/ab/cdef… where abcdef… is the digest.
// A blob appears whole or not at all: it is written to DIR/incoming, checked
// against its digest, synced and renamed.
//
// Blobs over one disk block are stored as zstd, with the suffix ".zst".
// Measured on 1,068 artifacts of Triton 3.9 builds for CUDA and AMD (IR, PTX,
// GCN, cubin, hsaco): level 1 needs 4.5 times fewer disk blocks for 0.06 ms a
// file, where one fsync takes 0.2 ms; level 3 saves no more, level 9 4.7 times
// for ten times the work. Metadata JSON, below one block, gains nothing.
//
//   KF_ASSIGN_OR_RETURN(auto store, BlobStore::Open({.directory = dir}));
//   KF_ASSIGN_OR_RETURN(std::string digest, store->Put("text"));
#ifndef KERNELFLEET_SERVER_BLOBS_H_
#define KERNELFLEET_SERVER_BLOBS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kernelfleet::server {

struct BlobStoreOptions {
  // Made if absent; belongs to one coordinator.
  std::string directory;
  int64_t max_blob_bytes = int64_t{256} << 20;
  // Left on the disk for the database.
  int64_t min_free_bytes = int64_t{256} << 20;
  // Each holds a descriptor and a compressor.
  int max_writers = 256;
  // No fsync: for tests.
  bool durable = true;
};

// Takes one blob's bytes in order. Not thread-safe; leaves nothing behind
// unless committed.
class BlobWriter {
 public:
  virtual ~BlobWriter() = default;
  // INVALID_ARGUMENT past the announced size.
  virtual absl::Status Write(std::string_view bytes) = 0;
  // Durable on return. INVALID_ARGUMENT when bytes are missing, DATA_LOSS when
  // they do not have the digest.
  virtual absl::Status Commit() = 0;
};

// Gives one blob's bytes in order. Not thread-safe.
class BlobReader {
 public:
  virtual ~BlobReader() = default;
  // Of the whole blob, whatever the offset.
  virtual int64_t size_bytes() const = 0;
  // At most `max_bytes`, empty at the end. DATA_LOSS when the file is damaged;
  // when read from the start that includes a wrong digest.
  virtual absl::StatusOr<std::string> Read(int64_t max_bytes) = 0;
};

// INVALID_ARGUMENT, with the form of one, for what is no digest.
absl::Status CheckDigest(std::string_view digest);

// Thread-safe. Every call may block on the disk.
class BlobStore {
 public:
  static absl::StatusOr<std::unique_ptr<BlobStore>> Open(
      BlobStoreOptions options);

  // Removes what a crash left in `incoming`. Only the owner of the data folder
  // may: another coordinator could be writing there.
  absl::Status Sweep();

  // False also for what is no digest.
  bool Has(std::string_view digest) const;

  // INVALID_ARGUMENT for what is no digest, NOT_FOUND, DATA_LOSS.
  absl::StatusOr<std::string> Get(std::string_view digest) const;
  // OUT_OF_RANGE for an offset past the end.
  absl::StatusOr<std::unique_ptr<BlobReader>> Read(std::string_view digest,
                                                   int64_t offset = 0) const;

  // Returns the digest. Storing what is there is OK.
  absl::StatusOr<std::string> Put(std::string_view bytes);
  // RESOURCE_EXHAUSTED past the size limit, when the disk is nearly full, or
  // with too many writers at once. The store outlives the writer.
  absl::StatusOr<std::unique_ptr<BlobWriter>> Write(std::string_view digest,
                                                    int64_t size_bytes);

 private:
  explicit BlobStore(BlobStoreOptions options);

  const BlobStoreOptions options_;
  const std::string incoming_;
  const std::string root_;
  std::atomic<int> writers_ = 0;
};

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_SERVER_BLOBS_H_
