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


def _kf_tileir_autotune(kind, **options):
    """`triton.autotune` on TileIR; elsewhere the kernel stays as it is."""
    if _kf_tileir_arch() is None:
        return lambda kernel: kernel
    return triton.autotune(configs=_kf_tileir_configs(kind, [triton.Config({})]), **options)
# kernelfleet: configs for the TileIR backend (end)


@triton.jit
def helper(x):
    return x * 2


@_kf_tileir_autotune("element-wise", key=["BLOCK"])
@triton.jit
def plain(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, helper(tl.load(x + i, mask=i < n)), mask=i < n)


if True:
    # indented, in place
    @_kf_tileir_autotune("element-wise", key=["BLOCK"], restore_value=["x"])
    @triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
    @triton.jit
    def in_place(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


@triton.jit
def with_warps(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def open_ended(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def passed_on(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def never_launched(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)


def launch(x, y, options):
    n = x.numel()
    plain[(8,)](x, y, n, BLOCK=1024)
    in_place[(8,)](x, n, BLOCK=1024)
    with_warps[(8,)](x, y, n, BLOCK=1024, num_warps=8)
    open_ended[(8,)](x, y, n, **options)
    passed_on[(8,)](x, y, n, BLOCK=1024)
    return passed_on
