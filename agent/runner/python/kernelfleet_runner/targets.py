"""Targets by name, and what their hardware offers."""

# Bytes of shared memory (LDS) that one block may use. Without a driver nobody
# else refuses what the hardware cannot launch.
# CUDA: "Maximum amount of shared memory per thread block", CUDA C++
# Programming Guide 13.0, technical specifications per compute capability.
# AMD: LDS per workgroup as LLVM's AMDGPU backend allows it (gfx950: 160 KiB,
# gfx1250: 320 KiB, all others 64 KiB). Hygon publishes none: absent.
SHARED_BYTES = {
    "cuda": {
        "sm_70": 96 << 10, "sm_75": 64 << 10, "sm_80": 163 << 10,
        "sm_86": 99 << 10, "sm_87": 163 << 10, "sm_89": 99 << 10,
        "sm_90": 227 << 10, "sm_100": 227 << 10, "sm_103": 227 << 10,
        "sm_110": 227 << 10, "sm_120": 99 << 10, "sm_121": 99 << 10,
    },
    "hip": {
        "gfx90a": 64 << 10, "gfx942": 64 << 10, "gfx950": 160 << 10,
        "gfx1030": 64 << 10, "gfx1100": 64 << 10, "gfx1101": 64 << 10,
        "gfx1102": 64 << 10, "gfx1151": 64 << 10, "gfx1200": 64 << 10,
        "gfx1201": 64 << 10, "gfx1250": 320 << 10,
    },
}

# Columns of tensor memory per block on sm_100 and sm_103, each 128 lanes of 4
# bytes: PTX ISA 8.7, "Tensor Memory".
TENSOR_MEMORY_COLUMNS = 512
BYTES_PER_COLUMN = 128 * 4


def shared_limit(backend, arch):
    """Bytes, or None where nobody says."""
    return SHARED_BYTES.get(backend, {}).get(arch.rstrip("af"))


def capability(arch):
    """`sm_90` or `sm_90a` -> 90; ValueError for anything else."""
    digits = arch[3:].rstrip("af") if arch.startswith("sm_") else ""
    if not digits.isdigit():
        raise ValueError("'%s' is no CUDA architecture like sm_90" % arch)
    return int(digits)


def warp_size(arch):
    """GCN and CDNA (gfx9, Hygon's too) run 64 lanes, RDNA and gfx125x 32."""
    return 64 if arch.startswith("gfx9") else 32
