#include "cli/server_address.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "common/base/file.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace kernelfleet::cli {
namespace {

constexpr Flag kFlags[] = {{"--server", "HOST:PORT", ""}};

class ServerAddressTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("XDG_CONFIG_HOME", dir_.path().c_str(), 1);
    ::unsetenv("KERNELFLEET_SERVER");
    ASSERT_OK(MakeDirectories(dir_ / "kernelfleet"));
  }
  void Config(const std::string& text) {
    ASSERT_OK(WriteFileAtomic(dir_ / "kernelfleet/config.toml", text));
  }
  static absl::StatusOr<std::string> Find(std::vector<std::string> words = {}) {
    return FindServer(*ParseArguments(kFlags, words));
  }
  testing::TempDir dir_;
};

TEST_F(ServerAddressTest, TheFlagBeatsTheEnvironmentBeatsTheFile) {
  EXPECT_EQ(*Find(), "127.0.0.1:7411");
  Config("server = \"10.0.0.1:1\"\n");
  EXPECT_EQ(*Find(), "10.0.0.1:1");
  ::setenv("KERNELFLEET_SERVER", "10.0.0.2:2", 1);
  EXPECT_EQ(*Find(), "10.0.0.2:2");
  EXPECT_EQ(*Find({"--server", "10.0.0.3:3"}), "10.0.0.3:3");
}

TEST_F(ServerAddressTest, ABrokenConfigFileIsSaidWithItsPlace) {
  Config("server = 7411\n");
  EXPECT_TRUE(Text(Find().status())
                  .ends_with("config.toml:1:1: server must be a string"));
  Config("sevrer = \"x\"\n");
  EXPECT_NE(Text(Find().status()).find("unknown key 'sevrer'"),
            std::string::npos);
}

}  // namespace
}  // namespace kernelfleet::cli
