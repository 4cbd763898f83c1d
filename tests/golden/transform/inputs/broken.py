import triton


@triton.jit
def kernel(x:
    pass
