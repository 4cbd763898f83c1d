#include "common/rpc/blob_client.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/base/strings.h"

namespace kernelfleet::rpc {
namespace {

CallOptions ForSize(CallOptions options, int64_t bytes) {
  options.deadline += absl::Seconds(bytes >> 20);
  return options;
}

absl::StatusOr<std::string> ReadAt(int fd, int64_t offset, int64_t size) {
  std::string bytes(static_cast<size_t>(size), '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::pread(fd, bytes.data() + done, bytes.size() - done,
                              offset + static_cast<int64_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoError("file to upload", errno);
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  bytes.resize(done);
  return bytes;
}

absl::Status TooLarge(std::string_view what, int64_t size, int64_t limit) {
  return Error(absl::StatusCode::kResourceExhausted,
               fmt::format("{}: {} bytes, more than the limit of {}", what,
                           size, limit));
}

}  // namespace

BlobClient::BlobClient(const std::shared_ptr<grpc::Channel>& channel,
                       const CallOptions& options)
    : stub_(v1::BlobService::NewStub(channel)), options_(options) {}

absl::StatusOr<std::vector<std::string>> BlobClient::FindMissing(
    const std::vector<std::string>& digests) {
  std::vector<std::string> missing;
  for (size_t i = 0; i < digests.size(); i += kMaxDigestsPerCall) {
    v1::FindMissingRequest request;
    const size_t end = std::min(digests.size(), i + kMaxDigestsPerCall);
    for (size_t j = i; j < end; ++j) request.add_digests(digests[j]);
    KF_ASSIGN_OR_RETURN(
        v1::FindMissingResponse response,
        Call(*stub_, &v1::BlobService::Stub::FindMissing, request, options_));
    missing.insert(missing.end(), response.digests().begin(),
                   response.digests().end());
  }
  return missing;
}

absl::StatusOr<std::string> BlobClient::Upload(std::string_view bytes) {
  const auto size = static_cast<int64_t>(bytes.size());
  if (size > kMaxBlobBytes) return TooLarge("blob", size, kMaxBlobBytes);
  return Send(DigestOf(bytes), size,
              [&](int64_t offset, int64_t n) -> absl::StatusOr<std::string> {
                return std::string(bytes.substr(static_cast<size_t>(offset),
                                                static_cast<size_t>(n)));
              });
}

absl::StatusOr<std::string> BlobClient::UploadFile(int fd, int64_t max_bytes) {
  struct stat info = {};
  if (::fstat(fd, &info) != 0) return ErrnoError("file to upload", errno);
  if (!S_ISREG(info.st_mode)) {
    return InvalidArgument("file to upload: not a regular file");
  }
  const int64_t limit = std::min(max_bytes, kMaxBlobBytes);
  if (info.st_size > limit) {
    return TooLarge("file to upload", info.st_size, limit);
  }
  Sha256 hash;
  for (int64_t offset = 0; offset < info.st_size;) {
    KF_ASSIGN_OR_RETURN(
        const std::string bytes,
        ReadAt(fd, offset,
               std::min<int64_t>(kChunkBytes, info.st_size - offset)));
    if (bytes.empty()) break;
    hash.Update(bytes);
    offset += static_cast<int64_t>(bytes.size());
  }
  return Send("sha256:" + hash.Finish(), info.st_size,
              [&](int64_t offset, int64_t n) { return ReadAt(fd, offset, n); });
}

absl::StatusOr<std::string> BlobClient::Send(const std::string& digest,
                                             int64_t size, Read read) {
  absl::Status local;
  v1::UploadResponse response;
  absl::Status status =
      Retry(ForSize(options_, size), [&](grpc::ClientContext& context) {
        auto stream = stub_->Upload(&context, &response);
        v1::UploadChunk chunk;
        chunk.set_digest(digest);
        chunk.set_size_bytes(size);
        for (int64_t offset = 0;;) {
          auto bytes =
              read(offset, std::min<int64_t>(kChunkBytes, size - offset));
          if (!bytes.ok() || (bytes->empty() && offset < size)) {
            local = bytes.ok() ? Error(absl::StatusCode::kDataLoss,
                                       "file to upload: became shorter")
                               : bytes.status();
            context.TryCancel();
            break;
          }
          offset += static_cast<int64_t>(bytes->size());
          chunk.set_data(*std::move(bytes));
          // False: the server has answered already, by refusing or because it
          // has the blob.
          if (!stream->Write(chunk) || offset >= size) break;
          chunk.Clear();
        }
        stream->WritesDone();
        return stream->Finish();
      });
  if (!local.ok()) return local;
  if (!status.ok()) return status;
  return digest;
}

absl::Status BlobClient::Receive(const std::string& digest, int64_t max_bytes,
                                 Write write) {
  if (!IsDigest(digest)) {
    return InvalidArgument(
        fmt::format("\"{}\" is not a digest", Printable(Shorten(digest, 100))));
  }
  Sha256 hash;
  int64_t received = 0;
  int64_t size = -1;
  absl::Status local;
  absl::Status status =
      Retry(ForSize(options_, max_bytes), [&](grpc::ClientContext& context) {
        v1::DownloadRequest request;
        request.set_digest(digest);
        request.set_offset(received);
        auto stream = stub_->Download(&context, request);
        v1::DownloadChunk chunk;
        while (local.ok() && stream->Read(&chunk)) {
          if (size < 0) size = chunk.size_bytes();
          received += static_cast<int64_t>(chunk.data().size());
          if (const int64_t most = std::max(size, received); most > max_bytes) {
            local = TooLarge("blob " + digest, most, max_bytes);
          } else {
            hash.Update(chunk.data());
            local = write(chunk.data());
          }
        }
        if (!local.ok()) context.TryCancel();
        return stream->Finish();
      });
  if (!local.ok()) return local;
  KF_RETURN_IF_ERROR(status);
  if (received != size || "sha256:" + hash.Finish() != digest) {
    return Error(absl::StatusCode::kDataLoss,
                 fmt::format("blob {}: {} bytes arrived and they do not have "
                             "this digest",
                             digest, received));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> BlobClient::Download(const std::string& digest,
                                                 int64_t max_bytes) {
  std::string bytes;
  KF_RETURN_IF_ERROR(Receive(digest, max_bytes, [&](std::string_view part) {
    bytes += part;
    return absl::OkStatus();
  }));
  return bytes;
}

absl::Status BlobClient::DownloadFile(const std::string& digest,
                                      const std::string& path,
                                      int64_t max_bytes) {
  std::string temporary = path + ".XXXXXX";
  Fd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.valid()) return ErrnoError(Printable(path), errno);
  absl::Cleanup remove = [&] { ::unlink(temporary.c_str()); };
  KF_RETURN_IF_ERROR(Receive(digest, max_bytes, [&](std::string_view part) {
    return WriteAll(fd.get(), part, Printable(path));
  }));
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    return ErrnoError(Printable(path), errno);
  }
  std::move(remove).Cancel();
  return absl::OkStatus();
}

}  // namespace kernelfleet::rpc
