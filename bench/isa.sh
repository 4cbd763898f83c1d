# Reading machine code, MB/s on one core: PTX, SASS and AMDGCN from Triton.
build_release isa_bench
inputs=$(mktemp -d)
trap 'rm -rf "$inputs"' EXIT
TRITON_CACHE_DIR=$inputs/cache TRITON_DEFAULT_FP_FUSION=1 \
  AMDGCN_USE_BUFFER_OPS=1 \
  "$venv/bin/python3" "$root/tests/golden/isa/make_inputs.py" "$inputs/text" >&2
"$build/bin/isa_bench" "$inputs"/text/*.{ptx,nvdisasm,cuobjdump,amdgcn,objdump}
