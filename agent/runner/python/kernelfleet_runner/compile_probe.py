"""Phase compile_probe: compile one kernel for one target, without a GPU."""

import gc
import os
import platform
import time

from kernelfleet_runner import (artifacts, case as case_module, failures,
                                module_loader, resources, targets, triton_api,
                                warm)
from kernelfleet_runner.attempt import FP_FUSION
from kernelfleet_runner.compiler_log import CompilerLog
from kernelfleet_runner.host import note_stage

# Stages in which another guess at types or values may do better.
CURABLE = ("frontend", "ttir", "ttgir", "llir")


def run(request):
    """The ProbeResult for a ProbeRequest, both as JSON objects."""
    # A process that ends in a moment needs no collector.
    gc.disable()
    result = {"environment": facts(), "stages": [], "artifacts": []}
    source = None
    try:
        target = triton_api.gpu_target(request.get("target", {}))
        triton_api.pretend_driver(target, _shared_limit(request))
        note_stage("import")
        begin = time.perf_counter()
        source = module_loader.read_source(request)
        module = module_loader.load_module(source)
        kernel = module_loader.find_kernel(module, request.get("entry", ""))
        _add_stage(result, "import", (time.perf_counter() - begin) * 1e3)
        compile_cases(request, target, source, module, kernel, result)
        result["outcome"] = "compiled"
    except triton_api.Unsupported as error:
        _fail(result, failures.Finding("unsupported_target", stage="target",
                                       message=str(error)))
    except module_loader.LoadError as error:
        _fail(result, failures.from_load_error(error, source))
    except failures.Finding as finding:
        _fail(result, finding)
    return result


def compile_cases(request, target, source, module, kernel, result):
    """Compiles the case, or the first alternative that does better."""
    first = None
    for i, message in enumerate([request.get("case", {})] +
                                request.get("alternatives", [])):
        try:
            compile_case(request, message, target, source, module, kernel,
                         result)
            result["alternative"] = i
            return
        except failures.Finding as finding:
            first = first or finding
            if not curable(finding):
                break
    raise first


def curable(finding):
    return finding.outcome == "out_of_resources" or (
        finding.outcome == "compile_error" and
        finding.failure.get("stage") in CURABLE)


def compile_case(request, message, target, source, module, kernel, result):
    """Fills `result`, or raises the Finding."""
    watch = triton_api.Watch(note_stage, time.perf_counter)
    result["stages"] = result["stages"][:1]
    artifacts.discard()
    log = CompilerLog()
    try:
        case = case_module.read_case(message, kernel, module,
                                     triton_api.option_names(target))
        with log:
            src = triton_api.source(kernel, case.signature, case.constants,
                                    case.hints, target)
            compiled = triton_api.compile_source(src, target, case.options,
                                                 watch)
    except Exception as error:
        finding = failures.from_exception(error, watch.stage, log.text,
                                          source, module)
        raise warm.blame(finding, request["target"])
    finally:
        for name, ms in watch.times:
            _add_stage(result, name, ms)
        result["artifacts"] = artifacts.collect()
    finish(request, compiled.metadata._asdict(), watch, result)


def finish(request, metadata, watch, result):
    """What is to be told of a kernel that compiled."""
    note_stage("collect")
    symbol = metadata.get("name", "")
    result["symbol"] = symbol
    found = resources.read_resources(symbol, metadata, watch.ptxas_log,
                                     artifacts.read_text("amdgcn"))
    result["resources"] = found
    check_limits(request, found, metadata)
    if request.get("disassemble") and os.path.exists("kernel.cubin"):
        note_stage("sass")
        begin = time.perf_counter()
        warning = artifacts.disassemble()
        if warning:
            result.setdefault("warnings", []).append(warning)
        else:
            _add_stage(result, "sass", (time.perf_counter() - begin) * 1e3)
            result["artifacts"].append(artifacts.describe("sass"))


def check_limits(request, found, metadata):
    """Refuses what the hardware could not launch, as a driver would."""
    limit = _shared_limit(request)
    if limit is not None and found.get("shared_bytes", 0) > limit:
        raise failures.overrun("shared memory", found["shared_bytes"], limit,
                               "launch")
    columns = metadata.get("tmem_size") or 0
    if columns > targets.TENSOR_MEMORY_COLUMNS:
        raise failures.overrun("tensor memory columns", columns,
                               targets.TENSOR_MEMORY_COLUMNS, "launch")


def facts():
    """What the result depends on, apart from the request."""
    return {
        "python": platform.python_version(),
        "triton": triton_api.VERSION,
        FP_FUSION: os.environ.get(FP_FUSION, ""),
        "AMDGCN_USE_BUFFER_OPS": triton_api.buffer_ops(),
    }


def _shared_limit(request):
    target = request.get("target", {})
    return targets.shared_limit(target.get("backend", ""),
                                target.get("arch", ""))


def _add_stage(result, name, ms):
    result["stages"].append({"name": name, "ms": round(ms, 3)})


def _fail(result, finding):
    result["outcome"] = finding.outcome
    result["failure"] = finding.failure
