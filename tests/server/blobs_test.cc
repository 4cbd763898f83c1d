#include "server/blobs.h"

#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>
#include <vector>

#include "common/base/hash.h"
#include "common/base/random.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace kernelfleet::server {
namespace {

using ::kernelfleet::testing::TempDir;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Text(int64_t size) {
  std::string text;
  for (int i = 0; static_cast<int64_t>(text.size()) < size; ++i) {
    text += "buffer_load_dwordx4 v[" + std::to_string(i) + "], s[0:3]\n";
  }
  text.resize(static_cast<size_t>(size));
  return text;
}

std::string Noise(size_t size) {
  SeededRandom random(1);
  std::string noise;
  while (noise.size() < size) {
    const uint64_t bits = random.Next();
    noise.append(reinterpret_cast<const char*>(&bits), sizeof bits);
  }
  noise.resize(size);
  return noise;
}

class Blobs : public ::testing::Test {
 protected:
  void SetUp() override { Reopen({}); }

  void Reopen(BlobStoreOptions options) {
    options.directory = dir_.path();
    options.durable = false;
    ASSERT_OK_AND_ASSIGN(store_, BlobStore::Open(options));
  }

  std::vector<std::string> Files(const std::string& folder) {
    std::vector<std::string> out;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(dir_ / folder)) {
      if (entry.is_regular_file()) out.push_back(entry.path().string());
    }
    return out;
  }

  TempDir dir_;
  std::unique_ptr<BlobStore> store_;
};

TEST_F(Blobs, OfEverySizeComeBackAsTheyWere) {
  for (const int64_t size : {0, 1, 4096, 4097, 128 << 10, 3'000'001}) {
    const std::string text = Text(size);
    ASSERT_OK_AND_ASSIGN(const std::string digest, store_->Put(text));
    EXPECT_EQ(digest, DigestOf(text));
    EXPECT_TRUE(store_->Has(digest));
    ASSERT_OK_AND_ASSIGN(const std::string back, store_->Get(digest));
    EXPECT_EQ(back, text);
  }
}

TEST_F(Blobs, ThatDoNotCompressComeBackToo) {
  const std::string noise = Noise(300'000);
  ASSERT_OK_AND_ASSIGN(const std::string digest, store_->Put(noise));
  ASSERT_OK_AND_ASSIGN(const std::string back, store_->Get(digest));
  EXPECT_EQ(back, noise);
}

TEST_F(Blobs, OfTextTakeLessDiskThanTheirSize) {
  ASSERT_OK(store_->Put(Text(1 << 20)));
  const std::vector<std::string> files = Files("sha256");
  ASSERT_EQ(files.size(), 1u);
  EXPECT_LT(std::filesystem::file_size(files[0]), 1u << 18);
}

TEST_F(Blobs, SurviveReopening) {
  ASSERT_OK_AND_ASSIGN(const std::string digest, store_->Put(Text(9000)));
  Reopen({});
  ASSERT_OK(store_->Sweep());
  EXPECT_TRUE(store_->Has(digest));
  EXPECT_OK(store_->Get(digest));
}

TEST_F(Blobs, StoredTwiceAreOneFile) {
  ASSERT_OK(store_->Put("same"));
  ASSERT_OK(store_->Put("same"));
  EXPECT_EQ(Files("sha256").size(), 1u);
}

TEST_F(Blobs, AreReadFromAnyOffset) {
  for (const std::string& bytes : {Text(4000), Text(500'000)}) {
    ASSERT_OK_AND_ASSIGN(const std::string digest, store_->Put(bytes));
    const auto size = static_cast<int64_t>(bytes.size());
    for (const int64_t offset : {int64_t{0}, int64_t{1}, size / 2, size}) {
      ASSERT_OK_AND_ASSIGN(auto reader, store_->Read(digest, offset));
      EXPECT_EQ(reader->size_bytes(), size);
      ASSERT_OK_AND_ASSIGN(const std::string rest, reader->Read(size));
      EXPECT_EQ(rest, bytes.substr(static_cast<size_t>(offset)));
      ASSERT_OK_AND_ASSIGN(const std::string end, reader->Read(size));
      EXPECT_THAT(end, IsEmpty());
    }
    for (const int64_t offset : {int64_t{-1}, size + 1}) {
      EXPECT_EQ(store_->Read(digest, offset).status().code(),
                absl::StatusCode::kOutOfRange);
    }
  }
}

TEST_F(Blobs, WithTheWrongBytesAreDataLossAndNotKept) {
  const std::string digest = DigestOf("what was meant");
  {
    ASSERT_OK_AND_ASSIGN(auto writer, store_->Write(digest, 4));
    ASSERT_OK(writer->Write("what"));
    EXPECT_EQ(writer->Commit().code(), absl::StatusCode::kDataLoss);
  }
  EXPECT_FALSE(store_->Has(digest));
  EXPECT_THAT(Files("incoming"), IsEmpty());
}

TEST_F(Blobs, ShorterOrLongerThanAnnouncedAreRefused) {
  ASSERT_OK_AND_ASSIGN(auto shorter, store_->Write(DigestOf("four"), 4));
  ASSERT_OK(shorter->Write("fou"));
  EXPECT_EQ(shorter->Commit().code(), absl::StatusCode::kInvalidArgument);
  ASSERT_OK_AND_ASSIGN(auto longer, store_->Write(DigestOf("four"), 4));
  EXPECT_EQ(longer->Write("four!").code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(Blobs, AbandonedWhileWritingLeaveNothing) {
  {
    ASSERT_OK_AND_ASSIGN(auto writer, store_->Write(DigestOf("x"), 1));
    EXPECT_EQ(Files("incoming").size(), 1u);
  }
  EXPECT_THAT(Files("incoming"), IsEmpty());
}

TEST_F(Blobs, LeftByACrashAreSwept) {
  ASSERT_OK(WriteFileAtomic(dir_ / "incoming/a1b2c3", "half a blob"));
  ASSERT_OK(store_->Sweep());
  EXPECT_THAT(Files("incoming"), IsEmpty());
  EXPECT_OK(store_->Put("and the store goes on"));
}

TEST_F(Blobs, NamedByAnythingButADigestDoNotExist) {
  const std::string hex(64, 'a');
  for (const std::string& name :
       {std::string(), std::string("../../etc/passwd"), "sha256:../" + hex,
        "sha256:" + hex + "/..", "SHA256:" + hex, "sha256:" + hex.substr(1),
        "sha256:" + std::string(64, 'A'), "sha256:" + hex + std::string(1, 0),
        "md5:" + hex, std::string(4096, 'a')}) {
    EXPECT_FALSE(store_->Has(name));
    EXPECT_EQ(store_->Get(name).status().code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(store_->Write(name, 1).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(store_->Get("sha256:" + hex).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(Blobs, PastTheLimitsAreRefusedBeforeTheFirstByte) {
  Reopen({.directory = {}, .max_blob_bytes = 10, .max_writers = 1});
  const std::string digest = DigestOf("x");
  EXPECT_EQ(store_->Write(digest, 11).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(store_->Write(digest, -1).status().code(),
            absl::StatusCode::kInvalidArgument);
  ASSERT_OK_AND_ASSIGN(auto first, store_->Write(digest, 1));
  EXPECT_EQ(store_->Write(digest, 1).status().code(),
            absl::StatusCode::kResourceExhausted);
  first.reset();
  EXPECT_OK(store_->Write(digest, 1));
  Reopen({.directory = {}, .min_free_bytes = int64_t{1} << 60});
  const absl::Status full = store_->Write(digest, 1).status();
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(kernelfleet::Text(full), HasSubstr("disk"));
}

TEST_F(Blobs, DamagedOnDiskAreDataLoss) {
  for (const int64_t size : {4000, 400'000}) {
    ASSERT_OK_AND_ASSIGN(const std::string digest, store_->Put(Text(size)));
    for (const std::string& path : Files("sha256")) {
      ASSERT_OK_AND_ASSIGN(const std::string good, ReadFile(path));
      std::string flipped = good;
      flipped[good.size() / 2] ^= 0x20;
      for (const std::string& bad :
           {flipped, good.substr(0, good.size() / 2), std::string()}) {
        ASSERT_OK(WriteFileAtomic(path, bad));
        EXPECT_EQ(store_->Get(digest).status().code(),
                  absl::StatusCode::kDataLoss)
            << bad.size() << " of " << good.size();
      }
      std::filesystem::remove(path);
    }
  }
}

TEST_F(Blobs, WrittenByManyThreadsAtOnceAreAllThere) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 20; ++i) {
        // Half of them are everybody's.
        const int whose = i % 2 == 0 ? t : -1;
        EXPECT_OK(store_->Put(Text(5000 + i) + std::to_string(whose)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Files("sha256").size(), 8u * 10 + 10);
  EXPECT_THAT(Files("incoming"), IsEmpty());
}

}  // namespace
}  // namespace kernelfleet::server
