"""Phase env_probe: what this Python prefix can compile, proved by compiling."""

import glob
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
from importlib import metadata

import triton

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
    found.update(wheel())
    found.update(buffer_ops())
    for name in ("nvidia-cuda-tileiras", "cuda-tile", "pybind11", "numpy"):
        if _version(name):
            found[name] = _version(name)
    return found


def wheel():
    """Which build of Triton this is: versions alone do not tell builds apart."""
    folder = os.path.dirname(triton.__file__)
    found = {"triton.path": folder}
    for name in ("triton", "pytorch-triton", "pytorch-triton-rocm"):
        record = _record(name)
        if record:
            found["triton.record_sha256"] = hashlib.sha256(record).hexdigest()
            break
    tools = glob.glob(os.path.join(folder, "backends", "*", "bin", "*"))
    for path in sorted(tools):
        version = _tool_version(path)
        if version:
            found[os.path.basename(path)] = version
    return found


def _record(package):
    try:
        return (metadata.distribution(package).read_text("RECORD") or "").encode()
    except metadata.PackageNotFoundError:
        return b""


def _tool_version(path):
    """"12.9.86" of a CUDA tool; "" for what does not say."""
    try:
        out = subprocess.run([path, "--version"], capture_output=True,
                             text=True, timeout=10, check=False).stdout
    except OSError:
        return ""
    match = re.search(r", V([0-9.]+)", out)
    return match.group(1) if match else ""


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
