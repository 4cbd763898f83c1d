import triton
import triton.language as tl
from triton.experimental import gluon

import own

# kernelfleet: configs for the TileIR backend (begin)
# (first sm, last sm, blocks, occupancy, num_warps, num_stages, num_ctas)
_KF_TILEIR_ROWS = {
    "dot-related": (
        (100, 119, (256, 256, 64), 1, None, 4, 1),
        (100, 119, (256, 256, 64), 2, None, 4, 1),
        (100, 119, (256, 128, 64), 2, None, 4, 1),
        (100, 119, (256, 256, 64), 2, None, 6, 1),
        (100, 119, (128, 128, 64), 4, None, 4, 1),
        (100, 100, (256, 256, 128), 2, None, 4, 2),
        (100, 100, (256, 128, 128), 2, None, 6, 2),
        (100, 109, (128, 256, 64), 2, None, 4, 2),
        (100, 119, (128, 128, 32), 2, None, 4, 1),
        (120, 129, (128, 128, 64), 1, None, 4, 1),
        (120, 129, (128, 128, 64), 2, None, 4, 1),
        (120, 129, (128, 64, 64), 2, None, 4, 1),
        (120, 129, (64, 64, 64), 4, None, 4, 1),
        (90, 99, (128, 128, 64), 2, None, 4, 1),
        (90, 99, (128, 128, 32), 2, None, 4, 1),
        (90, 99, (128, 64, 64), 2, None, 4, 1),
        (80, 89, (128, 128, 32), 1, None, 4, 1),
        (80, 89, (128, 64, 64), 1, None, 4, 1),
        (80, 89, (64, 64, 64), 2, None, 4, 1),
    ),
}


def _kf_tileir_arch():
    """The GPU's sm number if TileIR is the active backend, else None."""
    try:
        from triton.backends import backends

        if "tileir" not in backends:
            return None
        target = triton.runtime.driver.active.get_current_target()
        return int(target.arch) if target.backend == "tileir" else None
    except Exception:  # no Triton, no GPU or no driver
        return None


def _kf_tileir_configs(kind, configs, pre_hook=None, blocks=(), widen_one=True, two_cta=True):
    """`configs`; on TileIR, followed by those of `kind` for this GPU."""
    arch = _kf_tileir_arch()
    if arch is None:
        return configs
    import copy

    configs = list(configs)
    if not configs or (len(configs) == 1 and not widen_one):
        return configs
    bases = []  # every meta-parameter survives: added configs start from these
    for config in configs:
        if all(config.kwargs != base.kwargs for base in bases):
            bases.append(config)
    # Only block sizes that the user's own configs vary are ours to choose.
    varied = [name for name in blocks if any(c.kwargs.get(name) != bases[0].kwargs.get(name) for c in bases)]
    added = []
    for base in bases[:: (len(bases) + 3) // 4]:
        for first, last, tile, occupancy, num_warps, num_stages, num_ctas in _KF_TILEIR_ROWS[kind]:
            if not first <= arch <= last:
                continue
            config = copy.copy(base)
            config.kwargs = kwargs = dict(base.kwargs)
            kwargs.update((name, size) for name, size in zip(blocks, tile) if name in varied)
            if num_ctas > 1:
                area = [kwargs.get(name) for name in blocks[:2]]
                if not two_cta or len(area) < 2 or None in area or area[0] * area[1] < 256 * 128:
                    continue
                if any(name.startswith("GROUP") and size % num_ctas for name, size in kwargs.items()):
                    continue
                if "NUM_CTAS" in kwargs:
                    kwargs["NUM_CTAS"] = num_ctas
                if "NUM_SMS" in kwargs:
                    kwargs["NUM_SMS"] //= num_ctas
            if hasattr(config, "occupancy"):
                config.occupancy = occupancy
            else:
                kwargs["occupancy"] = occupancy
            config.num_warps = num_warps or bases[0].num_warps
            config.num_stages, config.num_ctas = num_stages, num_ctas
            config.pre_hook = pre_hook or base.pre_hook
            if all(vars(config) != vars(other) for other in added):
                added.append(config)
    return configs + added[:16]
# kernelfleet: configs for the TileIR backend (end)

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


@triton.autotune(configs=_kf_tileir_configs("dot-related", [triton.Config({"BM": 64}), triton.Config({"BM": 128})], two_cta=False), key=["NUM_SMS"])
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
