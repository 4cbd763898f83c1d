// Bytes by digest, to and from the coordinator: in memory and in files. What
// arrives is checked against its name; DATA_LOSS when it differs.
//
//   BlobClient blobs(channel);
//   KF_ASSIGN_OR_RETURN(std::string digest, blobs.Upload("text"));
//   KF_ASSIGN_OR_RETURN(std::string text, blobs.Download(digest));
#ifndef KERNELFLEET_COMMON_RPC_BLOB_CLIENT_H_
#define KERNELFLEET_COMMON_RPC_BLOB_CLIENT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/rpc/call.h"
#include "common/rpc/limits.h"
#include "grpcpp/channel.h"
#include "kernelfleet/v1/service.grpc.pb.h"

namespace kernelfleet::rpc {

// Thread-safe; calls block. `options.deadline` is per attempt and grows with
// the size at 1 MiB/s.
class BlobClient {
 public:
  explicit BlobClient(const std::shared_ptr<grpc::Channel>& channel,
                      const CallOptions& options = {});

  // Those of `digests` that the server lacks, in their order.
  absl::StatusOr<std::vector<std::string>> FindMissing(
      const std::vector<std::string>& digests);

  // Returns the digest. Uploading what is already there is cheap and OK.
  absl::StatusOr<std::string> Upload(std::string_view bytes);

  // The whole regular file from its start, whatever its offset. RESOURCE_
  // EXHAUSTED past `max_bytes`, DATA_LOSS when it changes under our hands. The
  // caller opens the file, so that it decides which links to follow.
  absl::StatusOr<std::string> UploadFile(int fd,
                                         int64_t max_bytes = kMaxBlobBytes);

  // NOT_FOUND; RESOURCE_EXHAUSTED past `max_bytes`. An interrupted download
  // goes on where it stopped.
  absl::StatusOr<std::string> Download(const std::string& digest,
                                       int64_t max_bytes = kMaxBlobBytes);

  // Replaces `path` when all bytes arrived and fit the digest, else leaves it.
  absl::Status DownloadFile(const std::string& digest, const std::string& path,
                            int64_t max_bytes = kMaxBlobBytes);

 private:
  // Fills at most `size` bytes from `offset`; fewer only at the end.
  using Read = absl::FunctionRef<absl::StatusOr<std::string>(int64_t offset,
                                                             int64_t size)>;
  using Write = absl::FunctionRef<absl::Status(std::string_view bytes)>;
  absl::StatusOr<std::string> Send(const std::string& digest, int64_t size,
                                   Read read);
  absl::Status Receive(const std::string& digest, int64_t max_bytes,
                       Write write);

  std::unique_ptr<v1::BlobService::Stub> stub_;
  CallOptions options_;
};

}  // namespace kernelfleet::rpc

#endif  // KERNELFLEET_COMMON_RPC_BLOB_CLIENT_H_
