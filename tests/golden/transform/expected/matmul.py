#!/usr/bin/env python3
"""A matmul whose blocks the configs vary."""
from __future__ import annotations

import torch; import triton as tr  # both on one line
import triton.language as T

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
        target = tr.runtime.driver.active.get_current_target()
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


def prune(configs, named_args, **kwargs):
    return configs


@tr.autotune(
    configs=_kf_tileir_configs("dot-related", [  # tuned by hand
        tr.Config({"BM": 128, "BN": 128, "BK": 32, "GROUP": 8}, num_stages=3, num_warps=8),
        tr.Config({"BM": 64, "BN": 128, "BK": 64, "GROUP": 8}, num_stages=4, num_warps=4),  # small M
    ], blocks=("BM", "BN", "BK")),
    key=["M", "N", "K"],
    prune_configs_by={"early_config_prune": prune},
)
@tr.jit
def matmul(a, b, c, M, N, K, am, ak, bk, bn, cm, cn,
           BM: T.constexpr, BN: T.constexpr, BK: T.constexpr, GROUP: T.constexpr):
    # T.dot(x, y) in a comment
    pid = T.program_id(0)
    rows = (pid // T.cdiv(N, BN)) * BM + T.arange(0, BM)
    cols = (pid % T.cdiv(N, BN)) * BN + T.arange(0, BN)
    depth = T.arange(0, BK)
    acc = T.zeros((BM, BN), dtype=T.float32)
    for k in range(0, K, BK):
        x = T.load(a + rows[:, None] * am + (k + depth)[None, :], mask=(rows[:, None] < M) & ((k + depth)[None, :] < K), other=0.0)
        y = T.load(b + (k + depth)[:, None] * bk + cols[None, :] * bn, mask=((k + depth)[:, None] < K) & (cols[None, :] < N), other=0.0)
        acc = T.dot(x, y, acc)
    T.store(c + rows[:, None] * cm + cols[None, :] * cn, acc, mask=(rows[:, None] < M) & (cols[None, :] < N))


def is_cuda():
    return tr.runtime.driver.active.get_current_target().backend == "cuda"
