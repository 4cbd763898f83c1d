#include "common/kernel/analyze.h"

#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kernelfleet::kernel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> NamesOf(const v1::SourceFacts& facts) {
  std::vector<std::string> out;
  for (const auto& kernel : facts.kernels()) out.push_back(kernel.name());
  return out;
}

TEST(AnalyzeTest, JitIsFoundUnderEveryWayToImportIt) {
  const v1::SourceFacts facts = Analyze("k.py", R"py(
import triton as T, numba
from triton import jit, language as L
from mypkg.compat import triton as tri, tl
from triton.runtime import jit as runtime_jit
import functools
def local_jit(fn):
    return T.jit(fn)
wrapped = functools.partial(T.jit, noinline=True)
@T.jit
def a(): pass
@jit
def b(): pass
@tri.jit(do_not_specialize=["n"])
def c(n): pass
@local_jit
def d(): pass
@wrapped
def e(): pass
def f(x): pass
g = T.jit(f)
@numba.jit
def not_ours(): pass
def host(): pass
@mypkg.own_decorator
def h(x):
    tl.store(x, 1)
)py");
  EXPECT_THAT(NamesOf(facts), ElementsAre("a", "b", "c", "d", "e", "f", "h"));
  EXPECT_TRUE(facts.kernels(2).params(0).do_not_specialize());
}

TEST(AnalyzeTest, KernelsUnderConditionsAndInsideFunctionsAreFound) {
  const v1::SourceFacts facts = Analyze("k.py", R"py(
import triton
if True:
    @triton.jit
    def a(): pass
else:
    @triton.jit
    def a(): pass
def make():
    class C:
        @staticmethod
        @triton.jit
        def inner(): pass
    return C
)py");
  EXPECT_THAT(NamesOf(facts), ElementsAre("a", "a", "inner"));
  EXPECT_THAT(facts.kernels(2).scope(), ElementsAre("make", "C"));
}

TEST(AnalyzeTest, ParametersTellKindDefaultAndUse) {
  const v1::SourceFacts facts = Analyze("k.py", R"py(
import triton
import triton.language as tl
@triton.jit
def k(x_ptr, desc, n, scale: "f32" = 1.0, BLOCK: tl.constexpr = 128):
    offs = tl.arange(0, BLOCK)
    x = desc.load([0, n])
    tl.store(x_ptr + offs, x * scale)
)py");
  const auto& params = facts.kernels(0).params();
  ASSERT_EQ(params.size(), 5);
  EXPECT_TRUE(params[0].is_pointer());
  EXPECT_TRUE(params[1].is_descriptor());
  EXPECT_FALSE(params[2].is_pointer());
  EXPECT_EQ(params[3].default_text(), "1.0");
  EXPECT_TRUE(params[4].is_constexpr());
  EXPECT_EQ(params[4].default_text(), "128");
  EXPECT_THAT(facts.kernels(0).read_args(), ElementsAre("desc"));
  EXPECT_THAT(facts.kernels(0).written_args(), ElementsAre("x_ptr"));
}

TEST(AnalyzeTest, AnAddressIsABaseAndStridedTerms) {
  const v1::SourceFacts facts = Analyze("k.py", R"py(
import triton
import triton.language as tl
@triton.jit
def k(a_ptr, M, K, stride_m, stride_k, BM: tl.constexpr, BK: tl.constexpr):
    offs_m = tl.program_id(0) * BM + tl.arange(0, BM)
    offs_k = tl.arange(0, BK)
    ptrs = a_ptr + offs_m[:, None] * stride_m + offs_k[None, :] * stride_k
    for i in range(0, K, BK):
        a = tl.load(ptrs, mask=offs_k[None, :] < K - i, other=0.0)
        tl.store(a_ptr + offs_m[:, None] * K + offs_k[None, :], a)
        ptrs += BK * stride_k
)py");
  const auto& accesses = facts.kernels(0).accesses();
  ASSERT_EQ(accesses.size(), 2);
  const v1::Access& load = accesses[0];
  EXPECT_EQ(load.argument(), "a_ptr");
  EXPECT_EQ(load.loop_depth(), 1);
  EXPECT_EQ(load.rank(), 2);
  EXPECT_EQ(load.mask(), "offs_k[None, :] < K - i");
  EXPECT_EQ(load.other(), "0.0");
  EXPECT_EQ(load.last_axis(), v1::Access::strided);
  ASSERT_EQ(load.terms_size(), 3);
  EXPECT_EQ(load.terms(0).index(), "offs_m[:, None]");
  EXPECT_EQ(load.terms(0).stride(), "stride_m");
  EXPECT_EQ(load.terms(0).axis(), 0);
  EXPECT_EQ(load.terms(1).stride(), "stride_k");
  EXPECT_EQ(load.terms(1).axis(), 1);
  EXPECT_EQ(load.terms(2).axis(), -1);
  EXPECT_EQ(accesses[1].last_axis(), v1::Access::contiguous);
}

TEST(AnalyzeTest, ReadsAndWritesGoThroughHelpers) {
  const v1::SourceFacts facts = Analyze("k.py", R"py(
import triton
import triton.language as tl
@triton.jit
def put(p, v):
    tl.store(p, v)
@triton.jit
def k(a, b, c):
    put(b + 1, tl.load(a))
    tl.atomic_add(c, 1)
)py");
  const auto& helper = facts.kernels(0);
  const auto& kernel = facts.kernels(1);
  EXPECT_FALSE(helper.is_entry());
  EXPECT_THAT(helper.callers(), ElementsAre("k"));
  EXPECT_TRUE(kernel.is_entry());
  EXPECT_THAT(kernel.calls(), ElementsAre("put"));
  EXPECT_THAT(kernel.read_args(), ElementsAre("a", "c"));
  EXPECT_THAT(kernel.written_args(), ElementsAre("b", "c"));
}

TEST(AnalyzeTest, AutotuneIsReadThroughVariablesAndCalls) {
  const v1::SourceFacts facts = Analyze("k.py", R"py(
import triton
import triton.language as tl
tuned = triton.autotune(configs=get_configs(), key=["n"])
def make():
    return triton.autotune(configs=[triton.Config({"B": 1})], key=["m"])
@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 64, "GROUP": 8}, num_warps=4, num_stages=2),
        triton.Config({"BLOCK": 2 * 64}, 8, pre_hook=hook),
    ],
    key=["n", "k"], reset_to_zero=["c"], restore_value=["d"],
    prune_configs_by={"early_config_prune": prune})
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def a(n, BLOCK: tl.constexpr): pass
@tuned
@triton.jit
def b(n): pass
@make()
@triton.jit
def c(m): pass
)py");
  const v1::Autotune& autotune = facts.kernels(0).autotune();
  ASSERT_EQ(autotune.configs_size(), 2);
  EXPECT_TRUE(autotune.complete());
  EXPECT_EQ(autotune.configs(0).kwargs().at("BLOCK"), "64");
  EXPECT_EQ(autotune.configs(0).options().at("num_stages"), "2");
  EXPECT_EQ(autotune.configs(1).options().at("num_warps"), "8");
  EXPECT_EQ(autotune.configs(1).options().at("pre_hook"), "hook");
  EXPECT_THAT(autotune.key(), ElementsAre("n", "k"));
  EXPECT_THAT(autotune.reset_to_zero(), ElementsAre("c"));
  EXPECT_THAT(autotune.restore_value(), ElementsAre("d"));
  EXPECT_EQ(facts.kernels(0).heuristics().count("EVEN"), 1u);
  EXPECT_EQ(facts.kernels(1).autotune().configs_text(), "get_configs()");
  EXPECT_FALSE(facts.kernels(1).autotune().complete());
  EXPECT_THAT(facts.kernels(2).autotune().key(), ElementsAre("m"));
}

TEST(AnalyzeTest, LaunchesTellGridArgumentsAndPlace) {
  const v1::SourceFacts facts = Analyze("k.py", R"py(
import triton
@triton.jit
def k(x, n, B): pass
def run(x):
    grid = lambda meta: (triton.cdiv(n, meta["B"]),)
    k[grid](x, x.numel(), B=128, **extra)
    table[0](x)
)py");
  ASSERT_EQ(facts.launches_size(), 1);
  const v1::Launch& launch = facts.launches(0);
  EXPECT_EQ(launch.kernel(), "k");
  EXPECT_EQ(launch.function(), "run");
  EXPECT_EQ(launch.grid(), "grid");
  EXPECT_TRUE(launch.open_ended());
  ASSERT_EQ(launch.arguments_size(), 3);
  EXPECT_EQ(launch.arguments(1).text(), "x.numel()");
  EXPECT_EQ(launch.arguments(2).name(), "B");
}

TEST(AnalyzeTest, OperationsAndHintsHaveTheirLines) {
  const v1::SourceFacts facts = Analyze("k.py", R"py(
import triton
import triton.language as tl
from triton.language.extra import libdevice
@triton.jit
def k(x, n):
    tl.assume(n > 0)
    p = tl.multiple_of(x, 16)
    v = libdevice.tanh(tl.load(p))
    tl.debug_barrier()
    tl.store(x, tl.dot(v, v))
)py");
  const v1::JitFunction& kernel = facts.kernels(0);
  ASSERT_EQ(kernel.hints_size(), 2);
  EXPECT_EQ(kernel.hints(0).kind(), "assume");
  EXPECT_EQ(kernel.hints(1).value(), "16");
  std::vector<std::string> names;
  for (const auto& operation : kernel.operations()) {
    names.push_back(operation.name());
  }
  EXPECT_THAT(names, ElementsAre("libdevice.tanh", "debug_barrier", "dot"));
  EXPECT_EQ(kernel.operations(0).line(), 9);
}

// The same two hints in each form that TorchInductor has written.
struct Era {
  std::string_view signature;
  std::string_view hints;
  v1::InductorKernel::HintEra era;
};

class InductorEraTest : public testing::TestWithParam<Era> {};

TEST_P(InductorEraTest, HintsAreRead) {
  const std::string text =
      "import triton\n"
      "import triton.language as tl\n"
      "from torch._inductor.runtime import triton_heuristics\n"
      "@triton_heuristics.pointwise(\n"
      "    size_hints={'x': 1024}, filename=__file__,\n"
      "    triton_meta={'signature': " +
      std::string(GetParam().signature) +
      ", 'device': DeviceProperties(type='hip', cc='gfx942', "
      "regs={'a': {'b': 1}}), 'constants': {}, 'configs': [" +
      std::string(GetParam().hints) +
      "]},\n"
      "    inductor_meta={'kernel_name': 'k', 'mutated_arg_names': "
      "['out'], 'autotune_hints': set(), 'nested': {'a': {'b': []}}},\n"
      ")\n"
      "@triton.jit\n"
      "def k(inp, out, xnumel, XBLOCK: tl.constexpr):\n"
      "    tl.store(out, tl.load(inp))\n";
  const v1::SourceFacts facts = Analyze("k.py", text);
  ASSERT_EQ(facts.inductor_size(), 1);
  const v1::InductorKernel& kernel = facts.inductor(0);
  EXPECT_EQ(kernel.kernel(), "k");
  EXPECT_EQ(kernel.heuristic(), "pointwise");
  EXPECT_EQ(kernel.era(), GetParam().era);
  EXPECT_THAT(kernel.divisible_by_16(), ElementsAre(0, 2));
  ASSERT_EQ(kernel.arguments_size(), 3);
  EXPECT_EQ(kernel.arguments(0).name(), "inp");
  EXPECT_EQ(kernel.arguments(0).type(), "*fp32");
  EXPECT_EQ(kernel.arguments(2).type(), "i32");
  EXPECT_THAT(kernel.mutated_arg_names(), ElementsAre("out"));
  EXPECT_EQ(kernel.inductor_meta().at("autotune_hints"), "set()");
}

constexpr std::string_view kByPosition = "{0: '*fp32', 1: '*fp32', 2: 'i32'}";
constexpr std::string_view kByName =
    "{'inp': '*fp32', 'out': '*fp32', 'xnumel': 'i32'}";

INSTANTIATE_TEST_SUITE_P(
    AllEras, InductorEraTest,
    testing::Values(
        Era{kByPosition,
            "instance_descriptor(divisible_by_16=(0, 2), equal_to_1=())",
            v1::InductorKernel::instance_descriptor},
        Era{kByPosition,
            "AttrsDescriptor(divisible_by_16=(0, 2), equal_to_1=())",
            v1::InductorKernel::attrs_descriptor},
        Era{kByName,
            "AttrsDescriptor.from_dict({'arg_properties': {'tt.divisibility': "
            "(0, 2), 'tt.equal_to': ()}, 'cls': 'AttrsDescriptor'})",
            v1::InductorKernel::attrs_from_dict},
        Era{kByName,
            "{(0,): [['tt.divisibility', 16], ['tt.pointer_range', 32]], "
            "(2,): [['tt.divisibility', 16]]}",
            v1::InductorKernel::attribute_lists}));

TEST(AnalyzeTest, KernelsInsideInductorsSourceStringsAreFound) {
  const v1::SourceFacts facts = Analyze("out.py",
                                        "async_compile = AsyncCompile()\n"
                                        "f = async_compile.triton('k', '''\n"
                                        "import triton\n"
                                        "@triton.jit\n"
                                        "def k(x): pass\n"
                                        "''', device_str='cuda')\n"
                                        "def call(args):\n"
                                        "    f.run(args)\n"
                                        "    k.run(args, grid=grid(1))\n");
  EXPECT_THAT(NamesOf(facts), ElementsAre("k"));
  EXPECT_EQ(facts.kernels(0).line(), 5);
  EXPECT_EQ(facts.launches_size(), 1);
}

TEST(AnalyzeTest, OtherStringsHoldNoKernels) {
  EXPECT_THAT(NamesOf(Analyze("k.py",
                              "import triton\n"
                              "s = '''\n@triton.jit\ndef k(x): pass\n'''\n")),
              IsEmpty());
}

TEST(AnalyzeTest, ABrokenFileTellsLineAndColumnAndKeepsItsKernels) {
  const v1::SourceFacts facts = Analyze("k.py",
                                        "import triton\n"
                                        "x = = 1\n"
                                        "@triton.jit\n"
                                        "def k(x): pass\n");
  ASSERT_GT(facts.problems_size(), 0);
  EXPECT_EQ(facts.problems(0).line(), 2);
  EXPECT_THAT(NamesOf(facts), ElementsAre("k"));
}

TEST(AnalyzeTest, DeepAndSelfCallingCodeEnds) {
  std::string deep = "import triton\n@triton.jit\ndef k(x):\n    y = ";
  deep += std::string(100000, '(') + "x" + std::string(100000, ')') + "\n";
  EXPECT_EQ(Analyze("k.py", deep).kernels_size(), 1);
  std::string doubling =
      "import triton\nimport triton.language as tl\n"
      "@triton.jit\ndef k(x):\n";
  for (int i = 0; i < 200; ++i) doubling += "    x = x + x\n";
  doubling += "    tl.store(x, tl.load(x))\n    k(x)\n";
  EXPECT_EQ(Analyze("k.py", doubling).kernels_size(), 1);
  std::string fan = "import triton\n";
  for (int i = 0; i < 40; ++i) {
    fan += "@triton.jit\ndef f" + std::to_string(i) + "(x):\n    return f" +
           std::to_string(i + 1) + "(x) + f" + std::to_string(i + 1) + "(x)\n";
  }
  EXPECT_EQ(Analyze("k.py", fan).kernels_size(), 40);
}

}  // namespace
}  // namespace kernelfleet::kernel
