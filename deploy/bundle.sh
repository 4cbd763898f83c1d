#!/usr/bin/env bash
# Makes a relocatable folder: stripped programs, the shared libraries they need
# (all but the C library's), the runner's sources and the scripts to build it.
#
#   deploy/bundle.sh DIR              fills DIR (made if absent)
#   deploy/bundle.sh DIR OUT.tar.zst  also packs it
#
# The result runs on any x86-64 Linux whose glibc is at least as new as the
# one here. The runner is not in it: it embeds the node's own Python, so build
# it there: share/scripts/build-runner.sh PYTHON bin
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
source "$root/scripts/lib.sh"
[ $# -ge 1 ] || die "usage: deploy/bundle.sh DIR [OUT.tar.zst]"
out=$1

programs=(kernelfleet kernelfleet-server kernelfleet-agent kernelfleet-meter)
say "building the release preset"
build release "${programs[@]}"
mkdir -p "$out/bin" "$out/lib" "$out/share"
for program in "${programs[@]}"; do
  strip -o "$out/bin/$program" "$root/build/release/bin/$program"
  ldd "$root/build/release/bin/$program" |
    awk '$3 ~ /^\// && $1 !~ /^(libc|libm|libdl|librt|libpthread|libresolv)\.so/ {
           print $3 }' |
    while read -r library; do
      target=$out/lib/$(basename "$library")
      if [ ! -f "$target" ]; then strip -o "$target" "$library"; fi
    done
done

# The runner's sources, laid out as its build script expects them.
mkdir -p "$out/share/scripts" "$out/share/agent"
rm -rf "$out/share/agent/runner" "$out/share/pybind11" "$out/share/examples"
cp -r "$root/agent/runner" "$out/share/agent/runner"
find "$out/share" -name __pycache__ -prune -exec rm -r {} +
cp "$root/scripts/build-runner.sh" "$root/scripts/lib.sh" "$out/share/scripts/"
cp "$root/scripts/requirements.txt" "$out/share/"
cp -r "$("$root/.venv/bin/python3" -c \
  'import pybind11; print(pybind11.get_include())')" "$out/share/pybind11"
cp -r "$root/examples" "$out/share/examples"
say "$(du -sh "$out" | cut -f1) in $out"
if [ $# -ge 2 ]; then
  tar -C "$(dirname "$out")" -c "$(basename "$out")" | zstd -q -19 -T2 -f -o "$2"
  say "$(du -h "$2" | cut -f1) in $2"
fi
