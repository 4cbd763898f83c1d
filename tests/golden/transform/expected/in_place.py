import triton
import triton.language as tl

# kernelfleet: configs for the TileIR backend (begin)
# (first sm, last sm, blocks, occupancy, num_warps, num_stages, num_ctas)
_KF_TILEIR_ROWS = {
    "element-wise": (
        (80, 129, (256,), 1, 4, 3, 1),
        (80, 129, (256,), 2, 4, 3, 1),
        (80, 129, (512,), 2, 4, 3, 1),
        (80, 129, (1024,), 2, 4, 4, 1),
        (80, 129, (1024,), 4, 4, 4, 1),
        (80, 129, (2048,), 4, 8, 4, 1),
        (80, 129, (256,), 16, 2, 2, 1),
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


@triton.autotune(configs=[triton.Config({"BLOCK": 1024})], key=["n"])
@triton.jit
def scale_in_place(x, s, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * s, mask=i < n)


@triton.autotune(configs=[triton.Config({"BLOCK": 1024})], key=["n"])
@triton.jit
def count(x, total, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(total, tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0))


@triton.autotune(configs=_kf_tileir_configs("element-wise", [triton.Config({"BLOCK": 1024})], blocks=("BLOCK",)), key=["n"], restore_value=["x"])
@triton.jit
def scale_restored(x, s, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * s, mask=i < n)


@triton.autotune(configs=_kf_tileir_configs("element-wise", [triton.Config({"BLOCK": 512}), triton.Config({"BLOCK": 1024})], blocks=("BLOCK",)), key=["n"])
@triton.jit
def scale_two(x, s, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * s, mask=i < n)


@triton.autotune(configs=[triton.Config({"BLOCK": 1024})], key=["n"])
@triton.jit
def aliased(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


@triton.autotune(configs=_kf_tileir_configs("element-wise", [triton.Config({"BLOCK": 1024})], blocks=("BLOCK",)), key=["n"])
@triton.jit
def copy(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


def launch(t, u):
    aliased[(1,)](t, t, t.numel())
    copy[(1,)](t, u, t.numel())
