// What a slice keeps, leaves out and decides.
#include "common/kernel/slice.h"

#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kernelfleet::kernel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class SliceTest : public testing::Test {
 protected:
  // The slice of `k` from pkg/ops/main.py.
  Slice Of(const std::string& text) {
    const SliceRequest request = {
        .text = text,
        .module = "pkg.ops.main",
        .entry = "k",
        .lookup =
            [this](const std::string& name) -> std::optional<ModuleSource> {
          const auto found = siblings_.find(name);
          if (found == siblings_.end()) return {};
          return ModuleSource{found->second, false};
        }};
    auto slice = MakeSlice(request);
    EXPECT_TRUE(slice.ok()) << slice.status();
    return slice.ok() ? *slice : Slice();
  }

  std::map<std::string, std::string> siblings_;
};

constexpr char kHead[] =
    "import torch\n"
    "import triton\n"
    "import triton.language as tl\n";

TEST_F(SliceTest, HostCodeAndTorchStayBehind) {
  const Slice slice = Of(std::string(kHead) +
                         "N = torch.cuda.device_count()\n"
                         "@triton.jit\n"
                         "def k(x):\n"
                         "    tl.store(x, 1.0)\n"
                         "def host(x):\n"
                         "    k[(1,)](x)\n");
  EXPECT_THAT(slice.text, Not(HasSubstr("torch")));
  EXPECT_THAT(slice.text, Not(HasSubstr("host")));
  EXPECT_THAT(slice.source_lines, ElementsAre(0, 0, 5, 6, 7));
}

TEST_F(SliceTest, AHelperOfASiblingComesAlongWithWhatItReads) {
  siblings_["pkg.ops.utils"] = std::string(kHead) +
                               "from .more import HALF\n"
                               "@triton.jit\n"
                               "def halve(x):\n"
                               "    return x * HALF\n";
  siblings_["pkg.ops.more"] = "HALF: tl.constexpr = 0.5\n";
  const Slice slice = Of(std::string(kHead) +
                         "from .utils import halve as h\n"
                         "@triton.jit\n"
                         "def k(x):\n"
                         "    tl.store(x, h(tl.load(x)))\n");
  EXPECT_THAT(slice.text, HasSubstr("HALF: tl.constexpr = 0.5"));
  EXPECT_THAT(slice.text, HasSubstr("halve(tl.load(x))"));
  EXPECT_THAT(slice.functions, ElementsAre("pkg.ops.utils:halve"));
}

TEST_F(SliceTest, TwoFunctionsOfOneNameAreKeptApart) {
  siblings_["pkg.a"] =
      std::string(kHead) + "@triton.jit\ndef f(x):\n    return x + 1\n";
  siblings_["pkg.b"] = std::string(kHead) +
                       "from pkg.a import f as g\n"
                       "@triton.jit\ndef f(x):\n    return g(x) * 2\n";
  const Slice slice = Of(std::string(kHead) +
                         "import pkg.b\n"
                         "from pkg.b import f\n"
                         "@triton.jit\n"
                         "def k(x):\n"
                         "    tl.store(x, f(tl.load(x)))\n");
  EXPECT_THAT(slice.text, HasSubstr("return x + 1"));
  EXPECT_THAT(slice.text, HasSubstr("def f_2("));
}

TEST_F(SliceTest, TheModuleOfAHelperMayBeNamed) {
  siblings_["pkg.ops.utils"] =
      std::string(kHead) + "@triton.jit\ndef one():\n    return 1.0\n";
  const Slice slice = Of(std::string(kHead) +
                         "from . import utils\n"
                         "@triton.jit\n"
                         "def k(x):\n"
                         "    tl.store(x, utils.one())\n");
  EXPECT_THAT(slice.text, HasSubstr("tl.store(x, one())"));
}

TEST_F(SliceTest, ABranchThatAsksTritonStays) {
  const Slice slice = Of(std::string(kHead) +
                         "try:\n"
                         "    from triton.language.extra import libdevice\n"
                         "except ImportError:\n"
                         "    from triton.language import math as libdevice\n"
                         "@triton.jit\n"
                         "def k(x):\n"
                         "    tl.store(x, libdevice.tanh(tl.load(x)))\n");
  EXPECT_THAT(slice.text, HasSubstr("try:"));
  EXPECT_THAT(slice.text, HasSubstr("except Exception:"));
}

TEST_F(SliceTest, ABranchThatAsksForAVersionIsTakenAsNew) {
  siblings_["pkg.utils"] =
      "import torch\n"
      "from packaging.version import Version\n"
      "def compare_version(name, op, target):\n"
      "    return op(Version(name), Version(target))\n";
  const Slice slice =
      Of(std::string(kHead) +
         "import operator\n"
         "from pkg.utils import compare_version\n"
         "if compare_version('triton', operator.ge, '3.0'):\n"
         "    from triton.language.extra.libdevice import tanh\n"
         "else:\n"
         "    from triton.language.math import tanh\n"
         "@triton.jit\n"
         "def k(x):\n"
         "    tl.store(x, tanh(tl.load(x)))\n");
  EXPECT_THAT(slice.text, HasSubstr("if True:"));
  EXPECT_THAT(slice.text, Not(HasSubstr("compare_version")));
  EXPECT_EQ(slice.guesses.size(), 1u);
}

TEST_F(SliceTest, AQuestionToTheDeviceIsGuessed) {
  const Slice slice =
      Of(std::string(kHead) +
         "FAST = tl.constexpr(torch.cuda.get_device_capability()[0] >= 9)\n"
         "@triton.jit\n"
         "def k(x):\n"
         "    if FAST:\n"
         "        tl.store(x, 1.0)\n");
  EXPECT_THAT(slice.text, HasSubstr("FAST = tl.constexpr(False)"));
  EXPECT_THAT(slice.text, Not(HasSubstr("torch")));
}

TEST_F(SliceTest, DecoratorsAndForeignAnnotationsGo) {
  const Slice slice = Of(std::string(kHead) +
                         "@triton.autotune(configs=[], key=[])\n"
                         "@triton.jit(do_not_specialize=['n'])\n"
                         "def k(x: torch.Tensor, n) -> torch.Tensor:\n"
                         "    tl.store(x, n)\n");
  EXPECT_THAT(slice.text, Not(HasSubstr("autotune")));
  EXPECT_THAT(slice.text, HasSubstr("@triton.jit(do_not_specialize=['n'])"));
  EXPECT_THAT(slice.text, HasSubstr("def k(x, n):"));
}

TEST_F(SliceTest, MovedFunctionsAreFoundWhereTheyAre) {
  const Slice slice = Of(std::string(kHead) +
                         "from triton.language.math import tanh\n"
                         "@triton.jit\n"
                         "def k(x):\n"
                         "    tl.store(x, tanh(tl.load(x)))\n");
  EXPECT_THAT(
      slice.text,
      HasSubstr("    from triton.language.extra.libdevice import tanh"));
}

TEST(SliceErrors, AnUnknownFunctionIsNotFound) {
  const SliceRequest request = {
      .text = "x = 1\n", .module = "m", .entry = "k", .lookup = {}};
  EXPECT_EQ(MakeSlice(request).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace kernelfleet::kernel
