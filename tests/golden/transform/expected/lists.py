# Lists of configs in every form.
try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None
import math

# kernelfleet: configs for the TileIR backend (begin)
# (first sm, last sm, blocks, occupancy, num_warps, num_stages, num_ctas)
_KF_TILEIR_ROWS = {
    "norm-like": (
        (80, 129, (), 1, 4, 3, 1),
        (80, 129, (), 1, 8, 3, 1),
        (80, 129, (), 2, 4, 3, 1),
        (80, 129, (), 2, 8, 3, 1),
        (80, 129, (), 4, 4, 3, 1),
        (80, 129, (), 4, 8, 3, 1),
    ),
    "element-wise": (
        (80, 129, (256,), 1, 4, 3, 1),
        (80, 129, (256,), 2, 4, 3, 1),
        (80, 129, (512,), 2, 4, 3, 1),
        (80, 129, (1024,), 2, 4, 4, 1),
        (80, 129, (1024,), 4, 4, 4, 1),
        (80, 129, (2048,), 4, 8, 4, 1),
        (80, 129, (256,), 16, 2, 2, 1),
    ),
    "reduction": (
        (80, 129, (), 1, 4, 3, 1),
        (80, 129, (), 1, 8, 3, 1),
        (80, 129, (), 2, 4, 3, 1),
        (80, 129, (), 2, 8, 3, 1),
        (80, 129, (), 4, 4, 3, 1),
        (80, 129, (), 4, 8, 3, 1),
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

BLOCKS = [1024, 2048]
CONFIGS = [triton.Config({"BLOCK": b}) for b in BLOCKS]


def get_configs(pre_hook=None):
    return [triton.Config({}, num_warps=w, pre_hook=pre_hook) for w in (4, 8)]


tuned = triton.autotune(_kf_tileir_configs("reduction", get_configs()), key=["n"])


def with_own_list(configs):
    return triton.autotune(configs=_kf_tileir_configs("element-wise", configs, blocks=("BLOCK",)), key=["n"])


@triton.jit
def twice(x):
    return x + x


@triton.autotune(configs=_kf_tileir_configs("element-wise", CONFIGS, blocks=("BLOCK",)), key=["n"])
@triton.jit
def add_variable(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


@tuned
@triton.jit
def sum_through_a_variable(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + tl.program_id(0), tl.sum(tl.load(x + i, mask=i < n, other=0), 0))


@triton.autotune(configs=_kf_tileir_configs("norm-like", get_configs()), key=["n"])
@triton.jit
def norm_call(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * n + i, mask=i < n, other=0.0)
    tl.store(y + tl.program_id(0) * n + i, v / tl.sum(v, 0), mask=i < n)


class Holder:
    @staticmethod
    def make():
        @triton.autotune(configs=_kf_tileir_configs("element-wise", [triton.Config({"BLOCK": b}) for b in BLOCKS] + CONFIGS), key=["n"])
        @triton.jit
        def inside(x, y, n, BLOCK: tl.constexpr):
            i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            tl.store(y + i, twice(tl.load(x + i, mask=i < n)), mask=i < n)

        return inside


@with_own_list(CONFIGS if math.pi > 3 else [])
@triton.jit
def add_conditional(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 2, mask=i < n)
