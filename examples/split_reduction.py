"""Sum of a vector: each program reduces a stretch, one atomic adds it up."""

import triton
import triton.language as tl


@triton.jit
def split_reduction(x_ptr, out_ptr, n, BLOCK: tl.constexpr,
                    BLOCKS_PER_PROGRAM: tl.constexpr):
    first = tl.program_id(0) * BLOCK * BLOCKS_PER_PROGRAM
    total = tl.zeros((BLOCK,), tl.float32)
    for block in range(BLOCKS_PER_PROGRAM):
        offsets = first + block * BLOCK + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.atomic_add(out_ptr, tl.sum(total, axis=0), sem="relaxed")
