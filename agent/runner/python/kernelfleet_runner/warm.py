"""Warming a zygote, and what a throw-away compile proves of a target."""

import contextlib
import gc
import json
import os
import platform
import tempfile
import time

from kernelfleet_runner import attempt, failures, host, triton_api
from kernelfleet_runner.compiler_log import CompilerLog

# One target per backend pays that backend's set-up (0.3 s) for all others.
DEFAULT_TARGETS = ("cuda:sm_90", "hip:gfx942")

# Target name -> "" (compiles) or why not. A zygote fills it while it warms up
# and its attempts inherit it.
_proved = {}


def warm_up(names):
    """The zygote's `ready` event as JSON text."""
    begin = time.perf_counter()
    os.environ.setdefault(attempt.FP_FUSION, "1")
    # Whatever the attempts import is imported once, here.
    from kernelfleet_runner import compile_probe, env_probe
    del env_probe
    reasons = {}
    for name in names or DEFAULT_TARGETS:
        backend, _, arch = name.partition(":")
        reason = prove({"backend": backend, "arch": arch})
        if reason:
            reasons[name] = reason
    compile_probe.facts()
    gc.collect()
    # Keeps the collector, and so copy-on-write, off what attempts inherit.
    gc.freeze()
    return json.dumps({
        "event": "ready", "python": platform.python_version(),
        "triton": triton_api.VERSION, "pid": os.getpid(),
        "warm_ms": round((time.perf_counter() - begin) * 1e3, 1),
        "cold": reasons})


def prove(target):
    """"" if the throw-away kernel compiles for the target, else why not."""
    name = "%s:%s" % (target.get("backend", ""), target.get("arch", ""))
    if name not in _proved:
        _proved[name] = _prove(target)
    return _proved[name]


def _prove(target):
    try:
        compile_copy(triton_api.gpu_target(target))
    except triton_api.Unsupported as error:
        return str(error)
    except failures.Finding as finding:
        return str(finding)
    return ""


def compile_copy(gpu_target, hints=None):
    """Compiles copy_kernel ; its binary's forms by kind."""
    from kernelfleet_runner import warm_kernels
    kernel = warm_kernels.copy_kernel
    signature = {"source": "*fp32", "sink": "*fp32", "count": "i32"}
    src = triton_api.source(kernel, signature, {"BLOCK": 1024}, hints or {},
                            gpu_target)
    watch = triton_api.Watch(host.note_stage, time.perf_counter)
    log = CompilerLog()
    with tempfile.TemporaryDirectory() as folder, _inside(folder):
        try:
            with log:
                return dict(triton_api.compile_source(
                    src, gpu_target, {}, watch).asm)
        except Exception as error:
            raise failures.from_exception(error, watch.stage, log.text, None,
                                          None)


def blame(finding, target):
    """The finding, once it is clear that the kernel is to blame for it.

    A pass that fails for every kernel is the stack's fault. Where the
    throw-away kernel fails too, so does the target.
    """
    if finding.outcome != "compile_error" or \
            finding.failure.get("stage") == "frontend":
        return finding
    reason = prove(target)
    if not reason:
        return finding
    return failures.Finding("unsupported_target",
                            **dict(finding.failure, message=reason))


@contextlib.contextmanager
def _inside(folder):
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
