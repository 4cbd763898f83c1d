"""out[index[i], :] += src[i, :]: one atomic for each element."""

import triton
import triton.language as tl


@triton.jit
def scatter_add(src_ptr, index_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < columns
    target = tl.load(index_ptr + row)
    values = tl.load(src_ptr + row * columns + offsets, mask=mask)
    tl.atomic_add(out_ptr + target * columns + offsets, values, mask=mask,
                  sem="relaxed")
