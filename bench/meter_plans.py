"""Writes plans for kernelfleet-meter: A/A runs and planted differences.

    python bench/meter_plans.py OUT_DIR [--arch 90] [--repeats 30]

Compiles the kernels with Triton for the architecture (no GPU, no torch) and
writes OUT_DIR/NAME.json with the binaries beside them; paths in a plan are
relative to OUT_DIR, so run the meter there.
"""

import argparse
import json
import pathlib

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask) + tl.load(y + i, mask), mask)


@triton.jit
def matmul(a, b, c, m, n, k, stride_am, stride_bk, stride_cm,
           BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
           GROUP: tl.constexpr):
    pid = tl.program_id(0)
    rows = tl.cdiv(m, BM)
    columns = tl.cdiv(n, BN)
    group = pid // (GROUP * columns)
    first = group * GROUP
    height = min(rows - first, GROUP)
    row = first + (pid % (GROUP * columns)) % height
    column = (pid % (GROUP * columns)) // height
    rm = row * BM + tl.arange(0, BM)
    rn = column * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    pa = a + rm[:, None] * stride_am + rk[None, :]
    pb = b + rk[:, None] * stride_bk + rn[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, k, BK):
        acc = tl.dot(tl.load(pa), tl.load(pb), acc)
        pa += BK
        pb += BK * stride_bk
    tl.store(c + rm[:, None] * stride_cm + rn[None, :], acc.to(tl.float16))


ALIGNED = [["tt.divisibility", 16]]


class Plans:
    def __init__(self, out, arch):
        self.out = out
        self.target = GPUTarget("cuda", arch, 32)

    def compile(self, name, fn, signature, constants, aligned, **options):
        signature = {**signature, **{c: "constexpr" for c in constants}}
        index = {arg: i for i, arg in enumerate(fn.arg_names)}
        source = ASTSource(
            fn, {arg: signature[arg] for arg in fn.arg_names},
            {(index[c],): v for c, v in constants.items()},
            {(index[arg],): ALIGNED for arg in aligned})
        kernel = triton.compile(source, target=self.target, options=options)
        file = f"{name}.cubin"
        (self.out / file).write_bytes(kernel.asm["cubin"])
        meta = kernel.metadata
        return {"binary": file, "entry": meta.name,
                "block": [32 * meta.num_warps, 1, 1],
                "shared_bytes": meta.shared}

    def write(self, name, buffers, arms, repeats, **protocol):
        plan = {"seed": 1, "repeats": repeats, "buffers": buffers,
                "arms": [{"name": arm, "launches": [launch]}
                         for arm, launch in arms],
                "protocol": protocol}
        (self.out / f"{name}.json").write_text(json.dumps(plan, indent=1))


def buffer(name, count, dtype, size, kind="normal"):
    return {"name": name, "bytes": count * size,
            "fill": {"kind": kind, "dtype": dtype}}


def launch(base, grid, *arguments):
    return {**base, "grid": grid,
            "arguments": [*arguments, {"scratch": 0}, {"scratch": 0}]}


def at(name):
    return {"buffer": name}


def i32(value):
    return {"type": "i32", "value": value}


def add_plans(plans, repeats):
    base = plans.compile(
        "add", add, {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32"},
        {"BLOCK": 1024}, ["x", "y", "out", "n"])
    for log in (10, 20, 24, 26):
        n = 1 << log
        buffers = [buffer(b, n, "fp32", 4) for b in ("x", "y", "out")]
        call = launch(base, [n // 1024, 1, 1], at("x"), at("y"), at("out"),
                      i32(n))
        plans.write(f"aa_add_{log}", buffers, [("a", call)], repeats,
                    min_blocks=24, max_blocks=24)
    # 2 % more elements of the same arrays: a true difference in bytes moved.
    n = 1 << 26
    for percent in (2, 1):
        less = n - n * percent // 100 // 1024 * 1024
        arms = [(name, launch(base, [count // 1024, 1, 1], at("x"), at("y"),
                              at("out"), i32(count)))
                for name, count in (("less", less), ("full", n))]
        plans.write(f"planted_add_{percent}",
                    [buffer(b, n, "fp32", 4) for b in ("x", "y", "out")],
                    arms, repeats, min_blocks=24, max_blocks=100,
                    half_width=0.002, max_seconds=5)


def matmul_plans(plans, repeats):
    names = ["a", "b", "c", "m", "n", "k", "stride_am", "stride_bk",
             "stride_cm"]
    types = {**{p: "*fp16" for p in "abc"}, **{s: "i32" for s in names[3:]}}
    base = plans.compile(
        "matmul", matmul, types, {"BM": 128, "BN": 128, "BK": 64, "GROUP": 8},
        names, num_warps=8, num_stages=3)
    for size in (1024, 2048, 4096):
        buffers = [buffer(b, size * size, "fp16", 2) for b in "abc"]
        blocks = (size // 128) ** 2
        call = launch(base, [blocks, 1, 1], at("a"), at("b"), at("c"),
                      *[i32(size)] * 6)
        plans.write(f"aa_matmul_{size}", buffers, [("a", call)], repeats,
                    min_blocks=24, max_blocks=24)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--arch", type=int, default=90)
    parser.add_argument("--repeats", type=int, default=30)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    plans = Plans(options.out, options.arch)
    add_plans(plans, options.repeats)
    matmul_plans(plans, options.repeats)


if __name__ == "__main__":
    main()
