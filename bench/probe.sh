#!/usr/bin/env bash
# Cost of a compile probe over the bare compile, and how slots scale.
build_release kernelfleet-runner
"$venv/bin/python3" "$root/bench/probe.py" \
  --runner "$build/bin/kernelfleet-runner" --python "$venv/bin/python3" "$@"
