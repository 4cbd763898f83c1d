#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "common/base/hash.h"
#include "common/rpc/limits.h"
#include "common/rpc/status.h"
#include "tests/server/server_fixture.h"
#include "tests/support/fake_clock.h"

namespace kernelfleet::server {
namespace {

using ::testing::ElementsAre;

class BlobServiceTest : public ServerTest {
 protected:
  // Sends these chunks as they are and returns what the server says.
  absl::Status Send(const std::vector<v1::UploadChunk>& chunks) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::seconds(10));
    v1::UploadResponse response;
    auto stream = blobs_->Upload(&context, &response);
    for (const v1::UploadChunk& chunk : chunks) {
      if (!stream->Write(chunk)) break;
    }
    stream->WritesDone();
    return rpc::FromGrpc(stream->Finish());
  }

  v1::UploadChunk Chunk(const std::string& digest, int64_t size,
                        const std::string& data) {
    v1::UploadChunk chunk;
    chunk.set_digest(digest);
    chunk.set_size_bytes(size);
    chunk.set_data(data);
    return chunk;
  }
};

TEST_F(BlobServiceTest, CarriesBlobsOfManyChunksThereAndBack) {
  rpc::BlobClient client(channel_, kOnce);
  for (const size_t size : {size_t{0}, size_t{1}, size_t{3'000'001}}) {
    std::string bytes(size, 'x');
    for (size_t i = 0; i < size; i += 7) bytes[i] = static_cast<char>(i);
    ASSERT_OK_AND_ASSIGN(const std::string digest, client.Upload(bytes));
    EXPECT_EQ(digest, DigestOf(bytes));
    ASSERT_OK_AND_ASSIGN(const std::string back, client.Download(digest));
    EXPECT_EQ(back, bytes);
    EXPECT_OK(client.Upload(bytes));
  }
}

TEST_F(BlobServiceTest, CarriesFilesThereAndBack) {
  rpc::BlobClient client(channel_, kOnce);
  const std::string text(700'000, 'k');
  ASSERT_OK(WriteFileAtomic(dir_ / "in", text));
  Fd fd(::open((dir_ / "in").c_str(), O_RDONLY));
  ASSERT_OK_AND_ASSIGN(const std::string digest, client.UploadFile(fd.get()));
  ASSERT_OK(client.DownloadFile(digest, dir_ / "out"));
  ASSERT_OK_AND_ASSIGN(const std::string back, ReadFile(dir_ / "out"));
  EXPECT_EQ(back, text);
  EXPECT_EQ(client.UploadFile(fd.get(), 1000).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(client.Download(digest, 1000).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST_F(BlobServiceTest, LeavesTheOldFileWhenADownloadFails) {
  rpc::BlobClient client(channel_, kOnce);
  ASSERT_OK(WriteFileAtomic(dir_ / "out", "old"));
  EXPECT_EQ(
      client.DownloadFile(DigestOf("nobody has this"), dir_ / "out").code(),
      absl::StatusCode::kNotFound);
  ASSERT_OK_AND_ASSIGN(const std::string kept, ReadFile(dir_ / "out"));
  EXPECT_EQ(kept, "old");
}

TEST_F(BlobServiceTest, SaysWhichBlobsAreMissing) {
  rpc::BlobClient client(channel_, kOnce);
  ASSERT_OK_AND_ASSIGN(const std::string have, client.Upload("have"));
  const std::string lack = DigestOf("lack");
  ASSERT_OK_AND_ASSIGN(const auto missing, client.FindMissing({have, lack}));
  EXPECT_THAT(missing, ElementsAre(lack));
  EXPECT_EQ(client.FindMissing({"../x"}).status().code(),
            absl::StatusCode::kInvalidArgument);
  v1::FindMissingRequest request;
  for (int i = 0; i <= rpc::kMaxDigestsPerCall; ++i) request.add_digests(lack);
  EXPECT_EQ(
      rpc::Call(*blobs_, &Blobs::FindMissing, request, kOnce).status().code(),
      absl::StatusCode::kInvalidArgument);
}

TEST_F(BlobServiceTest, AnswersWrongBytesWithDataLossAndKeepsNothing) {
  const std::string digest = DigestOf("what was meant");
  EXPECT_EQ(Send({Chunk(digest, 4, "what")}).code(),
            absl::StatusCode::kDataLoss);
  ASSERT_OK_AND_ASSIGN(const auto missing,
                       rpc::BlobClient(channel_).FindMissing({digest}));
  EXPECT_THAT(missing, ElementsAre(digest));
}

TEST_F(BlobServiceTest, RefusesUploadsThatMakeNoSense) {
  const std::string digest = DigestOf("four");
  const std::string too_long(rpc::kMaxChunkBytes + 1, 'x');
  EXPECT_EQ(Send({}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Send({Chunk("../../etc/x", 1, "x")}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Send({Chunk(digest, -1, "four")}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Send({Chunk(digest, 4, "fou")}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Send({Chunk(digest, 4, "four"), Chunk("", 0, "!")}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Send({Chunk(digest, 1 << 20, too_long)}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Send({Chunk(digest, rpc::kMaxBlobBytes + 1, "x")}).code(),
            absl::StatusCode::kResourceExhausted);
}

TEST_F(BlobServiceTest, DownloadsFromAnOffset) {
  ASSERT_OK_AND_ASSIGN(const std::string digest,
                       rpc::BlobClient(channel_).Upload("0123456789"));
  const auto read = [&](int64_t offset, std::string* out) {
    grpc::ClientContext context;
    v1::DownloadRequest request;
    request.set_digest(digest);
    request.set_offset(offset);
    auto stream = blobs_->Download(&context, request);
    v1::DownloadChunk chunk;
    while (stream->Read(&chunk)) *out += chunk.data();
    return rpc::FromGrpc(stream->Finish());
  };
  std::string rest;
  ASSERT_OK(read(7, &rest));
  EXPECT_EQ(rest, "789");
  EXPECT_EQ(read(11, &rest).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(read(-1, &rest).code(), absl::StatusCode::kOutOfRange);
}

class SilentPeerTest : public ServerTest {
 protected:
  ServerOptions Options() override {
    ServerOptions options = ServerTest::Options();
    options.clock = &clock_;
    return options;
  }

  // Members of the base, which use it, would outlive it otherwise.
  ~SilentPeerTest() override { server_.reset(); }

  kernelfleet::testing::FakeClock clock_;
};

TEST_F(SilentPeerTest, IsCutOffInTheMiddleOfAnUpload) {
  grpc::ClientContext context;
  v1::UploadResponse response;
  auto stream = blobs_->Upload(&context, &response);
  v1::UploadChunk chunk;
  chunk.set_digest(DigestOf("two chunks"));
  chunk.set_size_bytes(10);
  chunk.set_data("two ");
  ASSERT_TRUE(stream->Write(chunk));
  // The server may take a moment to see the chunk, and time stands still.
  std::atomic<bool> ended = false;
  std::thread time([&] {
    while (!ended) {
      clock_.Advance(absl::Seconds(5));
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
  EXPECT_EQ(rpc::FromGrpc(stream->Finish()).code(),
            absl::StatusCode::kCancelled);
  ended = true;
  time.join();
}

}  // namespace
}  // namespace kernelfleet::server
