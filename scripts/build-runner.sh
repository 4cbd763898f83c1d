#!/usr/bin/env bash
# Builds kernelfleet-runner against any Python, in seconds, with g++ alone.
#
#   scripts/build-runner.sh PYTHON OUT
#
# PYTHON is the interpreter (a venv's is fine) whose Triton the runner is for.
# It needs its headers, which Triton needs too, and pybind11. OUT becomes a
# folder with kernelfleet-runner and its Python package, to be moved as a whole.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
source "$root/scripts/lib.sh"
[ $# -eq 2 ] || die "usage: scripts/build-runner.sh PYTHON OUT"
python=$1
out=$2
"$python" -c '' || die "cannot run $python"
# A bundle brings pybind11's headers along.
include=$root/pybind11
[ -d "$include" ] ||
  include=$("$python" -c 'import pybind11; print(pybind11.get_include())') ||
  die "no pybind11 for $python: run '$python -m pip install pybind11'"

# Headers, library folder, library name and, where Python is a static library
# only, what that needs in turn; one value a line.
mapfile -t facts < <("$python" - <<'EOF'
import os
import sysconfig
value = sysconfig.get_config_var
shared = value("Py_ENABLE_SHARED")
folder = value("LIBDIR") if shared else value("LIBPL")
name = value("LDLIBRARY") or ""
if shared and not os.path.exists(os.path.join(folder, name)):
    folder = os.path.join(folder, value("MULTIARCH") or "")
print(sysconfig.get_path("include"))
print(folder)
print("python" + value("LDVERSION"))
print("" if shared else " ".join([value("LIBS") or "", value("SYSLIBS") or ""]))
EOF
)
headers=${facts[0]} folder=${facts[1]} name=${facts[2]} extra=${facts[3]}
[ -f "$headers/Python.h" ] ||
  die "no $headers/Python.h: install this Python's development package"

mkdir -p "$out/python"
# shellcheck disable=SC2086  # $extra is a list of words.
${CXX:-g++} -std=c++20 -O2 -s -fvisibility=hidden -rdynamic \
  -isystem "$headers" -isystem "$include" \
  "$root"/agent/runner/*.cc -o "$out/kernelfleet-runner" \
  -L"$folder" -Wl,-rpath,"$folder" "-l$name" $extra -ldl -lm -lpthread
rm -rf "$out/python/kernelfleet_runner"
cp -r "$root/agent/runner/python/kernelfleet_runner" "$out/python/"
rm -rf "$out/python/kernelfleet_runner/__pycache__"
"$out/kernelfleet-runner" --help >/dev/null
say "$out/kernelfleet-runner, for $("$python" --version)"
