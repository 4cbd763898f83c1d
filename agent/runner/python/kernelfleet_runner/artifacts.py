"""The files of a compile, in the attempt directory (the current one)."""

import os
import subprocess

from triton.runtime.cache import CacheManager

from kernelfleet_runner import triton_api

KINDS = ("ttir", "ttgir", "llir", "ptx", "cubin", "amdgcn", "hsaco", "tileir",
         "json")


class ArtifactCache(CacheManager):
    """A Triton cache that is always cold and keeps what each stage makes.

    Triton's own makes a folder for each file and renames it twice; here a
    stage's output goes to kernel.KIND once, and is there even if the next
    stage fails.
    """

    def __init__(self, key, override=False, dump=False):
        del key, override, dump

    def get_file(self, filename):
        return None

    def get_group(self, filename):
        return None

    def put(self, data, filename, binary=True):
        kind = filename.rsplit(".", 1)[-1]
        if kind == "source":
            return os.devnull  # The module before its first stage.
        path = os.path.abspath("kernel." + kind if kind in KINDS else filename)
        data = data if isinstance(data, bytes) else str(data).encode()
        with open(path, "wb") as file:
            file.write(data)
        return path

    def put_group(self, filename, group):
        return filename


def discard():
    """Removes what an earlier case left."""
    for kind in KINDS:
        try:
            os.unlink("kernel." + kind)
        except FileNotFoundError:
            pass


def collect():
    return [describe(kind) for kind in KINDS
            if os.path.exists("kernel." + kind)]


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
