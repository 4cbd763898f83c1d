// Each fault of the original classifier, and each rule of ours, as a small
// kernel.
#include <string>
#include <string_view>

#include "common/kernel/analyze.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kernelfleet::kernel {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr std::string_view kImports =
    "import triton\n"
    "import triton.language as tl\n";

// The class of the last jit function of the text.
v1::Classification ClassOf(std::string_view body,
                           std::string_view imports = kImports) {
  const v1::SourceFacts facts =
      Analyze("k.py", std::string(imports) + std::string(body));
  EXPECT_TRUE(facts.problems().empty());
  if (facts.kernels().empty()) return {};
  return Classify(facts.kernels(facts.kernels_size() - 1));
}

std::string NameOfClass(std::string_view body,
                        std::string_view imports = kImports) {
  return ClassOf(body, imports).classification();
}

constexpr std::string_view kAdd = R"py(
@triton.jit
def add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    # a softmax would use tl.dot(x, y) and tl.sum(x)
    """layernorm, rms_norm: tl.dot(a, b)"""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, x + 1.0, mask=offs < n)
)py";

TEST(ClassifyTest, CommentsAndStringsNeverCount) {
  EXPECT_EQ(NameOfClass(kAdd), "element-wise");
}

TEST(ClassifyTest, HostCodeNeverCounts) {
  EXPECT_EQ(NameOfClass("def softmax(x):\n"
                        "    return tl.dot(x, x) / tl.sum(x)\n" +
                        std::string(kAdd)),
            "element-wise");
}

TEST(ClassifyTest, ADotInAnotherKernelOfTheFileDoesNotCount) {
  EXPECT_EQ(NameOfClass("@triton.jit\n"
                        "def mm(a, b):\n"
                        "    tl.store(a, tl.dot(tl.load(a), tl.load(b)))\n" +
                        std::string(kAdd)),
            "element-wise");
}

TEST(ClassifyTest, ADotIsFoundUnderAnyAlias) {
  EXPECT_EQ(NameOfClass(R"py(
@T.jit
def k(a, b, N: L.constexpr):
    i = L.arange(0, N)
    at = i[:, None] * N + i[None, :]
    L.store(a + at, mm(L.load(a + at), L.load(b + at)))
)py",
                        "import triton as T\n"
                        "from triton import language as L\n"
                        "mm = L.dot\n"),
            "dot-related");
}

TEST(ClassifyTest, DotScaledIsADot) {
  EXPECT_EQ(NameOfClass(R"py(
@triton.jit
def k(a, s, c, N: tl.constexpr):
    i = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(a + i)
    tl.store(c + i, tl.dot_scaled(x, s, "e4m3", x, s, "e4m3"))
)py"),
            "dot-related");
}

TEST(ClassifyTest, AHelpersDotCountsForItsCaller) {
  EXPECT_EQ(NameOfClass(R"py(
@triton.jit
def inner(a, b):
    return tl.dot(a, b)

@triton.jit
def middle(a):
    return inner(a, a)

@triton.jit
def k(a, c, N: tl.constexpr):
    i = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(c + i, middle(tl.load(a + i)))
)py"),
            "dot-related");
}

constexpr std::string_view kLogSumExp = R"py(
@triton.jit
def k(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + offs, mask=offs < n, other=-float("inf"))
    m = tl.max(x, axis=0)
    s = tl.sum(tl.exp(x - m), axis=0)
    tl.store(out_ptr + row, m + tl.log(s))
)py";

TEST(ClassifyTest, ALogSumExpIsAReduction) {
  EXPECT_EQ(NameOfClass(kLogSumExp), "reduction");
}

TEST(ClassifyTest, ALossThatPicksOneElementIsAReduction) {
  EXPECT_EQ(NameOfClass(R"py(
@triton.jit
def k(x_ptr, t_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    target = tl.load(t_ptr + row)
    m = -float("inf")
    s = 0.0
    for i in range(0, n, BLOCK):
        offs = i + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + offs, mask=offs < n)
        new = tl.maximum(m, tl.max(x))
        s = s * tl.exp(m - new) + tl.sum(tl.exp(x - new))
        m = new
    tl.store(out_ptr + row, m + tl.log(s) - tl.load(x_ptr + row * n + target))
)py"),
            "reduction");
}

TEST(ClassifyTest, ASoftmaxIsNormLikeWhateverItsName) {
  EXPECT_EQ(NameOfClass(R"py(
@triton.jit
def k(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + offs, mask=offs < n, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * n + offs, e / tl.sum(e, axis=0), mask=offs < n)
)py"),
            "norm-like");
}

TEST(ClassifyTest, ANormOverTwoLoopsIsNormLike) {
  EXPECT_EQ(NameOfClass(R"py(
@triton.jit
def k(X, Y, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    X += row * stride
    Y += row * stride
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, n, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        a = tl.load(X + cols, mask=cols < n, other=0.0).to(tl.float32)
        acc += a * a
    rstd = 1 / tl.sqrt(tl.sum(acc, axis=0) / n + eps)
    for off in range(0, n, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        a = tl.load(X + cols, mask=cols < n, other=0.0)
        tl.store(Y + cols, a * rstd, mask=cols < n)
)py"),
            "norm-like");
}

TEST(ClassifyTest, ANormThroughHelpersIsNormLike) {
  EXPECT_EQ(NameOfClass(R"py(
@triton.jit
def scale_of(x):
    return tl.max(tl.abs(x), axis=1) / 448.0

@triton.jit
def apply(x, scale):
    return x / scale[:, None]

@triton.jit
def k(x_ptr, q_ptr, s_ptr, n, M: tl.constexpr, N: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    at = rows[:, None] * n + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + at)
    scale = scale_of(x)
    tl.store(s_ptr + rows, scale)
    tl.store(q_ptr + at, apply(x, scale))
)py"),
            "norm-like");
}

TEST(ClassifyTest, ALossOfSeveralRowsIsAReduction) {
  EXPECT_EQ(NameOfClass(R"py(
@triton.jit
def k(x_ptr, t_ptr, out_ptr, n, M: tl.constexpr, N: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    x = tl.load(x_ptr + rows[:, None] * n + tl.arange(0, N)[None, :])
    picked = tl.load(x_ptr + rows * n + tl.load(t_ptr + rows))
    tl.store(out_ptr + rows, tl.log(tl.sum(tl.exp(x), axis=1)) - picked)
)py"),
            "reduction");
}

TEST(ClassifyTest, AScaleMadeByAnotherKernelIsElementWise) {
  EXPECT_EQ(NameOfClass(R"py(
@triton.jit
def layernorm_apply(x_ptr, rstd_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    rstd = tl.load(rstd_ptr + row)
    tl.store(y_ptr + row * n + offs, tl.load(x_ptr + row * n + offs) * rstd)
)py"),
            "element-wise");
}

TEST(ClassifyTest, AMeanIsAReductionAndNotANorm) {
  EXPECT_EQ(NameOfClass(R"py(
@triton.jit
def mean_norm(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * n + offs, mask=offs < n)
    tl.store(y_ptr + tl.program_id(0), tl.sum(x, axis=0) / n)
)py"),
            "reduction");
}

TEST(ClassifyTest, TensorMethodsReduceToo) {
  EXPECT_EQ(NameOfClass(R"py(
@triton.jit
def k(x_ptr, y_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(y_ptr, x.to(tl.float32).sum(axis=0))
)py"),
            "reduction");
}

TEST(ClassifyTest, AScanIsAReductionWithScanAmongItsIndicators) {
  for (std::string_view scan :
       {"tl.cumsum(x, axis=0)", "tl.cumsum(x, 0) - x + tl.sum(x, 0)[None]",
        "tl.associative_scan(x, 0, combine)"}) {
    const v1::Classification found = ClassOf(
        "@triton.jit\ndef combine(a, b):\n    return a + b\n\n"
        "@triton.jit\n"
        "def k(x_ptr, y_ptr, N: tl.constexpr):\n"
        "    offs = tl.arange(0, N)\n"
        "    x = tl.load(x_ptr + offs)\n"
        "    tl.store(y_ptr + offs, " +
        std::string(scan) + ")\n");
    EXPECT_EQ(found.classification(), "reduction") << scan;
    EXPECT_THAT(found.indicators(), Contains(HasSubstr("scan"))) << scan;
  }
}

TEST(ClassifyTest, ARecurrenceThatKeepsEachStepIsAScan) {
  const v1::Classification found = ClassOf(R"py(
@triton.jit
def k(x_ptr, g_ptr, y_ptr, T, N: tl.constexpr):
    offs = tl.arange(0, N)
    h = tl.zeros([N], dtype=tl.float32)
    for t in range(T):
        h = h * tl.load(g_ptr + t * N + offs) + tl.load(x_ptr + t * N + offs)
        tl.store(y_ptr + t * N + offs, h)
)py");
  EXPECT_EQ(found.classification(), "reduction");
  EXPECT_THAT(found.indicators(), Contains(HasSubstr("scan")));
}

TEST(ClassifyTest, SumsInALoopAreAReductionWithoutTlSum) {
  EXPECT_EQ(NameOfClass(R"py(
@triton.jit
def k(x_ptr, y_ptr, K, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for k in range(K):
        acc += tl.load(x_ptr + k * n + offs)
    tl.store(y_ptr + offs, acc)
)py"),
            "reduction");
}

TEST(ClassifyTest, AGridStrideLoopIsElementWise) {
  EXPECT_EQ(NameOfClass(R"py(
@triton.jit
def k(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    while tl.sum(offs) < n:
        tl.store(y_ptr + offs, tl.sqrt(tl.load(x_ptr + offs)))
        offs += tl.num_programs(0) * BLOCK
)py"),
            "element-wise");
}

TEST(ClassifyTest, AtomicsThatCombineDataAreAReductionAndLocksAreNot) {
  EXPECT_EQ(NameOfClass(R"py(
@triton.jit
def k(x_ptr, i_ptr, y_ptr, N: tl.constexpr):
    offs = tl.arange(0, N)
    tl.atomic_add(y_ptr + tl.load(i_ptr + offs), tl.load(x_ptr + offs))
)py"),
            "reduction");
  EXPECT_EQ(NameOfClass(R"py(
@triton.jit
def k(x_ptr, y_ptr, lock, N: tl.constexpr):
    offs = tl.arange(0, N)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(y_ptr + offs, tl.load(x_ptr + offs))
    tl.atomic_xchg(lock, 0)
)py"),
            "element-wise");
}

TEST(ClassifyTest, AnAtomicThatHandsOutSlotsIsElementWise) {
  EXPECT_EQ(NameOfClass(R"py(
@triton.jit
def k(x_ptr, e_ptr, next_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    expert = tl.load(e_ptr + tl.program_id(0))
    slot = tl.atomic_add(next_ptr + expert, 1)
    tl.store(y_ptr + slot * n + offs, tl.load(x_ptr + offs))
)py"),
            "element-wise");
  EXPECT_EQ(NameOfClass(R"py(
@triton.jit
def k(e_ptr, count_ptr, BLOCK: tl.constexpr):
    tl.atomic_add(count_ptr + tl.load(e_ptr + tl.arange(0, BLOCK)), 1)
)py"),
            "reduction");
}

TEST(ClassifyTest, AValueThatALoopChoosesIsNotAccumulated) {
  EXPECT_EQ(NameOfClass(R"py(
@triton.jit
def k(x_ptr, y_ptr, n):
    last = 0
    for i in range(n):
        if i < 4:
            last = tl.load(x_ptr + i)
    tl.store(y_ptr, last)
)py"),
            "element-wise");
}

TEST(ClassifyTest, ABinarySearchIsElementWise) {
  EXPECT_EQ(NameOfClass(R"py(
@triton.jit
def k(edges_ptr, x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    low = tl.zeros([BLOCK], dtype=tl.int32)
    high = tl.full([BLOCK], n, dtype=tl.int32)
    while tl.max(high - low) > 0:
        mid = (low + high) // 2
        right = tl.load(edges_ptr + mid) < x
        low = tl.where(right, mid + 1, low)
        high = tl.where(right, high, mid)
    tl.store(y_ptr + offs, low)
)py"),
            "element-wise");
}

TEST(ClassifyTest, AnInterpolationOverALiteralLoopIsElementWise) {
  EXPECT_EQ(NameOfClass(R"py(
@triton.jit
def k(x_ptr, y_ptr, w, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    out = tl.zeros([BLOCK], dtype=tl.float32)
    for d in tl.static_range(2):
        out += w * tl.load(x_ptr + offs + d)
    tl.store(y_ptr + offs, out)
)py"),
            "element-wise");
}

TEST(ClassifyTest, ASamplerThatScansIsAReduction) {
  EXPECT_EQ(NameOfClass(R"py(
@triton.jit
def k(p_ptr, i_ptr, y_ptr, u, N: tl.constexpr):
    c = tl.cumsum(tl.load(p_ptr + tl.arange(0, N)), 0)
    at = tl.argmax((c > u).to(tl.int32), 0)
    tl.store(y_ptr, tl.load(i_ptr + at))
)py"),
            "reduction");
}

TEST(ClassifyTest, NormsThroughBlockPointersAndDescriptorsAreFound) {
  EXPECT_EQ(NameOfClass(R"py(
@triton.jit
def k(x, y, T, D: tl.constexpr, BT: tl.constexpr, BD: tl.constexpr):
    p_x = tl.make_block_ptr(x, (T, D), (D, 1), (0, 0), (BT, BD), (1, 0))
    p_y = tl.make_block_ptr(y, (T, D), (D, 1), (0, 0), (BT, BD), (1, 0))
    b_x = tl.load(p_x, boundary_check=(0, 1))
    rstd = 1 / tl.sqrt(tl.sum(b_x * b_x, axis=1) + 1e-6)
    tl.store(p_y, b_x * rstd[:, None], boundary_check=(0, 1))
)py"),
            "norm-like");
  EXPECT_EQ(NameOfClass(R"py(
@triton.jit
def k(x_desc, y_desc, i):
    x = x_desc.load([i, 0])
    y_desc.store([i, 0], x / tl.sum(x, axis=1)[:, None])
)py"),
            "norm-like");
}

TEST(ClassifyTest, AFunctionWithoutStoresIsJudgedByWhatItReturns) {
  EXPECT_EQ(NameOfClass("@triton.jit\ndef f(x, y):\n    return x * y + 1\n"),
            "element-wise");
  EXPECT_EQ(NameOfClass("@triton.jit\ndef f(x):\n    return tl.max(x, 0)\n"),
            "reduction");
  EXPECT_EQ(NameOfClass("@triton.jit\ndef softmax(x):\n"
                        "    e = tl.exp(x - tl.max(x, 1)[:, None])\n"
                        "    return e / tl.sum(e, 1)[:, None]\n"),
            "norm-like");
}

TEST(ClassifyTest, UnsupportedOperationsAreListedWithWhatToUse) {
  const v1::Classification found = ClassOf(R"py(
@triton.jit
def k(x_ptr, y_ptr, n, N: tl.constexpr):
    p = tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (N,), (0,))
    x = tl.load(p, boundary_check=(0,))
    x = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [x], tl.float32, True, 1)
    tl.store(y_ptr + tl.arange(0, N), tl.histogram(x, N))
)py");
  EXPECT_FALSE(found.tileir_compatible());
  std::vector<std::string> names;
  for (const auto& lacking : found.unsupported()) {
    names.push_back(lacking.operation());
    EXPECT_FALSE(lacking.instead().empty());
  }
  EXPECT_THAT(names,
              testing::ElementsAre("make_block_ptr", "inline_asm_elementwise",
                                   "histogram"));
  EXPECT_EQ(found.unsupported(0).line(), 6);
}

TEST(ClassifyTest, ConfidenceFallsWithCallsThatCannotBeSeen) {
  const v1::Classification seen = ClassOf(kAdd);
  const v1::Classification unseen = ClassOf(R"py(
from elsewhere import activation
@triton.jit
def k(x_ptr, y_ptr, N: tl.constexpr):
    offs = tl.arange(0, N)
    tl.store(y_ptr + offs, activation(tl.load(x_ptr + offs)))
)py");
  EXPECT_EQ(unseen.classification(), "element-wise");
  EXPECT_LT(unseen.confidence(), seen.confidence());
  EXPECT_THAT(unseen.confidence_reason(), HasSubstr("elsewhere"));
}

}  // namespace
}  // namespace kernelfleet::kernel
