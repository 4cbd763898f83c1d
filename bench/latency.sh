#!/usr/bin/env bash
# Submit to leased by a waiting agent over loopback gRPC, in milliseconds.
build_release kernelfleet-server fleet_load
"$build/bin/fleet_load" latency "$build/bin/kernelfleet-server" "$@"
