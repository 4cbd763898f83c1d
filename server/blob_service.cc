#include "server/blob_service.h"

#include <fmt/format.h>

#include <utility>

#include "common/base/hash.h"
#include "kernelfleet/v1/service.grpc.pb.h"
#include "server/unary.h"

namespace kernelfleet::server {
namespace {

absl::Status Busy() {
  return Error(absl::StatusCode::kResourceExhausted,
               "the server is busy; try again");
}

// One upload: a chunk is read, written on the pool, and only then the next is
// asked for, so that a stream holds one chunk of memory.
class UploadCall final : public grpc::ServerReadReactor<v1::UploadChunk> {
 public:
  UploadCall(grpc::CallbackServerContext* context, BlobStore& blobs,
             Transfers& transfers, WorkPool& disk, v1::UploadResponse* response)
      : blobs_(blobs),
        transfers_(transfers),
        disk_(disk),
        response_(response),
        transfer_(transfers.Add([context] { context->TryCancel(); })) {
    StartRead(&chunk_);
  }

  void OnReadDone(bool more) override {
    transfers_.Moved(transfer_);
    if (!disk_.Post([this, more] { more ? TakeChunk() : Conclude(); })) {
      Finish(rpc::ToGrpc(Busy()));
    }
  }
  void OnDone() override {
    transfers_.Remove(transfer_);
    delete this;
  }

 private:
  void TakeChunk() {
    const bool first = response_->digest().empty();
    if (first && blobs_.Has(chunk_.digest())) {
      response_->set_digest(chunk_.digest());
      Finish(grpc::Status::OK);
      return;
    }
    if (const absl::Status status = Write(first); !status.ok()) {
      Finish(rpc::ToGrpc(status));
      return;
    }
    StartRead(&chunk_);
  }

  absl::Status Write(bool first) {
    if (chunk_.data().size() > static_cast<size_t>(rpc::kMaxChunkBytes)) {
      return InvalidArgument(fmt::format("chunk of {} bytes: the limit is {}",
                                         chunk_.data().size(),
                                         rpc::kMaxChunkBytes));
    }
    if (first) {
      KF_ASSIGN_OR_RETURN(writer_,
                          blobs_.Write(chunk_.digest(), chunk_.size_bytes()));
      response_->set_digest(chunk_.digest());
    }
    return writer_->Write(chunk_.data());
  }

  void Conclude() {
    absl::Status status = writer_ == nullptr
                              ? InvalidArgument("upload without a chunk")
                              : writer_->Commit();
    Finish(rpc::ToGrpc(status));
  }

  BlobStore& blobs_;
  Transfers& transfers_;
  WorkPool& disk_;
  v1::UploadResponse* const response_;
  const uint64_t transfer_;
  v1::UploadChunk chunk_;
  std::unique_ptr<BlobWriter> writer_;
};

class DownloadCall final : public grpc::ServerWriteReactor<v1::DownloadChunk> {
 public:
  DownloadCall(grpc::CallbackServerContext* context, BlobStore& blobs,
               Transfers& transfers, WorkPool& disk,
               const v1::DownloadRequest* request)
      : transfers_(transfers),
        disk_(disk),
        transfer_(transfers.Add([context] { context->TryCancel(); })) {
    Continue([this, &blobs, request] { Open(blobs, *request); });
  }

  void OnWriteDone(bool ok) override {
    transfers_.Moved(transfer_);
    if (!ok) {
      Finish(grpc::Status(grpc::StatusCode::CANCELLED, "the reader went away"));
      return;
    }
    Continue([this] { SendChunk(); });
  }
  void OnDone() override {
    transfers_.Remove(transfer_);
    delete this;
  }

 private:
  void Continue(std::function<void()> step) {
    if (!disk_.Post(std::move(step))) Finish(rpc::ToGrpc(Busy()));
  }

  void Open(BlobStore& blobs, const v1::DownloadRequest& request) {
    auto reader = blobs.Read(request.digest(), request.offset());
    if (!reader.ok()) {
      Finish(rpc::ToGrpc(reader.status()));
      return;
    }
    reader_ = *std::move(reader);
    chunk_.set_size_bytes(reader_->size_bytes());
    SendChunk();
  }

  // The first chunk is sent even when it is empty: it carries the size.
  void SendChunk() {
    absl::StatusOr<std::string> bytes = reader_->Read(rpc::kChunkBytes);
    if (!bytes.ok() || (bytes->empty() && sent_)) {
      Finish(rpc::ToGrpc(bytes.status()));
      return;
    }
    if (sent_) chunk_.clear_size_bytes();
    sent_ = true;
    chunk_.set_data(*std::move(bytes));
    StartWrite(&chunk_);
  }

  Transfers& transfers_;
  WorkPool& disk_;
  const uint64_t transfer_;
  std::unique_ptr<BlobReader> reader_;
  v1::DownloadChunk chunk_;
  bool sent_ = false;
};

class BlobHandlers final : public v1::BlobService::CallbackService {
 public:
  BlobHandlers(BlobStore& blobs, Transfers& transfers, WorkPool& disk)
      : blobs_(blobs), transfers_(transfers), disk_(disk) {}

  grpc::ServerUnaryReactor* FindMissing(
      grpc::CallbackServerContext* context,
      const v1::FindMissingRequest* request,
      v1::FindMissingResponse* response) override {
    return FinishOn<v1::FindMissingResponse>(
        disk_, context, response,
        [this, request] { return Missing(*request); });
  }

  grpc::ServerReadReactor<v1::UploadChunk>* Upload(
      grpc::CallbackServerContext* context,
      v1::UploadResponse* response) override {
    return new UploadCall(context, blobs_, transfers_, disk_, response);
  }

  grpc::ServerWriteReactor<v1::DownloadChunk>* Download(
      grpc::CallbackServerContext* context,
      const v1::DownloadRequest* request) override {
    return new DownloadCall(context, blobs_, transfers_, disk_, request);
  }

 private:
  absl::StatusOr<v1::FindMissingResponse> Missing(
      const v1::FindMissingRequest& request) const {
    if (request.digests_size() > rpc::kMaxDigestsPerCall) {
      return InvalidArgument(fmt::format("{} digests: the limit is {} a call",
                                         request.digests_size(),
                                         rpc::kMaxDigestsPerCall));
    }
    v1::FindMissingResponse response;
    for (const std::string& digest : request.digests()) {
      KF_RETURN_IF_ERROR(CheckDigest(digest));
      if (!blobs_.Has(digest)) response.add_digests(digest);
    }
    return response;
  }

  BlobStore& blobs_;
  Transfers& transfers_;
  WorkPool& disk_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeBlobService(BlobStore& blobs,
                                               Transfers& transfers,
                                               WorkPool& disk) {
  return std::make_unique<BlobHandlers>(blobs, transfers, disk);
}

}  // namespace kernelfleet::server
