import triton
import triton.language as tl
from triton.language import sigmoid


@triton.jit
def gate(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    # tl.sigmoid(v) stays a comment
    w = tl.sigmoid(tl.sigmoid(v) - tl.exp(v + 1))
    u = tl.math.exp(  # of the gate
        w
    )
    z = sigmoid(v) + tl.sigmoid(v,)
    tl.store(y + i, w * u + z, mask=i < n)


def host(tl, x):
    return tl.sigmoid(x)
