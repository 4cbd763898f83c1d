// Every rule of Transform, done and declined, on files written for it.
#include "common/kernel/transform.h"

#include <string>
#include <string_view>
#include <vector>

#include "common/kernel/tileir_configs.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/json_util.h"
#include "gtest/gtest.h"
#include "tests/support/golden.h"

namespace kernelfleet::kernel {
namespace {

using ::kernelfleet::testing::ExpectGolden;
using ::kernelfleet::testing::ReadGolden;
using ::testing::HasSubstr;
using ::testing::Not;

struct Case {
  // inputs/FILE.py gives expected/NAME.py and expected/NAME.json.
  std::string name;
  std::string file;
  TransformOptions options;
};

TransformOptions Adding() {
  TransformOptions options;
  options.add_autotuner = true;
  return options;
}

TransformOptions Calls(bool exp2) {
  TransformOptions options;
  options.expand_sigmoid = true;
  options.fold_exp2 = exp2;
  return options;
}

std::vector<Case> Cases() {
  return {{"matmul", "matmul", {}},
          {"lists", "lists", {}},
          {"in_place", "in_place", {}},
          {"untuned", "untuned", {}},
          {"untuned_added", "untuned", Adding()},
          {"calls", "calls", {}},
          {"calls_sigmoid", "calls", Calls(false)},
          {"calls_exp2", "calls", Calls(true)},
          {"declined", "declined", {}},
          {"broken", "broken", {}}};
}

std::string Input(const std::string& file) {
  return ReadGolden("transform/inputs/" + file + ".py");
}

std::string Changes(v1::TransformResult result) {
  result.clear_optimized_code();
  google::protobuf::util::JsonPrintOptions style;
  style.add_whitespace = true;
  style.preserve_proto_field_names = true;
  std::string json;
  EXPECT_TRUE(
      google::protobuf::util::MessageToJsonString(result, &json, style).ok());
  return json;
}

std::string WithCrlf(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\n') out += '\r';
    out += c;
  }
  return out;
}

TEST(TransformTest, EachRuleDoesOrDeclinesWhatItsFileShows) {
  for (const Case& each : Cases()) {
    const v1::TransformResult result =
        Transform(each.file + ".py", Input(each.file), each.options);
    ExpectGolden(result.optimized_code(),
                 "transform/expected/" + each.name + ".py");
    ExpectGolden(Changes(result), "transform/expected/" + each.name + ".json");
  }
}

TEST(TransformTest, ASecondRunChangesNothing) {
  for (const Case& each : Cases()) {
    const std::string once =
        Transform("k.py", Input(each.file), each.options).optimized_code();
    const v1::TransformResult twice = Transform("k.py", once, each.options);
    EXPECT_EQ(twice.optimized_code(), once) << each.name;
    EXPECT_EQ(twice.changes_applied_size(), 0) << each.name;
  }
}

TEST(TransformTest, KeepsTheFilesLineEnds) {
  for (const Case& each : Cases()) {
    const std::string text = Input(each.file);
    EXPECT_EQ(Transform("k.py", WithCrlf(text), each.options).optimized_code(),
              WithCrlf(Transform("k.py", text, each.options).optimized_code()))
        << each.name;
  }
}

TEST(TransformTest, ALaterRunCompletesTheBlockInPlace) {
  const std::string both = Input("untuned") + Input("in_place");
  const std::string once = Transform("k.py", both, {}).optimized_code();
  EXPECT_THAT(once, Not(HasSubstr("def _kf_tileir_autotune")));
  const std::string then = Transform("k.py", once, Adding()).optimized_code();
  EXPECT_THAT(then, HasSubstr("def _kf_tileir_autotune"));
  EXPECT_EQ(then.find(kBlockBegin), then.rfind(kBlockBegin));
  EXPECT_EQ(then, Transform("k.py", both, Adding()).optimized_code());
}

TEST(TransformTest, AChosenKernelIsTheOnlyOneChanged) {
  TransformOptions options;
  options.kernel = "copy";
  const v1::TransformResult result =
      Transform("k.py", Input("in_place"), options);
  for (const v1::Change& change : result.changes_applied()) {
    EXPECT_TRUE(change.kernel() == "copy" || change.rule() == "gate");
  }
  EXPECT_EQ(result.changes_applied_size(), 2);
  options.kernel = "copi";
  EXPECT_EQ(Transform("k.py", Input("in_place"), options)
                .changes_declined(0)
                .reason(),
            "it has no jit function named copi");
}

TEST(TransformTest, WithoutANameForTritonTheBlockImportsIt) {
  const v1::TransformResult result =
      Transform("k.py",
                "from triton import Config, autotune, jit\n"
                "import triton.language as tl\n"
                "@autotune([Config({'B': 64}), Config({'B': 128})], ['n'])\n"
                "@jit\n"
                "def k(x, y, n, B: tl.constexpr):\n"
                "    i = tl.program_id(0) * B + tl.arange(0, B)\n"
                "    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)\n",
                {});
  EXPECT_THAT(result.optimized_code(), HasSubstr("        import triton\n"));
  EXPECT_THAT(result.optimized_code(),
              HasSubstr("@autotune(_kf_tileir_configs(\"element-wise\", "
                        "[Config({'B': 64}), Config({'B': 128})], "
                        "blocks=(\"B\",)), ['n'])"));
}

TEST(TransformTest, HelpersStandBeforeTheFirstUseEvenAheadOfAnImport) {
  const v1::TransformResult result = Transform(
      "k.py",
      "import triton\n"
      "import triton.language as tl\n"
      "tuned = triton.autotune([triton.Config({}), triton.Config({})], ['n'])\n"
      "import os\n"
      "@tuned\n"
      "@triton.jit\n"
      "def k(x, y, n):\n"
      "    tl.store(y, tl.load(x))\n",
      {});
  const std::string& code = result.optimized_code();
  EXPECT_LT(code.find(kBlockEnd), code.find("tuned = "));
}

TEST(TransformTest, TextThatIsNotUtf8IsLeftAlone) {
  const v1::TransformResult result = Transform("k.py", "x = '\xff'\n", {});
  EXPECT_EQ(result.optimized_code(), "");
  EXPECT_EQ(result.changes_declined(0).reason(), "the file is not UTF-8");
}

TEST(TileConfigsTest, TwoCtasOnlyWhereTheyExistAndTheTileIsLarge) {
  for (std::string_view name :
       {"dot-related", "norm-like", "element-wise", "reduction"}) {
    EXPECT_FALSE(TileConfigsOf(name).empty());
    for (const TileConfig& row : TileConfigsOf(name)) {
      EXPECT_GE(row.occupancy, 1);
      EXPECT_LE(row.occupancy, 32);
      EXPECT_GE(row.num_stages, 1);
      EXPECT_LE(row.num_stages, 10);
      if (row.num_ctas == 1) continue;
      EXPECT_GE(row.first_sm, 100);
      EXPECT_LT(row.last_sm, 120);
      EXPECT_GE(row.tile[0] * row.tile[1], 256 * 128);
    }
  }
  EXPECT_TRUE(TileConfigsOf("none of these").empty());
}

}  // namespace
}  // namespace kernelfleet::kernel
