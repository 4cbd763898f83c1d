# How many of the kernels that people publish compile from source alone.
#
#   bash bench/run.sh corpora [PACKAGE==VERSION]…
#
# Downloads the wheels (without their dependencies) into .corpora/, plans each
# package with `kernelfleet plan` and compiles every entry kernel for cuda:sm_90
# with the runner's own code, two at a time. KERNELFLEET_CORPORA_LIMIT: seconds
# for one kernel (120).
build_release kernelfleet

packages=("$@")
if [ ${#packages[@]} -eq 0 ]; then
  packages=(liger-kernel==0.8.5 fla-core==0.6.0 conch-triton-kernels==1.3)
fi
corpora="$root/.corpora"
mkdir -p "$corpora/wheels"
rows=()
for package in "${packages[@]}"; do
  folder="$corpora/$package"
  if [ ! -d "$folder" ]; then
    "$venv/bin/python3" -m pip download -q --no-deps --only-binary :all: \
      -d "$corpora/wheels/$package" "$package" >&2
    mkdir -p "$folder.new"
    for wheel in "$corpora/wheels/$package"/*.whl; do
      "$venv/bin/python3" -m zipfile -e "$wheel" "$folder.new"
    done
    mv "$folder.new" "$folder"
  fi
  "$build/bin/kernelfleet" plan "$folder" --json > "$folder.plan.json"
  nice "$venv/bin/python3" "$root/bench/corpora.py" "$folder.plan.json" \
    --limit "${KERNELFLEET_CORPORA_LIMIT:-120}" > "$folder.result.jsonl"
  rows+=("$package" "$folder.plan.json" "$folder.result.jsonl")
done
"$venv/bin/python3" "$root/bench/corpora.py" --sum "${rows[@]}"
