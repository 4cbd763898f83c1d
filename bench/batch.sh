# One job of 100,000 tasks: submitting, planning, then leasing and completing all.
build_release engine_bench
folder=$(mktemp -d "$build/bench-batch.XXXXXX")
trap 'rm -rf "$folder"' EXIT
"$build/bin/engine_bench" batch "$folder/data" "${1:-100000}"
