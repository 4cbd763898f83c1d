// The attempt's folder as an attacker may leave it.
#include "agent/collect.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/file.h"
#include "common/base/hash.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace kernelfleet::agent {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class CollectTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& bytes) {
    ASSERT_OK(WriteFileAtomic(folder_ / name, bytes));
  }
  // A compiled result that lists these artifacts.
  void WriteResult(const std::vector<std::string>& artifacts,
                   const std::string& kind = "ttir") {
    std::string list;
    for (const std::string& name : artifacts) {
      list += fmt::format(R"({}{{"name": "{}", "kind": "{}"}})",
                          list.empty() ? "" : ",", name, kind);
    }
    Write("result.json",
          fmt::format(R"({{"outcome": "compiled", "artifacts": [{}]}})", list));
  }
  v1::TaskResult Collect() { return Collect(Ended(0)); }
  v1::TaskResult Collect(const PhaseEnd& end) {
    return CollectResult(folder_.path(), end, "last words", limits_);
  }
  static PhaseEnd Ended(int status, int signal = 0) {
    PhaseEnd end;
    end.exit_status = signal ? -1 : status;
    end.signal = signal;
    return end;
  }

  testing::TempDir folder_;
  CollectLimits limits_;
};

TEST_F(CollectTest, NamesBytesByDigestAndCountsInstructions) {
  WriteResult({"kernel.ptx"}, "ptx");
  const std::string ptx =
      ".version 8.7\n.target sm_90a\n.address_size 64\n"
      ".visible .entry add(\n\t.param .u64 p\n)\n{\n"
      "\tld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];\n\tret;\n}\n";
  Write("kernel.ptx", ptx);
  const v1::TaskResult result = Collect();
  ASSERT_EQ(result.probe().artifacts_size(), 1);
  EXPECT_EQ(result.probe().artifacts(0).digest(), DigestOf(ptx));
  EXPECT_EQ(result.probe().artifacts(0).size_bytes(),
            static_cast<int64_t>(ptx.size()));
  ASSERT_EQ(result.isa_size(), 1);
  EXPECT_EQ(result.isa(0).symbol(), "add");
  EXPECT_EQ(result.isa(0).dialect(), "ptx");
}

TEST_F(CollectTest, LinksAndSpecialFilesAreNoArtifacts) {
  Write("secret", "token");
  testing::TempDir elsewhere;
  ASSERT_OK(WriteFileAtomic(elsewhere / "key", "token"));
  ASSERT_EQ(::symlink((elsewhere / "key").c_str(), (folder_ / "a").c_str()), 0);
  ASSERT_EQ(::link((elsewhere / "key").c_str(), (folder_ / "b").c_str()), 0);
  ASSERT_EQ(::mkfifo((folder_ / "c").c_str(), 0600), 0);
  ASSERT_EQ(::mkdir((folder_ / "d").c_str(), 0700), 0);
  WriteResult({"a", "b", "c", "d", "missing"});
  const v1::TaskResult result = Collect();
  EXPECT_EQ(result.probe().outcome(), v1::Outcome::compiled);
  EXPECT_EQ(result.probe().artifacts_size(), 0);
  EXPECT_EQ(result.probe().warnings_size(), 5);
}

TEST_F(CollectTest, ALinkInPlaceOfTheResultIsNoResult) {
  testing::TempDir elsewhere;
  ASSERT_OK(WriteFileAtomic(elsewhere / "r", R"({"outcome": "compiled"})"));
  ASSERT_EQ(
      ::symlink((elsewhere / "r").c_str(), (folder_ / "result.json").c_str()),
      0);
  EXPECT_EQ(Collect().probe().outcome(), v1::Outcome::invalid_result);
}

TEST_F(CollectTest, OnlyPlainNamesNameArtifacts) {
  for (const char* name : {"kernel.ptx", "a", "A-1_b.json"}) {
    EXPECT_TRUE(IsArtifactName(name)) << name;
  }
  for (const std::string& name :
       {std::string(""), std::string("."), std::string(".."),
        std::string("../x"), std::string("/etc/passwd"), std::string("a/b"),
        std::string(".hidden"), std::string("a b"), std::string("a\nb"),
        std::string("a\0b", 3), std::string("C:\\x"), std::string("\u0430.ptx"),
        std::string("result.json"), std::string("module.py"),
        std::string(129, 'x')}) {
    EXPECT_FALSE(IsArtifactName(name)) << name;
  }
}

TEST_F(CollectTest, SizeAndCountAreCapped) {
  limits_.artifact_bytes = 10;
  limits_.artifacts = 2;
  Write("big", std::string(11, 'x'));
  for (const char* name : {"a", "b", "c"}) Write(name, "0123456789");
  WriteResult({"big", "a", "a", "b", "c"});
  const v1::TaskResult result = Collect();
  ASSERT_EQ(result.probe().artifacts_size(), 2);
  EXPECT_EQ(result.probe().artifacts(0).name(), "a");
  EXPECT_EQ(result.probe().artifacts(1).name(), "b");
  limits_.total_bytes = 15;
  EXPECT_EQ(Collect().probe().artifacts_size(), 1);
}

TEST_F(CollectTest, AForgedResultIsInvalid) {
  const std::string bad[] = {
      "",
      "{",
      "[]",
      "null",
      R"({"outcome": "compiled"} {"outcome": "crashed"})",
      R"({"outcome": "magnificent"})",
      R"({"outcome": 99})",
      R"({})",
      R"({"outcome": "compiled", "total_ms": -1})",
      R"({"outcome": "compiled", "total_ms": "NaN"})",
      R"({"outcome": "compiled", "total_ms": "Infinity"})",
      R"({"outcome": "compiled", "stages": [{"name": "ptx", "ms": -3}]})",
      R"({"outcome": "compiled", "peak_rss_bytes": -5})",
      "{\"outcome\": \"compiled\", \"symbol\": \"\xff\xfe\"}",
      std::string(200000, '['),
  };
  for (const std::string& text : bad) {
    Write("result.json", text);
    const v1::TaskResult result = Collect();
    EXPECT_EQ(result.probe().outcome(), v1::Outcome::invalid_result)
        << text.substr(0, 100);
    EXPECT_FALSE(result.probe().failure().message().empty());
  }
}

TEST_F(CollectTest, AResultFromANewerRunnerIsRead) {
  Write("result.json", R"({"outcome": "compiled", "of_the_future": {"a": 1}})");
  EXPECT_EQ(Collect().probe().outcome(), v1::Outcome::compiled);
}

TEST_F(CollectTest, WithoutAResultTheEndOfTheProcessIsTheFinding) {
  v1::TaskResult result = Collect(Ended(0, 11));
  EXPECT_EQ(result.probe().outcome(), v1::Outcome::crashed);
  EXPECT_EQ(result.probe().failure().signal(), 11);
  EXPECT_THAT(result.probe().failure().message(), HasSubstr("last words"));

  result = Collect(Ended(3));
  EXPECT_EQ(result.probe().outcome(), v1::Outcome::invalid_result);
  EXPECT_EQ(result.probe().failure().exit_status(), 3);

  result = Collect(Ended(0, 25));
  EXPECT_EQ(result.probe().outcome(), v1::Outcome::limit_exceeded);

  PhaseEnd late = Ended(0, 9);
  late.timed_out = true;
  EXPECT_EQ(Collect(late).probe().outcome(), v1::Outcome::timed_out);
}

TEST_F(CollectTest, AResultAndThenASignalKeepsTheResultAndSaysSo) {
  WriteResult({});
  const v1::TaskResult result = Collect(Ended(0, 11));
  EXPECT_EQ(result.probe().outcome(), v1::Outcome::compiled);
  EXPECT_THAT(result.probe().warnings(), Contains(HasSubstr("signal 11")));
}

TEST_F(CollectTest, FloodsOfTextAreCut) {
  std::string warnings;
  for (int i = 0; i < 1000; ++i) {
    warnings += fmt::format("{}\"{}\"", i ? "," : "", std::string(900, 'w'));
  }
  Write("result.json",
        fmt::format(R"({{"outcome": "compile_error", "warnings": [{}],
            "detail_json": "{}", "failure": {{"message": "{}"}}}})",
                    warnings, std::string(300 << 10, 'd'),
                    std::string(1 << 20, 'm')));
  const v1::TaskResult result = Collect();
  EXPECT_EQ(result.probe().outcome(), v1::Outcome::compile_error);
  EXPECT_LE(result.ByteSizeLong(), 900u << 10);
  EXPECT_LT(result.probe().failure().message().size(), 20000u);
  EXPECT_LE(result.probe().warnings_size(), 32);
}

TEST_F(CollectTest, AResultPastItsLimitIsInvalid) {
  limits_.result_bytes = 100;
  Write("result.json", R"({"outcome": "compiled", "symbol": ")" +
                           std::string(200, 's') + "\"}");
  EXPECT_EQ(Collect().probe().outcome(), v1::Outcome::invalid_result);
}

}  // namespace
}  // namespace kernelfleet::agent
