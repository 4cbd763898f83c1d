"""Layer normalisation of rows, with scale and bias."""

import triton
import triton.language as tl


@triton.jit
def layer_norm(x_ptr, weight_ptr, bias_ptr, out_ptr, mean_ptr, rstd_ptr,
               row_stride, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row * row_stride
    out_ptr += row * row_stride

    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + offsets, mask=offsets < columns,
                         other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / columns

    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets, mask=offsets < columns,
                    other=0.0).to(tl.float32)
        # What lies past the row must not count as (0 - mean) squared.
        centred = tl.where(offsets < columns, x - mean, 0.0)
        total += centred * centred
    rstd = 1.0 / tl.sqrt(tl.sum(total, axis=0) / columns + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)

    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        mask = offsets < columns
        x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + offsets, mask=mask)
        bias = tl.load(bias_ptr + offsets, mask=mask)
        y = (x - mean) * rstd * weight + bias
        tl.store(out_ptr + offsets, y.to(out_ptr.dtype.element_ty), mask=mask)
