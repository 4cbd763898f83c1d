import triton
import triton.language as tl
from triton.experimental import gluon

import own

both = triton.autotune(configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=["n"])


@triton.autotune(configs=[triton.Config({"BLOCK": 64, "occupancy": 2})], key=["n"])
@triton.jit
def has_occupancy(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)


@triton.autotune(configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=["n"])
@triton.jit
def names_occupancy(x, y, n, occupancy, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * occupancy, mask=i < n)


@triton.autotune(**own.options)
@triton.jit
def hidden(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)


@triton.autotune(configs=[], key=["n"])
@triton.jit
def empty(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)


@both
@triton.jit
def shared_copy(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


@both
@triton.jit
def shared_sum(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y, tl.sum(tl.load(x + i, mask=i < n, other=0), 0))


@gluon.jit
def on_gluon(x):
    pass


@own.decorated
@triton.jit
def foreign(x, y, BLOCK: tl.constexpr):
    p = tl.make_block_ptr(x, (64, 64), (64, 1), (0, 0), (64, 64), (1, 0))
    q = tl.make_block_ptr(base=y, shape=(64, 64), strides=(1, 64), offsets=(0, 0), block_shape=(64, 64), order=(0, 1))
    tl.store(q, tl.load(p, boundary_check=(0, 1)))


@triton.autotune(configs=[triton.Config({"BM": 64}), triton.Config({"BM": 128})], key=["NUM_SMS"])
@triton.jit
def persistent(a, b, c, K, idx, NUM_SMS: tl.constexpr, BM: tl.constexpr):
    r = tl.arange(0, BM)
    d = tl.arange(0, 64)
    x = tl.load(a + r[:, None] * K + d[None, :])
    y = tl.load(b + d[:, None] + d[None, :] * K, mask=d[None, :] < K, other=1.0)
    z = tl.load(b + d[:, None] * K + d[None, :], mask=d[None, :] < K)
    g = tl.load(b + tl.load(idx + d)[:, None] + d[None, :] * 0)
    tl.debug_barrier()
    for _ in range(tl.program_id(0), K, NUM_SMS):
        tl.store(c + r[:, None] * K + d[None, :], tl.dot(x, y + z + g))
