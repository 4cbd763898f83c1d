# Time until a coordinator with 1,000,000 finished tasks serves a job.
build_release engine_bench
folder=$(mktemp -d "$build/bench-startup.XXXXXX")
trap 'rm -rf "$folder"' EXIT
"$build/bin/engine_bench" startup "$folder/data" "${1:-1000000}"
