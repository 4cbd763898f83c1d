# Sourced by bench/run.sh before a benchmark: paths and the release build.
source "$root/scripts/lib.sh"
build=$root/build/release
venv=$root/.venv

# build_release TARGET…: their output goes to standard error.
build_release() { build release "$@" >&2; }
