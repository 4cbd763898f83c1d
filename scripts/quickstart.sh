#!/usr/bin/env bash
# From a bare Debian 12 machine to a report: installs, builds, starts a
# coordinator and an agent here, submits a kernel, waits, prints the report.
#
#   scripts/quickstart.sh          leaves the two running for what you try next
#   scripts/quickstart.sh --stop   stops them
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
source "$root/scripts/lib.sh"

bin=$root/build/release/bin
state=$root/build/quickstart
pid_file=$state/dev.pid

running() {
  local pid
  pid=$(cat "$pid_file" 2>/dev/null) && kill -0 "$pid" 2>/dev/null &&
    grep -q kernelfleet "/proc/$pid/cmdline"
}

if [ "${1:-}" = --stop ]; then
  running || { say "nothing is running"; exit 0; }
  pid=$(cat "$pid_file")
  kill "$pid"
  for _ in $(seq 100); do kill -0 "$pid" 2>/dev/null || break; sleep 0.2; done
  rm -f "$pid_file"
  say "stopped"
  exit 0
fi
[ $# -eq 0 ] || die "takes no argument but --stop"

bash "$root/scripts/setup.sh"
say "building (minutes the first time, seconds after)"
build release kernelfleet kernelfleet-server kernelfleet-agent \
  kernelfleet-runner

mkdir -p "$state"
if ! running; then
  say "starting a coordinator and an agent on this machine"
  rm -f "$state/address"
  setsid "$bin/kernelfleet" dev --data-dir "$state/data" \
    --python "$root/.venv/bin/python3" --address-file "$state/address" \
    </dev/null >"$state/dev.log" 2>&1 &
  echo $! >"$pid_file"
  for _ in $(seq 300); do
    [ -s "$state/address" ] && break
    running || { tail -5 "$state/dev.log" >&2; die "they did not start"; }
    sleep 0.1
  done
  [ -s "$state/address" ] || die "they did not start; see $state/dev.log"
fi
KERNELFLEET_SERVER=$(cat "$state/address")
export KERNELFLEET_SERVER
say "listening on $KERNELFLEET_SERVER"

say "submitting examples/softmax.py"
"$bin/kernelfleet" submit "$root/examples/softmax.py" \
  --target cuda:sm_90 --target cuda:sm_100 --target hip:gfx942
"$bin/kernelfleet" report last

cat <<NEXT

What to try next (the coordinator and the agent keep running;
scripts/quickstart.sh --stop ends them):

  export PATH=$bin:\$PATH KERNELFLEET_SERVER=$KERNELFLEET_SERVER
  kernelfleet submit examples/                   # a batch of seven kernels
  kernelfleet submit your_kernel.py              # one of yours
  kernelfleet artifacts last                     # IR and machine code, by name
  kernelfleet query 'SELECT * FROM probes LIMIT 5'
  kernelfleet nodes                              # what each node can do
  kernelfleet help                               # every verb
NEXT
