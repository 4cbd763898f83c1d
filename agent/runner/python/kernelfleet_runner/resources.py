"""What a compiled kernel needs, in the tools' own words."""

import re

from kernelfleet_runner import targets

# `ptxas -v`, in one "info" paragraph per function: field -> pattern.
PTXAS = {
    "registers": r"Used (\d+) registers",
    "barriers": r"used (\d+) barriers",
    "stack_bytes": r"(\d+) bytes stack frame",
    "spill_store_bytes": r"(\d+) bytes spill stores",
    "spill_load_bytes": r"(\d+) bytes spill loads",
}

# The kernel's metadata and LLVM's comments at the end of AMD assembly.
AMD = {
    "registers": r"\.vgpr_count:\s*(\d+)",
    "agprs": r"\.agpr_count:\s*(\d+)",
    "sgprs": r"\.sgpr_count:\s*(\d+)",
    "vgpr_spills": r"\.vgpr_spill_count:\s*(\d+)",
    "sgpr_spills": r"\.sgpr_spill_count:\s*(\d+)",
    "scratch_bytes": r"\.private_segment_fixed_size:\s*(\d+)",
    "occupancy_waves": r"; Occupancy:\s*(\d+)",
}

# Triton's own metadata: field -> name.
METADATA = {
    "shared_bytes": "shared",
    "num_warps": "num_warps",
    "num_stages": "num_stages",
    "num_ctas": "num_ctas",
}


def read_resources(symbol, metadata, ptxas_log, amdgcn):
    found = {}
    for field, name in METADATA.items():
        if isinstance(metadata.get(name), int):
            found[field] = metadata[name]
    if metadata.get("tmem_size"):
        found["tensor_memory_bytes"] = (metadata["tmem_size"] *
                                        targets.BYTES_PER_COLUMN)
    if ptxas_log:
        _take(PTXAS, _paragraph(ptxas_log, symbol), found)
    if amdgcn:
        _take(AMD, amdgcn, found)
    return found


def _take(patterns, text, found):
    for field, pattern in patterns.items():
        match = re.search(pattern, text)
        if match:
            found[field] = int(match.group(1))


def _paragraph(log, symbol):
    """The kernel's own part of a log that names its device functions too."""
    begin = log.find("Compiling entry function '%s'" % symbol)
    if begin < 0:
        return log
    end = log.find("Compiling entry function", begin + 1)
    part = log[begin:end if end > 0 else len(log)]
    # Between the two, "Function properties for NAME" of every callee.
    own = part.find("Function properties for %s\n" % symbol)
    return part[own:] if own >= 0 else part
