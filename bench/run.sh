#!/usr/bin/env bash
# Runs one benchmark: bash bench/run.sh NAME [ARGUMENT…]
# Its last line is one JSON object. Without a name it lists them.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
source "$root/bench/common.sh"

name=${1:-}
script=$root/bench/$name.sh
case $name in
  '' | run | common | */*) name='' ;;
esac
if [ -z "$name" ] || [ ! -f "$script" ]; then
  echo "usage: bash bench/run.sh NAME [ARGUMENT…]; the benchmarks are:" >&2
  for file in "$root"/bench/*.sh; do
    base=$(basename "$file" .sh)
    case $base in run | common) continue ;; esac
    printf '  %-16s %s\n' "$base" \
      "$(sed -n '2s/^# *//p' "$file")" >&2
  done
  exit 2
fi
shift
source "$script"
