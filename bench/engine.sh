# Durable submit-lease-complete lifecycles per second in the engine, FULL sync.
build_release engine_bench
folder=$(mktemp -d "$build/bench-engine.XXXXXX")
trap 'rm -rf "$folder"' EXIT
"$build/bin/engine_bench" lifecycles "$folder/data" "${1:-8}"
