"""Matrix product through pointer loads, with grouped program order."""

import triton
import triton.language as tl


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, m, n, k,
           stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
           BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
           GROUP_M: tl.constexpr):
    # Neighbouring programs share rows of A: the group stays in the cache.
    program = tl.program_id(0)
    tiles_m = tl.cdiv(m, BLOCK_M)
    tiles_n = tl.cdiv(n, BLOCK_N)
    in_group = GROUP_M * tiles_n
    first_m = program // in_group * GROUP_M
    group_m = min(tiles_m - first_m, GROUP_M)
    tile_m = first_m + program % in_group % group_m
    tile_n = program % in_group // group_m

    rows = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % m
    columns = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % n
    depth = tl.arange(0, BLOCK_K)
    a_tile = a_ptr + rows[:, None] * stride_am + depth[None, :] * stride_ak
    b_tile = b_ptr + depth[:, None] * stride_bk + columns[None, :] * stride_bn

    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, k, BLOCK_K):
        inside = depth < k - start
        a = tl.load(a_tile, mask=inside[None, :], other=0.0)
        b = tl.load(b_tile, mask=inside[:, None], other=0.0)
        total = tl.dot(a, b, total)
        a_tile += BLOCK_K * stride_ak
        b_tile += BLOCK_K * stride_bk

    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_tile = c_ptr + rows[:, None] * stride_cm + columns[None, :] * stride_cn
    mask = (rows < m)[:, None] & (columns < n)[None, :]
    tl.store(c_tile, total.to(c_ptr.dtype.element_ty), mask=mask)
