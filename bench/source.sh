# Reads and classifies all of flag-gems 5.0.2 against a bare tree-sitter parse.
# Sourced by run.sh. The package comes from the index that pip is set up for.
corpus=$root/.corpora/flag-gems-5.0.2
if [ ! -d "$corpus" ]; then
  part=$corpus.part
  rm -rf "$part" && mkdir -p "$part"
  if ! /usr/bin/python3 -m pip download --quiet --no-deps \
    --only-binary :all: --dest "$part" flag-gems==5.0.2 >&2; then
    echo "source: cannot download flag-gems 5.0.2; connect once" >&2
    exit 1
  fi
  (cd "$part" && /usr/bin/python3 -m zipfile -e ./*.whl . && rm ./*.whl)
  mv "$part" "$corpus"
fi
build_release source_bench
find "$corpus/flag_gems" -name '*.py' | sort >"$corpus/files"
"$build/bin/source_bench" "$corpus/files"
