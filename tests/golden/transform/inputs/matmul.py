#!/usr/bin/env python3
"""A matmul whose blocks the configs vary."""
from __future__ import annotations

import torch; import triton as tr  # both on one line
import triton.language as T


def prune(configs, named_args, **kwargs):
    return configs


@tr.autotune(
    configs=[  # tuned by hand
        tr.Config({"BM": 128, "BN": 128, "BK": 32, "GROUP": 8}, num_stages=3, num_warps=8),
        tr.Config({"BM": 64, "BN": 128, "BK": 64, "GROUP": 8}, num_stages=4, num_warps=4),  # small M
    ],
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
