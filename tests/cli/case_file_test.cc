#include "cli/case_file.h"

#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace kernelfleet::cli {
namespace {

const v1::KernelArg* Find(const KernelCase& one, std::string_view name) {
  for (const v1::KernelArg& arg : one.compile.args()) {
    if (arg.name() == name) return &arg;
  }
  return nullptr;
}

TEST(CaseFileTest, EveryFormOfArgumentIsRead) {
  ASSERT_OK_AND_ASSIGN(const auto cases, ParseCaseFile("k.case.toml", R"(
targets = ["cuda:sm_90", "hip:gfx942"]
[args]
a = "*fp16:16"
b = "*fp16:16:32"
c = "*fp16:range=32"
d = { type = "*bf16", divisibility = 8, range = 32 }
n = "i32:16"
one = 1
t = "tensordesc<fp16[64,64]>"
[constexprs]
BLOCK = 1024
SCALE = 0.5
CAUSAL = true
NOTHING = "None"
DTYPE = "tl.bfloat16"
ACT = "relu"
LITERAL = { string = "None" }
FN = { function = "leaky" }
SHAPE = [1, 2]
[options]
num_warps = 8
waves_per_eu = 2
)"));
  ASSERT_EQ(cases.size(), 1u);
  const KernelCase& one = cases[0];
  EXPECT_EQ(one.targets.size(), 2u);
  EXPECT_EQ(Find(one, "a")->divisibility(), 16);
  EXPECT_EQ(Find(one, "a")->pointer_range(), 0);
  EXPECT_EQ(Find(one, "b")->pointer_range(), 32);
  EXPECT_EQ(Find(one, "c")->divisibility(), 0);
  EXPECT_EQ(Find(one, "c")->pointer_range(), 32);
  EXPECT_EQ(Find(one, "d")->type(), "*bf16");
  EXPECT_EQ(Find(one, "d")->divisibility(), 8);
  EXPECT_EQ(Find(one, "one")->constant().int_value(), 1);
  EXPECT_EQ(Find(one, "BLOCK")->constant().int_value(), 1024);
  EXPECT_EQ(Find(one, "SCALE")->constant().float_value(), 0.5);
  EXPECT_TRUE(Find(one, "CAUSAL")->constant().bool_value());
  EXPECT_TRUE(Find(one, "NOTHING")->constant().none());
  EXPECT_EQ(Find(one, "DTYPE")->constant().dtype_value(), "bf16");
  EXPECT_EQ(Find(one, "ACT")->constant().string_value(), "relu");
  EXPECT_EQ(Find(one, "LITERAL")->constant().string_value(), "None");
  EXPECT_EQ(Find(one, "FN")->constant().function_value(), "leaky");
  EXPECT_EQ(Find(one, "SHAPE")->constant().tuple().items_size(), 2);
  EXPECT_EQ(one.compile.options().num_warps(), 8);
  EXPECT_EQ(one.compile.options().extra().at("waves_per_eu").int_value(), 2);
}

TEST(CaseFileTest, KernelTablesInheritWhatStandsAbove) {
  ASSERT_OK_AND_ASSIGN(const auto cases, ParseCaseFile("k.case.toml", R"(
targets = ["cuda:sm_90"]
[args]
x = "*fp16"
[[kernel]]
name = "first"
[kernel.args]
y = "*fp32"
[[kernel]]
name = "second"
targets = ["hip:gfx942"]
[kernel.args]
x = "*bf16"
)"));
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[0].kernel, "first");
  EXPECT_EQ(Find(cases[0], "x")->type(), "*fp16");
  EXPECT_EQ(Find(cases[0], "y")->type(), "*fp32");
  EXPECT_EQ(Find(cases[1], "x")->type(), "*bf16");
  ASSERT_EQ(cases[1].targets.size(), 1u);
  EXPECT_EQ(cases[1].targets[0].arch(), "gfx942");
}

TEST(CaseFileTest, ErrorsNameFileLineAndColumn) {
  const auto error = [](const char* text) {
    return Text(ParseCaseFile("k.toml", text).status());
  };
  EXPECT_EQ(error("[args]\nx = \"*fp17\"\n").substr(0, 12), "k.toml:2:5: ");
  EXPECT_EQ(error("arsg = 1\n"),
            "k.toml:1:1: unknown key 'arsg': expected name, targets, args, "
            "constexprs, options or [[kernel]] tables");
  EXPECT_EQ(error("targets = [\"cuda:sm90\"]\n"),
            "k.toml:1:12: unknown target 'cuda:sm90': did you mean "
            "cuda:sm_90?");
  EXPECT_EQ(error("[options]\nnum_warps = \"four\"\n"),
            "k.toml:2:13: num_warps must be a small whole number");
  EXPECT_EQ(error("[[kernel]]\n[kernel.args]\nx = \"i32\"\n"),
            "k.toml:1:1: a kernel needs a name");
  EXPECT_EQ(error("[args]\nx = \"i32:range=32\"\n"),
            "k.toml:2:1: argument 'x' is no pointer: it has no pointer range");
}

TEST(CaseFileTest, HostileFilesAreRefusedNotBelieved) {
  for (const std::string& text :
       {std::string("\xff\xfe"), std::string("x = \"\x1b[31m\"\n"),
        std::string("[args]\n\"a\\nb\" = \"i32\"\n"),
        "[constexprs]\nx = " + std::string(200, '[') + std::string(200, ']')}) {
    const absl::Status status = ParseCaseFile("k.toml", text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_EQ(Text(status).find_first_of("\n\x1b"), std::string::npos);
  }
}

TEST(CaseFlagsTest, ConstantsAreReadAsPythonWouldWriteThem) {
  const auto constant = [](const char* text) {
    return ParseConstFlag(text)->constant();
  };
  EXPECT_EQ(constant("B=64").int_value(), 64);
  EXPECT_EQ(constant("B=0.5").float_value(), 0.5);
  EXPECT_TRUE(constant("B=True").bool_value());
  EXPECT_FALSE(constant("B=False").bool_value());
  EXPECT_TRUE(constant("B=None").none());
  EXPECT_EQ(constant("B='64'").string_value(), "64");
  EXPECT_EQ(constant("B=tl.float32").dtype_value(), "fp32");
  EXPECT_EQ(constant("B=relu").string_value(), "relu");
  EXPECT_EQ(constant("B=a=b").string_value(), "a=b");
}

TEST(CaseFlagsTest, BadFlagsSayTheExpectedForm) {
  EXPECT_EQ(Text(ParseArgFlag("x").status()),
            "--arg 'x': expected NAME=TYPE, such as x_ptr=*fp16:16");
  EXPECT_FALSE(ParseArgFlag("x=*fp16:12").ok());
  EXPECT_FALSE(ParseArgFlag("x y=i32").ok());
  EXPECT_FALSE(ParseConstFlag("=3").ok());
}

}  // namespace
}  // namespace kernelfleet::cli
