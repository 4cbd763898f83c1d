"""The files of a compile, from Triton's cold cache to the attempt directory."""

import os
import subprocess

from kernelfleet_runner import triton_api

KINDS = ("ttir", "ttgir", "llir", "ptx", "cubin", "amdgcn", "hsaco", "tileir",
         "json")


def collect(cache):
    """Moves what the stages left, whole or not, to kernel.KIND."""
    found = []
    for root, _, files in os.walk(cache):
        for name in sorted(files):
            kind = name.rsplit(".", 1)[-1]
            if kind in KINDS and not name.startswith("__grp__"):
                os.replace(os.path.join(root, name), "kernel." + kind)
                found.append(kind)
    return [describe(kind) for kind in KINDS if kind in found]


def describe(kind):
    name = "kernel." + kind
    return {"name": name, "kind": kind, "size_bytes": os.path.getsize(name)}


def disassemble():
    """SASS of kernel.cubin with the wheel's nvdisasm; a warning, or ""."""
    nvdisasm = triton_api.tool("nvdisasm")
    if not nvdisasm:
        return "no SASS: this Triton brings no nvdisasm"
    with open("kernel.sass", "wb") as out:
        done = subprocess.run([nvdisasm, "-c", "kernel.cubin"], stdout=out,
                              stderr=subprocess.PIPE)
    if done.returncode == 0:
        return ""
    os.unlink("kernel.sass")
    return "no SASS: nvdisasm: " + done.stderr.decode(errors="replace")[:300]


def read_text(kind):
    try:
        with open("kernel." + kind, errors="replace") as file:
            return file.read()
    except OSError:
        return ""
