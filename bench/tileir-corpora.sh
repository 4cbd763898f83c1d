# TTIR to Tile IR over folders of stored TTIR: NAME=FOLDER…; assembles too.
# Needs tileiras on PATH or in KERNELFLEET_TILEIR_BIN. ARCH picks the target.
build_release kernelfleet
"$venv/bin/python3" "$root/bench/tileir_corpora.py" \
  "$build/bin/kernelfleet" "${KERNELFLEET_TILEIR_BIN:-}" "${ARCH:-sm_90}" "$@"
