"""Phase env_probe: what this Python prefix can compile, proved by compiling."""

import json
import os
import platform
import sys
from importlib import metadata

from kernelfleet_runner import triton_api, warm


# Every target that a public kernel might name. Proved, never assumed.
CANDIDATES = [("cuda", "sm_%d" % n) for n in (80, 90, 100, 103, 110, 120, 121)]
CANDIDATES += [("hip", "gfx" + n) for n in (
    "90a", "942", "950", "1100", "1201", "1250", "936", "938")]

BUFFER_OPS = "AMDGCN_USE_BUFFER_OPS"
BUFFER_TARGET = {"backend": "hip", "arch": "gfx942"}


def run(request):
    """A ProbeResult whose detail_json is a node's Environment."""
    del request
    environment = {
        "python": sys.executable,
        "python_version": platform.python_version(),
        "triton_version": triton_api.VERSION,
        "torch_version": _version("torch"),
        "targets": [capability(*candidate) for candidate in candidates()],
        "facts": facts(),
    }
    return {"outcome": "completed", "detail_json": json.dumps(environment)}


def candidates():
    """The candidates, with Hygon's under their own name where it is one."""
    hygon = "hcu" in triton_api.backends
    return [("hcu" if hygon and arch in ("gfx936", "gfx938") else backend,
             arch) for backend, arch in CANDIDATES]


def capability(backend, arch):
    target = {"backend": backend, "arch": arch}
    reason = warm.prove(target)
    return {"target": target, "compiles": not reason, "reason": reason}


def facts():
    found = {"backends": ",".join(sorted(triton_api.backends))}
    for key, value in buffer_ops().items():
        found[key] = value
    for name in ("nvidia-cuda-tileiras", "cuda-tile", "pybind11", "numpy"):
        if _version(name):
            found[name] = _version(name)
    return found


def buffer_ops():
    """Whether buffer instructions come by default, and can be had at all."""
    if warm.prove(BUFFER_TARGET):
        return {}
    before = os.environ.pop(BUFFER_OPS, None)
    try:
        default = _has_buffer_ops()
        os.environ[BUFFER_OPS] = "1"
        on = _has_buffer_ops()
    finally:
        os.environ.pop(BUFFER_OPS, None)
        if before is not None:
            os.environ[BUFFER_OPS] = before
    return {BUFFER_OPS + ".default": "1" if default else "0",
            BUFFER_OPS + ".works": "1" if on else "0"}


def _has_buffer_ops():
    hints = {name: {"tt.divisibility": 16, "tt.pointer_range": 32}
             for name in ("source", "sink")}
    asm = warm.compile_copy(triton_api.gpu_target(BUFFER_TARGET), hints)
    return "buffer_load" in asm.get("amdgcn", "")


def _version(package):
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
