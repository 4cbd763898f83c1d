"""Row-wise softmax; a row fits into one block."""

import triton
import triton.language as tl


@triton.jit
def softmax(x_ptr, out_ptr, row_stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * row_stride + offsets, mask=mask,
                other=float("-inf")).to(tl.float32)
    # Subtracting the maximum keeps the exponentials finite.
    numerator = tl.exp(x - tl.max(x, axis=0))
    y = numerator / tl.sum(numerator, axis=0)
    tl.store(out_ptr + row * row_stride + offsets,
             y.to(out_ptr.dtype.element_ty), mask=mask)
