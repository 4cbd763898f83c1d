"""One attempt: request.json in, result.json and artifacts out."""

import importlib
import json
import os
import resource
import tempfile
import time
import traceback

# Phase name in the request -> module of this package with `run(request)`.
PHASES = {
    "compile_probe": "compile_probe",
    "env_probe": "env_probe",
}

# Keeps today's numbers and instructions on every Triton: 3.10 changes the
# default, and 3.9 warns at each first compile that it is unset.
FP_FUSION = "TRITON_DEFAULT_FP_FUSION"


def run(directory, environment):
    """Runs the attempt in `directory`; returns the exit status (0: a result).

    An exception that gets this far is a fault of this package: its last words
    on stderr become the finding `invalid_result`.
    """
    try:
        run_attempt(directory, environment)
    except Exception:
        traceback.print_exc()
        return 1
    return 0


def run_attempt(directory, environment):
    started = time.perf_counter()
    os.chdir(directory)
    with open("request.json", encoding="utf-8") as file:
        request = json.load(file)
    environment = dict(request.get("environment", {}), **environment)
    os.environ.update(environment)
    os.environ.setdefault(FP_FUSION, "1")
    os.environ["TMPDIR"] = tempfile.tempdir = directory
    result = run_phase(request)
    result["total_ms"] = (time.perf_counter() - started) * 1e3
    usage = resource.getrusage(resource.RUSAGE_SELF)
    result["peak_rss_bytes"] = usage.ru_maxrss << 10
    write_result(result)


def run_phase(request):
    phase = request.get("phase", "")
    if phase not in PHASES:
        return skipped("this runner has no phase '%s'; it has %s" %
                       (phase, ", ".join(sorted(PHASES))))
    module = importlib.import_module("kernelfleet_runner." + PHASES[phase])
    return module.run(request)


def skipped(reason):
    return {"outcome": "skipped", "failure": {"message": reason}}


def write_result(result):
    """In one step, so that a result is whole or absent."""
    with open("result.json.new", "w", encoding="utf-8") as file:
        json.dump(result, file)
    os.replace("result.json.new", "result.json")

