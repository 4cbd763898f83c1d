# Shared by the scripts: sourced, not run.
say() { printf '== %s\n' "$*"; }
die() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# build PRESET [TARGET…]: configures once, then builds quietly; the compiler's
# words are shown only when it fails.
build() {
  local preset=$1 log
  shift
  log=$root/build/$preset.log
  mkdir -p "$root/build"
  if [ ! -f "$root/build/$preset/build.ninja" ]; then
    (cd "$root" && cmake --preset "$preset") >"$log" 2>&1 ||
      { tail -40 "$log" >&2; die "configuring $preset failed"; }
  fi
  (cd "$root" && cmake --build "build/$preset" ${1:+--target "$@"}) \
      >"$log" 2>&1 ||
    { grep -E -A12 'error|FAILED' "$log" | head -60 >&2
      die "building $preset failed; the whole log is build/$preset.log"; }
}
