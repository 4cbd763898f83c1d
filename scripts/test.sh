#!/usr/bin/env bash
# Builds and runs all tests from a clean checkout.
#
#   scripts/test.sh             everything
#   scripts/test.sh --asan      the same under AddressSanitizer and UBSan
#   scripts/test.sh --tsan      what has no gRPC under ThreadSanitizer
#   scripts/test.sh -L unit     further arguments go to ctest
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
source "$root/scripts/lib.sh"

preset=debug
filter=()
case ${1:-} in
  --asan) preset=asan; shift ;;
  --tsan) preset=tsan; filter=(-LE 'grpc|e2e'); shift ;;
esac
bash "$root/scripts/setup.sh"
say "building ($preset)"
build "$preset"
say "testing ($preset)"
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export TSAN_OPTIONS=halt_on_error=1
cd "$root/build/$preset"
ctest --output-on-failure "${filter[@]}" "$@" </dev/null
