// Each kind of evidence, as a small kernel.
#include "common/kernel/infer.h"

#include <string>
#include <string_view>

#include "common/kernel/analyze.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kernelfleet::kernel {
namespace {

constexpr std::string_view kHead =
    "import triton\n"
    "import triton.language as tl\n";

class InferTest : public testing::Test {
 protected:
  // The first case for the last kernel of the text, launches included.
  void Read(std::string_view body) {
    const std::string text = std::string(kHead) + std::string(body);
    facts_ = Analyze("k.py", text);
    ASSERT_TRUE(facts_.problems().empty());
    ASSERT_GT(facts_.kernels_size(), 0);
    InferRequest request;
    request.slice = text;
    request.kernel = &facts_.kernels(facts_.kernels_size() - 1);
    for (const v1::Launch& launch : facts_.launches()) {
      request.launches.push_back(&launch);
    }
    cases_ = Infer(request);
    ASSERT_FALSE(cases_.empty());
  }

  const v1::KernelArg& Arg(std::string_view name, size_t at = 0) const {
    static const v1::KernelArg kNone;
    for (const v1::KernelArg& arg : cases_[at].args()) {
      if (arg.name() == name) return arg;
    }
    ADD_FAILURE() << "no argument " << name;
    return kNone;
  }

  std::string TypeOf(std::string_view name) const { return Arg(name).type(); }

  v1::SourceFacts facts_;
  std::vector<v1::CompileCase> cases_;
};

TEST_F(InferTest, WhatIsAddedToABaseIsAWholeNumber) {
  Read(R"py(
@triton.jit
def gather(out, table, rows, stride, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(rows + i, mask=i < n)
    tl.store(out + i, tl.load(table + row * stride).to(tl.float32), mask=i < n)
)py");
  EXPECT_EQ(TypeOf("rows"), "*i32");
  EXPECT_EQ(TypeOf("stride"), "i32");
  EXPECT_EQ(TypeOf("n"), "i32");
  EXPECT_EQ(TypeOf("table"), "*fp16");
  EXPECT_EQ(TypeOf("out"), "*fp32");
  EXPECT_EQ(Arg("BLOCK").constant().int_value(), 1024);
  EXPECT_EQ(Arg("BLOCK").guessed_from(), "bound of tl.arange");
}

TEST_F(InferTest, AnOperandOfADotIsFp16) {
  Read(R"py(
@triton.jit
def dot(a, b, c, B: tl.constexpr):
    i = tl.arange(0, B)[:, None] * B + tl.arange(0, B)[None, :]
    tl.store(c + i, tl.dot(tl.load(a + i), tl.load(b + i)))
)py");
  EXPECT_EQ(TypeOf("a"), "*fp16");
  EXPECT_EQ(TypeOf("b"), "*fp16");
  EXPECT_EQ(TypeOf("c"), "*fp32");
  EXPECT_EQ(Arg("B").constant().int_value(), 64);
}

TEST_F(InferTest, WhatGoesIntoAnExponentAsLoadedIsFp32) {
  Read(R"py(
@triton.jit
def e(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, tl.exp(tl.load(x + i)))
)py");
  EXPECT_EQ(TypeOf("x"), "*fp32");
}

TEST_F(InferTest, AScalarIsRealWhenItMeetsReals) {
  Read(R"py(
@triton.jit
def scale(x, y, a, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, tl.load(x + i).to(tl.float32) * a)
)py");
  EXPECT_EQ(TypeOf("a"), "fp32");
}

TEST_F(InferTest, TheBoundOfALoopIsWholeThroughCdiv) {
  Read(R"py(
@triton.jit
def rows(x, y, lens, B: tl.constexpr):
    n = tl.load(lens)
    for i in range(tl.cdiv(n, B)):
        o = i * B + tl.arange(0, B)
        tl.store(y + o, tl.load(x + o))
)py");
  EXPECT_EQ(TypeOf("lens"), "*i32");
}

TEST_F(InferTest, WhatMasksAStoreIsABoolean) {
  Read(R"py(
@triton.jit
def keep(x, flags, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i, 1.0, mask=tl.load(flags + i))
)py");
  EXPECT_EQ(TypeOf("flags"), "*i1");
}

TEST_F(InferTest, AStringIsOneThatTheKernelComparesWith) {
  Read(R"py(
@triton.jit
def act(x, KIND: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i).to(tl.float32)
    if KIND == "relu":
        v = tl.maximum(v, 0.0)
    elif KIND == "exp":
        v = tl.exp(v)
    tl.store(x + i, v)
)py");
  EXPECT_EQ(Arg("KIND").constant().string_value(), "relu");
}

TEST_F(InferTest, ADtypeIsWhereADtypeStands) {
  Read(R"py(
@triton.jit
def cast(x, y, TYPE: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, tl.load(x + i).to(TYPE))
)py");
  EXPECT_TRUE(Arg("TYPE").constant().has_dtype_value());
}

TEST_F(InferTest, AFlagIsABooleanAndAnAlternativeTurnsIt) {
  Read(R"py(
@triton.jit
def bias(x, b, HAS_BIAS: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    if HAS_BIAS:
        v += tl.load(b + i)
    tl.store(x + i, v)
)py");
  ASSERT_TRUE(Arg("HAS_BIAS").constant().has_bool_value());
  bool turned = false;
  for (size_t i = 1; i < cases_.size(); ++i) {
    turned |= Arg("HAS_BIAS", i).constant().bool_value() !=
              Arg("HAS_BIAS").constant().bool_value();
  }
  EXPECT_TRUE(turned);
}

TEST_F(InferTest, AnOptionalPointerIsNoneInAnAlternative) {
  Read(R"py(
@triton.jit
def opt(x, b, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    if b is not None:
        v += tl.load(b + i)
    tl.store(x + i, v)
)py");
  EXPECT_THAT(TypeOf("b"), testing::StartsWith("*"));
  bool none = false;
  for (size_t i = 1; i < cases_.size(); ++i) {
    none |= Arg("b", i).constant().none();
  }
  EXPECT_TRUE(none);
}

TEST_F(InferTest, ALaunchAndAConfigurationSayWhatTheyPass) {
  Read(R"py(
@triton.autotune([triton.Config({"B": 256}, num_warps=8)], key=[])
@triton.jit
def k(x, p, MODE: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    if MODE == 2:
        tl.store(x + i, 0.0)

def host(x):
    k[(1,)](x, 0.5, MODE=2)
)py");
  EXPECT_EQ(Arg("B").constant().int_value(), 256);
  EXPECT_EQ(cases_[0].options().num_warps(), 8);
  EXPECT_EQ(Arg("MODE").constant().int_value(), 2);
  EXPECT_EQ(TypeOf("p"), "fp32");
  EXPECT_THAT(Arg("p").guessed_from(), testing::HasSubstr("passed as `0.5`"));
}

TEST_F(InferTest, WhatALoopAddsToAPointerIsAnOffset) {
  Read(R"py(
@triton.jit
def walk(x, step, n, B: tl.constexpr):
    i = tl.arange(0, B)
    for _ in range(n):
        tl.store(x + i, tl.load(x + i) + 1.0)
        x += step
    tl.store(x + i, 0.0)
)py");
  EXPECT_EQ(TypeOf("x"), "*fp32");
  EXPECT_EQ(TypeOf("step"), "i32");
}

TEST_F(InferTest, AnUnrolledLoopStaysShort) {
  Read(R"py(
@triton.jit
def u(x, N: tl.constexpr):
    s = tl.zeros((N,), dtype=tl.float32)
    for i in tl.static_range(N):
        s += tl.load(x + i)
    tl.store(x + tl.arange(0, N), s)
)py");
  EXPECT_EQ(Arg("N").constant().int_value(), 4);
}

TEST_F(InferTest, AnAnnotationIsTaken) {
  Read(R"py(
@triton.jit
def a(x: "*bf16", n: int, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i, 1.0, mask=i < n)
)py");
  EXPECT_EQ(TypeOf("x"), "*bf16");
  EXPECT_EQ(TypeOf("n"), "i32");
}

}  // namespace
}  // namespace kernelfleet::kernel
