# Lists of configs in every form.
try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None
import math

BLOCKS = [1024, 2048]
CONFIGS = [triton.Config({"BLOCK": b}) for b in BLOCKS]


def get_configs(pre_hook=None):
    return [triton.Config({}, num_warps=w, pre_hook=pre_hook) for w in (4, 8)]


tuned = triton.autotune(get_configs(), key=["n"])


def with_own_list(configs):
    return triton.autotune(configs=configs, key=["n"])


@triton.jit
def twice(x):
    return x + x


@triton.autotune(configs=CONFIGS, key=["n"])
@triton.jit
def add_variable(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


@tuned
@triton.jit
def sum_through_a_variable(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + tl.program_id(0), tl.sum(tl.load(x + i, mask=i < n, other=0), 0))


@triton.autotune(configs=get_configs(), key=["n"])
@triton.jit
def norm_call(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * n + i, mask=i < n, other=0.0)
    tl.store(y + tl.program_id(0) * n + i, v / tl.sum(v, 0), mask=i < n)


class Holder:
    @staticmethod
    def make():
        @triton.autotune(configs=[triton.Config({"BLOCK": b}) for b in BLOCKS] + CONFIGS, key=["n"])
        @triton.jit
        def inside(x, y, n, BLOCK: tl.constexpr):
            i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            tl.store(y + i, twice(tl.load(x + i, mask=i < n)), mask=i < n)

        return inside


@with_own_list(CONFIGS if math.pi > 3 else [])
@triton.jit
def add_conditional(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 2, mask=i < n)
