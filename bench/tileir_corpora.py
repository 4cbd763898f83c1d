"""Lowers and assembles every TTIR file of some folders.

tileir_corpora.py KERNELFLEET TOOLS ARCH NAME=FOLDER… prints one JSON object:
{"arch", "packages": {NAME: {"entries", "lowered", "compiled", "failed":
[[kernel, reason], …]}}}. A folder holds one .ttir file for each entry kernel
whose TTIR stock Triton makes.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

# Seconds; a kernel unrolled over thousands of tiles takes minutes.
ASSEMBLE_LIMIT = float(os.environ.get("ASSEMBLE_LIMIT", "300"))


def run(command, limit):
    """The first line that tells what went wrong; empty when all is well."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return f"no end after {limit:.0f} s"
    if done.returncode == 0:
        return ""
    lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower() or "unsupported" in line]
    return (errors or lines or [f"exit status {done.returncode}"])[0][:300]


def compile_one(program, assembler, arch, source, folder):
    bytecode = folder / "kernel.tileirbc"
    problem = run([program, "lower-tileir", source, "--arch", arch, "-o", bytecode], 60)
    if problem:
        return False, problem
    return True, run([assembler, f"--gpu-name={arch}", "-o", folder / "kernel.cubin", bytecode], ASSEMBLE_LIMIT)


def main(program, tools, arch, *packages):
    assembler = shutil.which("tileiras", path=tools or None)
    if assembler is None:
        sys.exit("tileiras is not installed: pip install nvidia-cuda-tileiras")
    report = {}
    for package in packages:
        name, _, folder = package.partition("=")
        row = {"entries": 0, "lowered": 0, "compiled": 0, "failed": []}
        with tempfile.TemporaryDirectory() as scratch:
            for source in sorted(pathlib.Path(folder).glob("*.ttir")):
                row["entries"] += 1
                lowered, problem = compile_one(program, assembler, arch, source, pathlib.Path(scratch))
                row["lowered"] += lowered
                row["compiled"] += not problem
                if problem:
                    row["failed"].append([source.stem, problem])
        report[name] = row
        print(f"{name}: {row['compiled']} of {row['entries']}", file=sys.stderr)
    print(json.dumps({"arch": arch, "packages": report}))


if __name__ == "__main__":
    main(*sys.argv[1:])
