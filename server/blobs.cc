#include "server/blobs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <utility>

#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/base/strings.h"

namespace kernelfleet::server {
namespace {

constexpr int64_t kDiskBlock = 4096;
constexpr int kLevel = 1;
constexpr std::string_view kSuffix = ".zst";
// Of compressed bytes read or written at once.
constexpr size_t kBufferBytes = 128 << 10;

absl::Status Exhausted(std::string_view text) {
  return Error(absl::StatusCode::kResourceExhausted, text);
}

absl::Status Damaged(std::string_view digest, std::string_view how) {
  return Error(absl::StatusCode::kDataLoss,
               fmt::format("blob {}: {}", digest, how));
}

// Only a checked digest becomes a path, so no name can leave the store.
struct BlobPath {
  BlobPath(const std::string& root, std::string_view digest)
      : folder(JoinPath(root, digest.substr(7, 2))),
        raw(JoinPath(folder, digest.substr(9))),
        zstd(raw + std::string(kSuffix)) {}
  std::string folder;
  std::string raw;
  std::string zstd;
};

absl::Status SyncFolder(const std::string& folder) {
  Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid() || ::fsync(fd.get()) != 0) return ErrnoError(folder, errno);
  return absl::OkStatus();
}

struct CompressorDeleter {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};
struct DecompressorDeleter {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

class FileWriter final : public BlobWriter {
 public:
  FileWriter(std::string_view digest, int64_t size, BlobPath path,
             std::string temporary, Fd fd, bool durable,
             std::atomic<int>& writers)
      : digest_(digest),
        size_(size),
        path_(std::move(path)),
        temporary_(std::move(temporary)),
        fd_(std::move(fd)),
        durable_(durable),
        writers_(writers) {
    if (size_ <= kDiskBlock) return;
    compressor_.reset(ZSTD_createCCtx());
    ZSTD_CCtx_setParameter(compressor_.get(), ZSTD_c_compressionLevel, kLevel);
    // Sizes the tables to the blob, and tells the reader its size.
    ZSTD_CCtx_setPledgedSrcSize(compressor_.get(),
                                static_cast<unsigned long long>(size_));
  }

  ~FileWriter() override {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    --writers_;
  }

  absl::Status Write(std::string_view bytes) override {
    written_ += static_cast<int64_t>(bytes.size());
    if (written_ > size_) {
      return InvalidArgument(fmt::format(
          "blob {}: more than the announced {} bytes", digest_, size_));
    }
    hash_.Update(bytes);
    if (compressor_ == nullptr) return WriteAll(fd_.get(), bytes, temporary_);
    return Compress(bytes, ZSTD_e_continue);
  }

  absl::Status Commit() override {
    if (written_ != size_) {
      return InvalidArgument(fmt::format("blob {}: {} of {} bytes arrived",
                                         digest_, written_, size_));
    }
    if ("sha256:" + hash_.Finish() != digest_) {
      return Damaged(digest_, "the bytes that arrived have another digest");
    }
    if (compressor_ != nullptr) KF_RETURN_IF_ERROR(Compress({}, ZSTD_e_end));
    if (durable_ && ::fdatasync(fd_.get()) != 0) {
      return ErrnoError(temporary_, errno);
    }
    const std::string& path = compressor_ ? path_.zstd : path_.raw;
    if (::rename(temporary_.c_str(), path.c_str()) != 0) {
      return ErrnoError(path, errno);
    }
    temporary_.clear();
    return durable_ ? SyncFolder(path_.folder) : absl::OkStatus();
  }

 private:
  absl::Status Compress(std::string_view bytes, ZSTD_EndDirective directive) {
    ZSTD_inBuffer in = {bytes.data(), bytes.size(), 0};
    std::string buffer(std::min<size_t>(kBufferBytes, ZSTD_CStreamOutSize()),
                       '\0');
    for (;;) {
      ZSTD_outBuffer out = {buffer.data(), buffer.size(), 0};
      const size_t left =
          ZSTD_compressStream2(compressor_.get(), &out, &in, directive);
      if (ZSTD_isError(left)) {
        return Internal(
            fmt::format("blob {}: zstd: {}", digest_, ZSTD_getErrorName(left)));
      }
      KF_RETURN_IF_ERROR(WriteAll(
          fd_.get(), std::string_view(buffer).substr(0, out.pos), temporary_));
      if (directive == ZSTD_e_end ? left == 0 : in.pos == in.size) break;
    }
    return absl::OkStatus();
  }

  const std::string digest_;
  const int64_t size_;
  const BlobPath path_;
  std::string temporary_;
  Fd fd_;
  const bool durable_;
  std::atomic<int>& writers_;
  std::unique_ptr<ZSTD_CCtx, CompressorDeleter> compressor_;
  Sha256 hash_;
  int64_t written_ = 0;
};

class FileReader final : public BlobReader {
 public:
  FileReader(std::string_view digest, Fd fd)
      : digest_(digest), fd_(std::move(fd)) {}

  absl::Status OpenRaw() {
    struct stat info = {};
    if (::fstat(fd_.get(), &info) != 0) return ErrnoError(digest_, errno);
    size_ = info.st_size;
    return absl::OkStatus();
  }

  absl::Status OpenZstd() {
    decompressor_.reset(ZSTD_createDCtx());
    KF_RETURN_IF_ERROR(Fill());
    const unsigned long long size =
        ZSTD_getFrameContentSize(buffer_.data(), buffer_.size());
    if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR) {
      return Damaged(digest_, "the file is not what was written");
    }
    size_ = static_cast<int64_t>(size);
    return absl::OkStatus();
  }

  absl::Status Skip(int64_t offset) {
    if (offset < 0 || offset > size_) {
      return Error(absl::StatusCode::kOutOfRange,
                   fmt::format("blob {}: offset {} of {} bytes", digest_,
                               offset, size_));
    }
    if (offset == 0) return absl::OkStatus();
    if (decompressor_ == nullptr) {
      hash_.reset();
      position_ = offset;
      if (::lseek(fd_.get(), offset, SEEK_SET) != offset) {
        return ErrnoError(digest_, errno);
      }
      return absl::OkStatus();
    }
    while (position_ < offset) {
      KF_RETURN_IF_ERROR(
          Read(std::min<int64_t>(kBufferBytes, offset - position_)).status());
    }
    return absl::OkStatus();
  }

  int64_t size_bytes() const override { return size_; }

  absl::StatusOr<std::string> Read(int64_t max_bytes) override {
    std::string bytes(
        static_cast<size_t>(std::min(max_bytes, size_ - position_)), '\0');
    KF_RETURN_IF_ERROR(decompressor_ ? Decompress(bytes) : ReadRaw(bytes));
    position_ += static_cast<int64_t>(bytes.size());
    if (hash_) hash_->Update(bytes);
    if (hash_ && position_ == size_) {
      const std::string digest = "sha256:" + hash_->Finish();
      hash_.reset();
      if (digest != digest_) return Damaged(digest_, "damaged on disk");
    }
    return bytes;
  }

 private:
  absl::Status ReadRaw(std::string& bytes) {
    for (size_t done = 0; done < bytes.size();) {
      const ssize_t n =
          ::read(fd_.get(), bytes.data() + done, bytes.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return ErrnoError(digest_, errno);
      if (n == 0) return Damaged(digest_, "the file is too short");
      done += static_cast<size_t>(n);
    }
    return absl::OkStatus();
  }

  absl::Status Decompress(std::string& bytes) {
    ZSTD_outBuffer out = {bytes.data(), bytes.size(), 0};
    while (out.pos < out.size) {
      if (in_.pos == in_.size) KF_RETURN_IF_ERROR(Fill());
      const size_t result =
          ZSTD_decompressStream(decompressor_.get(), &out, &in_);
      if (ZSTD_isError(result)) {
        return Damaged(digest_, ZSTD_getErrorName(result));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Fill() {
    buffer_.resize(kBufferBytes);
    ssize_t n = 0;
    do {
      n = ::read(fd_.get(), buffer_.data(), buffer_.size());
    } while (n < 0 && errno == EINTR);
    if (n < 0) return ErrnoError(digest_, errno);
    if (n == 0) return Damaged(digest_, "the file is too short");
    buffer_.resize(static_cast<size_t>(n));
    in_ = {buffer_.data(), buffer_.size(), 0};
    return absl::OkStatus();
  }

  const std::string digest_;
  Fd fd_;
  std::unique_ptr<ZSTD_DCtx, DecompressorDeleter> decompressor_;
  std::string buffer_;
  ZSTD_inBuffer in_ = {nullptr, 0, 0};
  int64_t size_ = 0;
  int64_t position_ = 0;
  // Absent once the digest was checked or can no longer be.
  std::optional<Sha256> hash_{std::in_place};
};

}  // namespace

absl::Status CheckDigest(std::string_view digest) {
  if (IsDigest(digest)) return absl::OkStatus();
  return InvalidArgument(
      fmt::format("\"{}\" is not a digest; digests are sha256: and 64 "
                  "lower-case hex digits",
                  Printable(Shorten(digest, 100))));
}

BlobStore::BlobStore(BlobStoreOptions options)
    : options_(std::move(options)),
      incoming_(JoinPath(options_.directory, "incoming")),
      root_(JoinPath(options_.directory, "sha256")) {}

absl::StatusOr<std::unique_ptr<BlobStore>> BlobStore::Open(
    BlobStoreOptions options) {
  std::unique_ptr<BlobStore> store(new BlobStore(std::move(options)));
  KF_RETURN_IF_ERROR(MakeDirectories(store->incoming_));
  KF_RETURN_IF_ERROR(MakeDirectories(store->root_));
  if (store->options_.durable) {
    KF_RETURN_IF_ERROR(SyncFolder(store->options_.directory));
  }
  return store;
}

absl::Status BlobStore::Sweep() {
  KF_RETURN_IF_ERROR(RemoveTree(incoming_));
  return MakeDirectories(incoming_);
}

bool BlobStore::Has(std::string_view digest) const {
  if (!IsDigest(digest)) return false;
  const BlobPath path(root_, digest);
  return PathExists(path.zstd) || PathExists(path.raw);
}

absl::StatusOr<std::unique_ptr<BlobReader>> BlobStore::Read(
    std::string_view digest, int64_t offset) const {
  KF_RETURN_IF_ERROR(CheckDigest(digest));
  const BlobPath path(root_, digest);
  Fd fd(::open(path.zstd.c_str(), O_RDONLY | O_CLOEXEC));
  const bool compressed = fd.valid();
  if (!compressed) fd = Fd(::open(path.raw.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) {
    if (errno == ENOENT) return NotFound(fmt::format("no blob {}", digest));
    return ErrnoError(digest, errno);
  }
  auto reader = std::make_unique<FileReader>(digest, std::move(fd));
  KF_RETURN_IF_ERROR(compressed ? reader->OpenZstd() : reader->OpenRaw());
  KF_RETURN_IF_ERROR(reader->Skip(offset));
  return reader;
}

absl::StatusOr<std::string> BlobStore::Get(std::string_view digest) const {
  KF_ASSIGN_OR_RETURN(auto reader, Read(digest));
  std::string bytes;
  // In parts: the size of a damaged file may be any number.
  for (;;) {
    KF_ASSIGN_OR_RETURN(const std::string part, reader->Read(1 << 20));
    if (part.empty()) return bytes;
    bytes += part;
  }
}

absl::StatusOr<std::unique_ptr<BlobWriter>> BlobStore::Write(
    std::string_view digest, int64_t size_bytes) {
  KF_RETURN_IF_ERROR(CheckDigest(digest));
  if (size_bytes < 0) {
    return InvalidArgument(fmt::format("blob of {} bytes", size_bytes));
  }
  if (size_bytes > options_.max_blob_bytes) {
    return Exhausted(
        fmt::format("blob of {} bytes: the server takes at most {}", size_bytes,
                    options_.max_blob_bytes));
  }
  struct statvfs disk = {};
  if (::statvfs(incoming_.c_str(), &disk) != 0) {
    return ErrnoError(incoming_, errno);
  }
  const auto free = static_cast<int64_t>(disk.f_bavail * disk.f_frsize);
  if (free - size_bytes < options_.min_free_bytes) {
    return Exhausted(fmt::format(
        "blob of {} bytes: the server's disk has only {} bytes left",
        size_bytes, free));
  }
  BlobPath path(root_, digest);
  if (::mkdir(path.folder.c_str(), 0700) == 0) {
    if (options_.durable) KF_RETURN_IF_ERROR(SyncFolder(root_));
  } else if (errno != EEXIST) {
    return ErrnoError(path.folder, errno);
  }
  if (++writers_ > options_.max_writers) {
    --writers_;
    return Exhausted("too many uploads at once");
  }
  std::string temporary = JoinPath(incoming_, "XXXXXX");
  Fd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.valid()) {
    const int error = errno;
    --writers_;
    return ErrnoError(incoming_, error);
  }
  return std::make_unique<FileWriter>(digest, size_bytes, std::move(path),
                                      std::move(temporary), std::move(fd),
                                      options_.durable, writers_);
}

absl::StatusOr<std::string> BlobStore::Put(std::string_view bytes) {
  std::string digest = DigestOf(bytes);
  if (Has(digest)) return digest;
  KF_ASSIGN_OR_RETURN(auto writer,
                      Write(digest, static_cast<int64_t>(bytes.size())));
  KF_RETURN_IF_ERROR(writer->Write(bytes));
  KF_RETURN_IF_ERROR(writer->Commit());
  return digest;
}

}  // namespace kernelfleet::server
