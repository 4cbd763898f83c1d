"""Compiles a few kernels for many GPUs and writes their machine code.

    python3 make_inputs.py OUT_DIR            everything, for the bench
    python3 make_inputs.py OUT_DIR --golden   the golden inputs, trimmed

One file per kernel and target, `NAME.ARCH.{ptx,nvdisasm,cuobjdump,resusage,
amdgcn,objdump}`, made with the Triton of the Python that runs this, its bundled
NVIDIA tools and, for gfx90a, llvm-objdump. Needs no GPU. Run it with
AMDGCN_USE_BUFFER_OPS=1 and TRITON_DEFAULT_FP_FUSION=1.

Trimmed means: without debug sections and most line tables, which are half of
the text and hold no code.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@triton.jit
def softmax(x_ptr, out_ptr, stride, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    top = tl.full((BLOCK,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride + at, mask=at < cols,
                    other=-float("inf")).to(tl.float32)
        new = tl.maximum(top, x)
        total = total * tl.exp(top - new) + tl.exp(x - new)
        top = new
    peak = tl.max(top, 0)
    norm = tl.sum(total * tl.exp(top - peak), 0)
    for start in range(0, cols, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride + at, mask=at < cols).to(tl.float32)
        tl.store(out_ptr + row * stride + at,
                 (tl.exp(x - peak) / norm).to(tl.float16), mask=at < cols)


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, k, stride, BLOCK_M: tl.constexpr,
           BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    ks = tl.arange(0, BLOCK_K)
    a = a_ptr + m[:, None] * stride + ks[None, :]
    b = b_ptr + ks[:, None] * stride + n[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for _ in range(0, k, BLOCK_K):
        total = tl.dot(tl.load(a), tl.load(b), total)
        a += BLOCK_K
        b += BLOCK_K * stride
    tl.store(c_ptr + m[:, None] * stride + n[None, :], total.to(tl.float16))


@triton.jit
def matmul_tma(a_ptr, b_ptr, c_ptr, size, BLOCK_M: tl.constexpr,
               BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    a = tl.make_tensor_descriptor(a_ptr, [size, size], [size, 1],
                                  [BLOCK_M, BLOCK_K])
    b = tl.make_tensor_descriptor(b_ptr, [size, size], [size, 1],
                                  [BLOCK_K, BLOCK_N])
    c = tl.make_tensor_descriptor(c_ptr, [size, size], [size, 1],
                                  [BLOCK_M, BLOCK_N])
    m = tl.program_id(0) * BLOCK_M
    n = tl.program_id(1) * BLOCK_N
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, size, BLOCK_K):
        total = tl.dot(a.load([m, k]), b.load([k, n]), total)
    c.store([m, n], total.to(tl.float16))


@triton.jit
def scatter_add(index_ptr, x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    index = tl.load(index_ptr + offsets, mask=mask)
    tl.atomic_add(out_ptr + index, tl.load(x_ptr + offsets, mask=mask),
                  mask=mask)


@triton.jit
def lock_step(lock_ptr, out_ptr, n):
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(out_ptr, tl.load(out_ptr) + n)
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def scale_bytes(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, (x.to(tl.float32) * 0.5).to(tl.int8))


@triton.jit
def half_strided(x_ptr, out_ptr, stride, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets * stride)
    tl.store(out_ptr + offsets * stride, x + x)


MM = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32}
WIDE = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64}
SPILL = {"BLOCK_M": 256, "BLOCK_N": 256, "BLOCK_K": 32}
# name: kernel, signature, constants, options. `*T:16` is divisible by 16 and
# within 2 GiB.
CASES = {
    "add": (add, "*fp32:16 *fp32:16 *fp32:16 i32:16", {"BLOCK": 1024}, {}),
    "add_f16_b8": (add, "*fp16:16 *fp16:16 *fp16:16 i32:16",
                   {"BLOCK": 1024}, {}),
    "softmax": (softmax, "*fp16:16 *fp16:16 i32:16 i32:16", {"BLOCK": 1024},
                {}),
    "matmul": (matmul, "*fp16:16 *fp16:16 *fp16:16 i32:16 i32:16", MM, {}),
    "matmul_wide": (matmul, "*fp16:16 *fp16:16 *fp16:16 i32:16 i32:16", WIDE,
                    {}),
    "matmul_tma": (matmul_tma, "*fp16:16 *fp16:16 *fp16:16 i32:16", WIDE, {}),
    "matmul_spill": (matmul, "*fp16:16 *fp16:16 *fp16:16 i32:16 i32:16",
                     SPILL, {"num_warps": 4}),
    # NVIDIA only: forty registers are too few.
    "matmul_tight": (matmul, "*fp16:16 *fp16:16 *fp16:16 i32:16 i32:16", MM,
                     {"maxnreg": 40}),
    "scatter_f32": (scatter_add, "*i32:16 *fp32:16 *fp32:16 i32:16",
                    {"BLOCK": 256}, {}),
    "scatter_f64": (scatter_add, "*i32:16 *fp64:16 *fp64:16 i32:16",
                    {"BLOCK": 256}, {}),
    "scatter_bf16": (scatter_add, "*i32:16 *bf16:16 *bf16:16 i32:16",
                     {"BLOCK": 256}, {}),
    "lock": (lock_step, "*i32:16 *i32:16 i32", {}, {}),
    "bytes": (scale_bytes, "*i8:16 *i8:16 i32:16", {"BLOCK": 256}, {}),
    "half": (half_strided, "*fp16 *fp16 i32", {"BLOCK": 256}, {}),
}
CUDA = [80, 90, 100, 120]
HIP = ["gfx90a", "gfx942", "gfx950", "gfx1201", "gfx1250"]
NVIDIA = os.path.join(os.path.dirname(triton.__file__),
                      "backends", "nvidia", "bin")


def target_of(arch):
    if arch.isdigit():
        return GPUTarget("cuda", int(arch), 32)
    return GPUTarget("hip", arch, 64 if arch.startswith("gfx9") else 32)


def compile_one(name, arch):
    kernel, types, constants, options = CASES[name]
    signature, attrs = {}, {}
    for i, (argument, text) in enumerate(zip(kernel.arg_names, types.split())):
        kind, _, aligned = text.partition(":")
        signature[argument] = kind
        hints = [["tt.divisibility", 16]] if aligned else []
        if kind.startswith("*") and aligned:
            hints.append(["tt.pointer_range", 32])
        if hints:
            attrs[(i,)] = hints
    for constant in constants:
        signature[constant] = "constexpr"
    source = ASTSource(kernel, signature, constants, attrs)
    return triton.compile(source, target=target_of(arch), options=options)


def tool(name, *arguments):
    return subprocess.run([name, *arguments], check=True, capture_output=True,
                          text=True).stdout


def trimmed(text):
    """Without debug sections, line tables and the paths of this machine."""
    lines, skipping = [], False
    for line in text.splitlines():
        if re.match(r"\s*\.section\s+\"?\.?(debug|nv_debug)", line):
            skipping = True
        elif re.match(r"\s*\.(amdgpu_metadata|section|text)\b", line):
            skipping = False
        line = re.sub(r"\s*(;|//) \S*\.py:\d+:\d+\s*$", "", line)
        if not skipping and not re.match(r"\s*\.(loc|file|cfi_\w+)\b|\S*tmp\d+:",
                                         line):
            lines.append(line)
    return "\n".join(lines) + "\n"


def texts(name, arch, folder):
    """(kind, text) of one kernel for one target."""
    compiled = compile_one(name, arch)
    binary = os.path.join(folder, f"{name}.{arch}.bin")
    with open(binary, "wb") as file:
        file.write(compiled.asm["cubin" if arch.isdigit() else "hsaco"])
    if not arch.isdigit():
        yield "amdgcn", compiled.asm["amdgcn"]
        # Debian's LLVM 14 knows no later CDNA.
        if arch == "gfx90a" and shutil.which("llvm-objdump"):
            yield "objdump", tool("llvm-objdump", "-d", "--mcpu=" + arch,
                                  binary).replace(binary, f"{name}.hsaco")
        return
    yield "ptx", compiled.asm["ptx"]
    yield "nvdisasm", tool(os.path.join(NVIDIA, "nvdisasm"), "-c", binary)
    cuobjdump = os.path.join(NVIDIA, "cuobjdump")
    yield "cuobjdump", tool(cuobjdump, "-sass", binary)
    yield "resusage", tool(cuobjdump, "-res-usage", binary)


# The golden inputs: name, target, kinds.
GOLDEN = [
    ("add", "90", "ptx"), ("add", "gfx942", "amdgcn"),
    ("softmax", "90", "nvdisasm resusage"), ("softmax", "gfx1201", "amdgcn"),
    ("matmul", "90", "ptx"), ("matmul", "gfx950", "amdgcn"),
    ("matmul", "120", "nvdisasm"),
    ("matmul_tma", "100", "ptx nvdisasm"), ("matmul_tma", "gfx1250", "amdgcn"),
    ("matmul_tight", "80", "nvdisasm resusage"),
    ("matmul_spill", "gfx90a", "amdgcn"),
    ("matmul_spill", "gfx942", "amdgcn"),
    ("scatter_bf16", "80", "ptx nvdisasm cuobjdump"),
    ("scatter_bf16", "gfx90a", "amdgcn objdump"),
    ("scatter_f64", "gfx90a", "amdgcn"), ("scatter_f32", "gfx942", "amdgcn"),
    ("lock", "gfx1201", "amdgcn"), ("bytes", "gfx942", "amdgcn"),
    ("half", "gfx1201", "amdgcn"),
]


def main():
    out, golden = sys.argv[1], sys.argv[2:] == ["--golden"]
    os.makedirs(out, exist_ok=True)
    picks = GOLDEN if golden else [
        (name, str(arch), "") for name in CASES for arch in CUDA + HIP]
    with tempfile.TemporaryDirectory() as folder:
        for name, arch, kinds in picks:
            tag = f"sm_{arch}" if arch.isdigit() else arch
            try:
                for kind, text in texts(name, arch, folder):
                    if kinds and kind not in kinds.split():
                        continue
                    path = os.path.join(out, f"{name}.{tag}.{kind}")
                    with open(path, "w", encoding="utf-8") as file:
                        file.write(trimmed(text) if golden else text)
            except Exception as error:  # Not every target has every type.
                last = (str(error).splitlines() or [type(error).__name__])[-1]
                print(f"{name} {tag}: {last}", file=sys.stderr)


if __name__ == "__main__":
    main()
