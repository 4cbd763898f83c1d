"""Throw-away kernels: the smallest thing that a working stack compiles."""

import triton
import triton.language as tl


@triton.jit
def copy_kernel(source, sink, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    tl.store(sink + offsets, tl.load(source + offsets, mask=mask), mask=mask)
