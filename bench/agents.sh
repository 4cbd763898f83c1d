#!/usr/bin/env bash
# Peak memory of a server that holds 1,000 long-polling agents.
build_release kernelfleet-server fleet_load
"$build/bin/fleet_load" agents "$build/bin/kernelfleet-server" "$@"
