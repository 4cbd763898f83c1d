#!/usr/bin/env bash
# Installs what the build needs and makes the Python environment. Safe to run
# again: it does only what is missing. Takes --no-python to skip Triton.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
source "$root/scripts/lib.sh"

packages=(
  g++ cmake ninja-build pkg-config ccache mold
  libgrpc++-dev protobuf-compiler protobuf-compiler-grpc libprotobuf-dev
  libabsl-dev libspdlog-dev libfmt-dev libsqlite3-dev libssl-dev libzstd-dev
  libcli11-dev libtomlplusplus-dev nlohmann-json3-dev libgtest-dev libgmock-dev libbenchmark-dev
  python3 python3-dev python3-venv
)

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null |
    grep -q 'install ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  command -v apt-get >/dev/null ||
    die "this script installs Debian packages, and there is no apt-get here;" \
        "install by hand: ${packages[*]}"
  if [ "$(id -u)" -eq 0 ]; then
    as_root=()
  elif command -v sudo >/dev/null; then
    as_root=(sudo)
  else
    die "needs these packages and is not root: apt-get install ${missing[*]}"
  fi
  say "installing ${#missing[@]} system packages: ${missing[*]}"
  log=$(mktemp)
  "${as_root[@]}" apt-get update >"$log" 2>&1 &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y \
      --no-install-recommends "${missing[@]}" >>"$log" 2>&1 ||
    { tail -5 "$log" >&2; die "apt-get failed; the whole log is $log"; }
  rm -f "$log"
fi

# The system's Python, not whatever stands first on PATH: the runner embeds it.
python=/usr/bin/python3
venv=$root/.venv
stamp="$python $("$python" -V) $(sha256sum <"$root/scripts/requirements.txt")"
if [ "${1:-}" != --no-python ] &&
   [ "$(cat "$venv/.kernelfleet-stamp" 2>/dev/null)" != "$stamp" ]; then
  say "making the Python environment in .venv (Triton, no torch)"
  "$python" -m venv "$venv" || die "$python cannot make a virtual environment"
  "$venv/bin/pip" install --quiet --disable-pip-version-check \
    -r "$root/scripts/requirements.txt" ||
    die "pip could not install scripts/requirements.txt"
  echo "$stamp" >"$venv/.kernelfleet-stamp"
fi
