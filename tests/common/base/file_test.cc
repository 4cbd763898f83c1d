#include "common/base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace kernelfleet {
namespace {

using testing::TempDir;

TEST(FileTest, WhatWasWrittenIsRead) {
  TempDir dir;
  const std::string bytes("a\0b\n", 4);
  ASSERT_OK(WriteFileAtomic(dir / "f", bytes, Sync::kYes));
  ASSERT_OK_AND_ASSIGN(const std::string read, ReadFile(dir / "f"));
  EXPECT_EQ(read, bytes);
}

TEST(FileTest, ProcFilesOfUnknownSizeAreReadWhole) {
  ASSERT_OK_AND_ASSIGN(const std::string read, ReadFile("/proc/self/status"));
  EXPECT_NE(read.find("VmRSS"), std::string::npos);
}

TEST(FileTest, ADirectoryIsRefusedWithOneSentence) {
  TempDir dir;
  const auto read = ReadFile(dir.path());
  ASSERT_FALSE(read.ok());
  EXPECT_TRUE(Text(read.status()).ends_with("not a regular file"));
}

TEST(FileTest, AFifoIsRefusedWithoutBlocking) {
  TempDir dir;
  ASSERT_EQ(::mkfifo((dir / "p").c_str(), 0600), 0);
  EXPECT_FALSE(ReadFile(dir / "p").ok());
}

TEST(FileTest, FilesPastTheLimitAreRefused) {
  TempDir dir;
  ASSERT_OK(WriteFileAtomic(dir / "f", std::string(100, 'x')));
  EXPECT_EQ(ReadFile(dir / "f", 99).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_OK(ReadFile(dir / "f", 100));
}

TEST(FileTest, BeneathRefusesLinksOutAndHardLinks) {
  TempDir dir;
  ASSERT_OK(WriteFileAtomic(dir / "secret", "s"));
  ASSERT_OK(MakeDirectories(dir / "box"));
  const std::string box = dir / "box";
  ASSERT_EQ(::symlink((dir / "secret").c_str(), (box + "/soft").c_str()), 0);
  ASSERT_EQ(::link((dir / "secret").c_str(), (box + "/hard").c_str()), 0);
  ASSERT_OK(WriteFileAtomic(box + "/own", "fine"));
  EXPECT_FALSE(ReadFileBeneath(box, "soft", 100).ok());
  EXPECT_FALSE(ReadFileBeneath(box, "hard", 100).ok());
  EXPECT_FALSE(ReadFileBeneath(box, "../secret", 100).ok());
  EXPECT_FALSE(ReadFileBeneath(box, dir / "secret", 100).ok());
  ASSERT_OK_AND_ASSIGN(const std::string own, ReadFileBeneath(box, "own", 100));
  EXPECT_EQ(own, "fine");
}

TEST(FileTest, RemoveTreeDoesNotFollowLinks) {
  TempDir dir;
  ASSERT_OK(MakeDirectories(dir / "keep"));
  ASSERT_OK(MakeDirectories(dir / "gone/deep"));
  ASSERT_EQ(::symlink((dir / "keep").c_str(), (dir / "gone/link").c_str()), 0);
  ASSERT_OK(RemoveTree(dir / "gone"));
  EXPECT_FALSE(PathExists(dir / "gone"));
  EXPECT_TRUE(PathExists(dir / "keep"));
}

TEST(FileTest, PathsJoinWithOneSlash) {
  EXPECT_EQ(JoinPath("a", "b"), "a/b");
  EXPECT_EQ(JoinPath("a/", "b"), "a/b");
  EXPECT_EQ(JoinPath("a", "/b"), "/b");
  EXPECT_EQ(JoinPath("", "b"), "b");
}

}  // namespace
}  // namespace kernelfleet
