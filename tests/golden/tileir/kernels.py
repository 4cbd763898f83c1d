"""Kernels whose TTIR the Tile IR tests lower; together they use every
operation that the lowering covers. make.py compiles them."""

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def add(x, y, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    tl.store(o + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)


@triton.jit
def softmax(o, x, si, so, rows, cols, B: tl.constexpr, S: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=S):
        c = tl.arange(0, B)
        v = tl.load(x + row * si + c, mask=c < cols, other=-float("inf"))
        e = tl.exp(v - tl.max(v, axis=0))
        tl.store(o + row * so + c, e / tl.sum(e, axis=0), mask=c < cols)


@triton.jit
def matmul(a, b, c, M, N, K, sam, sbk, scm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, G: tl.constexpr):
    pid = tl.program_id(0)
    nm = tl.cdiv(M, BM)
    nn = tl.cdiv(N, BN)
    first = pid // (G * nn) * G
    size = min(nm - first, G)
    pm = first + (pid % (G * nn)) % size
    pn = (pid % (G * nn)) // size
    om = (pm * BM + tl.arange(0, BM)) % M
    on = (pn * BN + tl.arange(0, BN)) % N
    ok = tl.arange(0, BK)
    pa = a + om[:, None] * sam + ok[None, :]
    pb = b + ok[:, None] * sbk + on[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(pa, mask=ok[None, :] < K - k * BK, other=0.0)
        y = tl.load(pb, mask=ok[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(x, y, acc)
        pa += BK
        pb += BK * sbk
    cm = pm * BM + tl.arange(0, BM)
    cn = pn * BN + tl.arange(0, BN)
    tl.store(c + cm[:, None] * scm + cn[None, :], acc.to(tl.float16), mask=(cm[:, None] < M) & (cn[None, :] < N))


@triton.jit
def matmul_descriptors(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    da = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    dc = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        acc = tl.dot(da.load([pm * BM, k * BK]), db.load([pn * BN, k * BK]).T, acc)
    dc.store([pm * BM, pn * BN], acc.to(tl.float16))


@triton.jit
def matmul_host_descriptors(da, db, dc, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        acc = tl.dot(da.load([pm * BM, k * BK]), db.load([pn * BN, k * BK]).T, acc)
    dc.store([pm * BM, pn * BN], acc.to(tl.float16))


@triton.jit
def integers(x, y, o, u, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i)
    b = tl.load(y + i)
    r = a + b - a * b
    r = (r << 3) ^ (a >> 2) | (b & 7)
    r += a // b + a % b
    r += tl.minimum(a, b) - tl.maximum(a, b)
    c = a.to(tl.uint32, bitcast=True)
    d = b.to(tl.uint32, bitcast=True)
    q = c // d + c % d + (c >> 1)
    q += tl.minimum(c, d) + tl.maximum(c, d) + tl.umulhi(c, d)
    q += tl.where(c < d, c, d) + tl.where(a <= b, c, d)
    q += tl.where(c >= d, c, d) + tl.where(a > b, c, d) + tl.where(a == b, c, d)
    r += tl.abs(a) + tl.where(a != b, a, b) + tl.where(a < b, 1, 0)
    r += a.to(tl.int8).to(tl.int32) + (a > 0).to(tl.int32)
    tl.store(o + i, r)
    tl.store(u + i, q)


@triton.jit
def floats(x, y, o, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i)
    b = tl.load(y + i)
    r = a * b - a / b + (-a) + (a % b)
    r += tl.exp(a) + tl.exp2(a) + tl.log(a) + tl.log2(a) + tl.sin(a) + tl.cos(a)
    r += tl.sqrt(a) + tl.rsqrt(a) + tl.abs(a) + tl.floor(a) + tl.ceil(a)
    r += tl.fma(a, b, r) + tl.sqrt_rn(a) + tl.div_rn(a, b)
    r += tl.minimum(a, b) + tl.maximum(a, b)
    r += tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)
    r += tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)
    r += tl.clamp(a, b, 3.0)
    r += tl.where(a < b, a, b) + tl.where(a >= b, a, b) + tl.where(a == b, a, b) + tl.where(a != b, 1.0, 2.0)
    r += libdevice.tanh(a) + libdevice.pow(a, b) + tl.erf(a)
    tl.store(o + i, r)


@triton.jit
def conversions(x, o, h, e, i8, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i)
    tl.store(h + i, a.to(tl.float16))
    tl.store(e + i, a.to(tl.float8e4nv))
    tl.store(i8 + i, a.to(tl.int8))
    r = a.to(tl.bfloat16).to(tl.float32) + tl.load(e + i).to(tl.float32)
    r += a.to(tl.int32).to(tl.float32) + a.to(tl.uint32).to(tl.float32)
    r += a.to(tl.int32, bitcast=True).to(tl.float32)
    w = tl.load(h + i).to(tl.int16, bitcast=True).to(tl.int64)
    r += w.to(tl.float32)
    p = (x + i).to(tl.int64).to(tl.pointer_type(tl.float32))
    tl.store(o + i, r + tl.load(p))


@triton.jit
def shapes(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i)
    m = tl.reshape(a, (B // 4, 4))
    m = tl.trans(m)
    m = m + tl.arange(4, 8)[:, None]
    p, q = tl.split(tl.reshape(tl.trans(m), (B // 2, 2)))
    j = tl.reshape(tl.join(q, p), (B,))
    c = tl.cat(p, q, can_reorder=True)
    g = tl.gather(m, tl.zeros((4, B // 4), dtype=tl.int32) + 2, axis=0)
    tl.store(o + i, j + c + tl.reshape(g, (B,)))


@triton.jit
def reductions(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.reshape(tl.load(x + i), (B // 8, 8))
    s = tl.sum(a, axis=1) + tl.max(a, axis=1) - tl.min(a, axis=1)
    k = tl.argmax(a, axis=1) + tl.argmin(a, axis=1)
    z = tl.xor_sum(a.to(tl.int32), axis=1)
    tl.store(o + tl.arange(0, B // 8), s + k + z)


@triton.jit
def recur(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def scans(x, y, o, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i)
    b = tl.load(y + i)
    p, q = tl.associative_scan((a, b), 0, recur)
    tl.store(o + i, tl.cumsum(a, 0) + tl.cumprod(b, 0, reverse=True) + p + q)


@triton.jit
def dots(a, b, e, f, g, c, ci, B: tl.constexpr, P: tl.constexpr):
    i = tl.arange(0, B)
    p = i[:, None] * B + i[None, :]
    x = tl.load(a + p)
    y = tl.load(b + p)
    acc = tl.dot(x, y, input_precision=P)
    acc = tl.dot(x.to(tl.bfloat16), y.to(tl.bfloat16), acc)
    acc = tl.dot(tl.load(e + p), tl.load(f + p), acc)
    tl.store(c + p, acc)
    tl.store(ci + p, tl.dot(tl.load(g + p), tl.load(g + p)))


@triton.jit
def atomics(x, h, lock, n, B: tl.constexpr):
    i = tl.arange(0, B)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    v = tl.load(x)
    if v > 3:
        v = v * 2
        tl.store(x, v)
    else:
        v = v + n
        tl.store(x + 1, v)
    tl.atomic_xchg(lock, 0)
    tl.debug_barrier()
    tl.atomic_add(x + i, v, mask=i < n, sem="relaxed")
    tl.atomic_max(x + i, v)
    tl.atomic_and(x + i, v, sem="acquire", scope="cta")
    tl.atomic_add(h + i, 1.0, sem="release", scope="sys")


@triton.jit
def early_return(x, n, B: tl.constexpr):
    pid = tl.program_id(0)
    if pid >= n:
        return
    i = pid * B + tl.arange(0, B)
    k = 0
    a = tl.load(x + i)
    while k < n:
        a += k
        k += 1
    tl.store(x + i, a)


@triton.jit(noinline=True)
def halve(a, b):
    return a / 2, b + 1


@triton.jit
def calls(x, B: tl.constexpr):
    i = tl.program_id(0)
    p, q = halve(tl.load(x + i), i)
    p, q = halve(p, q)
    tl.store(x + q, p)


@triton.jit
def hints(x, o, n, s, B: tl.constexpr):
    tl.assume(s % 16 == 0)
    tl.assume((n > 0) & (n <= 65536))
    s = tl.multiple_of(s, 16)
    i = tl.arange(0, B)
    tl.device_print("value", n)
    tl.device_assert(n > 0, "n is positive")
    tl.store(o + i, tl.load(x + tl.program_id(1) * s + i, mask=i < n))


@triton.jit
def descriptor_reduce(x, o, M, N, BM: tl.constexpr, BN: tl.constexpr):
    dx = tl.make_tensor_descriptor(x, [M, N], [N, 1], [BM, BN], padding_option="nan")
    do = tl.make_tensor_descriptor(o, [M, N], [N, 1], [BM, BN])
    do.atomic_add([0, 8], dx.load([1, 3]))
