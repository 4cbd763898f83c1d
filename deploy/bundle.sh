#!/usr/bin/env bash
# Makes a relocatable folder: stripped programs, the shared libraries they need
# (all but the C library's), the runner's sources and the scripts to build it.
#
#   deploy/bundle.sh DIR              fills DIR (made if absent)
#   deploy/bundle.sh DIR OUT.tar.zst  also packs it
#
# The result runs on any x86-64 Linux whose glibc is at least as new as the
# one here. The runner is not in it: it embeds the node's own Python, so build
# it there: share/build-runner.sh PYTHON bin/kernelfleet-runner.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
source "$root/scripts/lib.sh"
[ $# -ge 1 ] || die "usage: deploy/bundle.sh DIR [OUT.tar.zst]"
out=$1

programs=(kernelfleet kernelfleet-server kernelfleet-agent)
say "building the release preset"
build release "${programs[@]}"
mkdir -p "$out/bin" "$out/lib" "$out/share"
for program in "${programs[@]}"; do
  strip -o "$out/bin/$program" "$root/build/release/bin/$program"
  # RPATH, not RUNPATH: it also serves the libraries' own needs.
  ldd "$root/build/release/bin/$program" |
    awk '$3 ~ /^\// {print $3}' |
    grep -Ev '/(libc|libm|libdl|librt|libpthread|libresolv|ld-linux.*)\.so' |
    while read -r library; do
      target=$out/lib/$(basename "$library")
      [ -f "$target" ] || strip -o "$target" "$library"
    done
done
cp -r "$root/agent/runner/." "$out/share/runner"
find "$out/share/runner" -name __pycache__ -prune -exec rm -r {} +
install -m 755 "$root/scripts/build-runner.sh" "$out/share/build-runner.sh"
install -m 644 "$root/scripts/requirements.txt" "$out/share/requirements.txt"
pybind=$("$root/.venv/bin/python3" -m pybind11 --includes |
         tr ' ' '\n' | sed -n 's/^-I//p' | grep pybind11)
cp -r "$pybind" "$out/share/pybind11-include"
cp -r "$root/examples" "$out/share/examples"
say "$(du -sh "$out" | cut -f1) in $out"
if [ $# -ge 2 ]; then
  tar -C "$(dirname "$out")" -c "$(basename "$out")" | zstd -q -19 -T2 -f -o "$2"
  say "$(du -h "$2" | cut -f1) in $2"
fi
