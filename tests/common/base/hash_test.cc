#include "common/base/hash.h"

#include <gtest/gtest.h>

namespace kernelfleet {
namespace {

TEST(HashTest, MatchesThePublishedVectors) {
  // FIPS 180-4, the empty message and "abc".
  EXPECT_EQ(Sha256Hex(""),
            "e3b0c44298fc1c149afbf4c8996fb924"
            "27ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(DigestOf("abc"),
            "sha256:ba7816bf8f01cfea414140de5dae2223"
            "b00361a396177a9cb410ff61f20015ad");
}

TEST(HashTest, PiecesHashLikeTheWhole) {
  Sha256 hash;
  hash.Update("ab");
  hash.Update("c");
  EXPECT_EQ(hash.Finish(), Sha256Hex("abc"));
}

TEST(HashTest, OnlyADigestNamesABlob) {
  EXPECT_TRUE(IsDigest(DigestOf("x")));
  EXPECT_FALSE(IsDigest("sha256:abc"));
  EXPECT_FALSE(IsDigest("sha256:" + std::string(64, 'G')));
  EXPECT_FALSE(IsDigest("sha256:" + std::string(63, 'a') + "/"));
  EXPECT_FALSE(IsDigest("md5:" + std::string(64, 'a')));
}

}  // namespace
}  // namespace kernelfleet
