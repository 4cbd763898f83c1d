"""Triton's compiler, the same way for every version from 3.2 to 3.9.

What differs between versions stands here and nowhere else.
"""

import inspect
import os
import subprocess
import sys

import triton
import triton.language as tl
from triton.backends import backends
from triton.compiler import ASTSource
from triton.compiler import compiler as triton_compiler
from triton.runtime.driver import driver as driver_config
from triton.runtime.jit import JITFunction

from kernelfleet_runner import targets, tileir

VERSION = triton.__version__
if tuple(int(part) for part in VERSION.split(".")[:2]) < (3, 2):
    raise ImportError("Triton %s is too old: the runner needs 3.2 or newer" %
                      VERSION)

CACHE_MANAGER = "TRITON_CACHE_MANAGER"

# 3.2 took `constants` by name and left constexprs out of the signature; 3.3
# takes `constexprs` by position and wants them in it.
_NEW_SOURCE = "constexprs" in inspect.signature(ASTSource.__init__).parameters


class Unsupported(Exception):
    """The installed stack cannot compile for this target at all."""


def gpu_target(target):
    """The GPUTarget of {"backend", "arch"}, or Unsupported."""
    from triton.backends.compiler import GPUTarget
    backend, arch = target.get("backend", ""), target.get("arch", "")
    try:
        if backend == "tileir":
            reason = tileir.missing(backends)
            if reason:
                raise Unsupported(reason)
            return GPUTarget(backend, targets.capability(arch),
                             tileir.WARP_SIZE)
        if backend == "cuda":
            found = GPUTarget(backend, targets.capability(arch), 32)
        elif backend == "hcu":
            # triton-das names its backend hcu and its targets either way.
            found = GPUTarget("hcu", arch, targets.warp_size(arch))
            if not _compilers(found):
                found = GPUTarget("hip", arch, targets.warp_size(arch))
        else:
            found = GPUTarget(backend, arch, targets.warp_size(arch))
    except ValueError as error:
        raise Unsupported(str(error))
    if len(_compilers(found)) != 1:
        raise Unsupported("this Triton has no backend for %s:%s; it has %s" %
                          (backend, arch, ", ".join(sorted(backends))))
    return found


def _compilers(target):
    return [b.compiler for b in backends.values()
            if b.compiler.supports_target(target)]


class AbsentDriver:
    """Stands for a driver: says what is compiled for, owns no GPU.

    Kernels and decorators ask the active driver (target_info, autotune in
    3.2); the real one would be missing, or would initialise a GPU.
    """

    def __init__(self, target, shared_bytes):
        self._target = target
        self._shared_bytes = shared_bytes
        self.utils = self

    def get_current_target(self):
        return self._target

    def get_current_device(self):
        return 0

    def get_device_properties(self, device):
        del device
        return {"max_shared_mem": self._shared_bytes or 1 << 30,
                "multiprocessor_count": 1, "warpSize": self._target.warp_size}

    def get_benchmarker(self):
        def refuse(*args, **kwargs):
            raise RuntimeError("a compile probe times nothing")
        return refuse


def pretend_driver(target, shared_bytes):
    driver_config.set_active(AbsentDriver(target, shared_bytes))


def source(function, signature, constants, hints, target):
    """An ASTSource.

    signature: parameter name -> type; constants: parameter name -> value;
    hints: parameter name -> {"tt.divisibility": 16, "tt.pointer_range": 32}.
    """
    position = {name: i for i, name in enumerate(function.arg_names)}
    if _NEW_SOURCE:
        types = {name: "constexpr" if name in constants else signature[name]
                 for name in function.arg_names}
        attrs = {(position[name],): [[k, v] for k, v in sorted(kv.items())]
                 for name, kv in hints.items() if kv}
        values = {(position[name],): v for name, v in constants.items()}
        return ASTSource(function, types, values, attrs)
    types = {name: type_ for name, type_ in signature.items()
             if name not in constants}
    return ASTSource(function, types, constants,
                     _attrs_descriptor(position, hints, target))


def _attrs_descriptor(position, hints, target):
    """The AttrsDescriptor of Triton 3.2: lists of positions by property."""
    from triton.backends.compiler import AttrsDescriptor
    kind = AttrsDescriptor
    if target.backend == "hip":
        from triton.backends.amd.compiler import HIPAttrsDescriptor as kind
    attrs = kind()
    for name, properties in sorted(attrs.property_values.items()):
        attrs.arg_properties[name] = [
            position[arg] for arg, kv in hints.items()
            if kv.get(name) == properties]
    attrs._init_slots()
    return attrs


def option_names(target):
    """Names of the options that the target's backend knows."""
    backend = triton_compiler.make_backend(target)
    return set(vars(backend.parse_options({})))


def first_line(function):
    """Line of `def` in the module; error positions count from there."""
    lines, begin = inspect.getsourcelines(function.fn)
    for offset, line in enumerate(lines):
        if line.lstrip().startswith(("def ", "async def ")):
            return begin + offset, len(line) - len(line.lstrip())
    return begin, 0


def function_source(function):
    """The text that a CompilationError's positions count in."""
    return function.src


def element_type(name):
    """A dtype by Triton's name or attribute: fp16, float16, int32, bf16."""
    for key, value in vars(tl).items():
        if isinstance(value, tl.dtype) and name in (key, value.name):
            return value
    raise ValueError("'%s' is no element type of Triton" % name)


class Watch:
    """Notes which stage runs, how long each took, and what ptxas said."""

    def __init__(self, note_stage, clock):
        self.stage = "frontend"
        self.times = []
        self.ptxas_log = ""
        self._note_stage = note_stage
        self._clock = clock

    def timed(self, name, function):
        def call(*args, **kwargs):
            self.stage = name
            self._note_stage(name)
            begin = self._clock()
            result = function(*args, **kwargs)
            self.times.append((name, (self._clock() - begin) * 1e3))
            return result
        return call


def compile_source(src, target, options, watch):
    """triton.compile, watched; its files go to the current folder."""
    backend_class = type(triton_compiler.make_backend(target))
    add_stages = backend_class.add_stages

    def watched(self, stages, *args, **kwargs):
        add_stages(self, stages, *args, **kwargs)
        for name, stage in stages.items():
            stages[name] = watch.timed(name, stage)

    backend_class.add_stages = watched
    src.make_ir = watch.timed("frontend", src.make_ir)
    # The module of the backend; 3.2 loads it under no name that one could ask.
    names = add_stages.__globals__
    if "subprocess" in names:
        names["subprocess"] = _Subprocess(watch)
    os.environ[CACHE_MANAGER] = "kernelfleet_runner.artifacts:ArtifactCache"
    try:
        return triton.compile(src, target=target, options=options)
    finally:
        del os.environ[CACHE_MANAGER]
        backend_class.add_stages = add_stages
        if "subprocess" in names:
            names["subprocess"] = subprocess


class _Subprocess:
    """The module `subprocess` as Triton's NVIDIA backend sees it.

    Triton runs `ptxas -v`, whose log holds registers and spills, and deletes
    the log. No version hands it out without printing it.
    """

    def __init__(self, watch):
        self._watch = watch

    def __getattr__(self, name):
        return getattr(subprocess, name)

    def run(self, command, **kwargs):
        log = getattr(kwargs.get("stderr"), "name", None)
        try:
            return subprocess.run(command, **kwargs)
        finally:
            if isinstance(log, str) and os.path.exists(log):
                with open(log, errors="replace") as file:
                    self._watch.ptxas_log = file.read(1 << 20)


def tool(name):
    """Path of a tool that the wheel brings (ptxas, nvdisasm), or ""."""
    variable = "TRITON_%s_PATH" % name.upper().replace("-", "_")
    bundled = os.path.join(os.path.dirname(triton.__file__), "backends",
                           "nvidia", "bin", name)
    for path in (os.environ.get(variable, ""), bundled):
        if path and os.path.exists(path):
            return path
    return ""


def ptxas_for(arch):
    """The ptxas that this Triton uses for the capability."""
    blackwell = tool("ptxas-blackwell")
    module = sys.modules.get("triton.backends.nvidia.compiler")
    choose = getattr(module, "get_ptxas", None)
    if choose is not None and inspect.signature(choose).parameters:
        return choose(arch).path
    return blackwell if blackwell and arch >= 100 else tool("ptxas")


def buffer_ops():
    """The effective AMDGCN_USE_BUFFER_OPS as "1", "0" or "unknown"."""
    knobs = getattr(triton, "knobs", None)
    amd = getattr(knobs, "amd", None)
    if hasattr(amd, "use_buffer_ops"):
        return "1" if amd.use_buffer_ops else "0"
    return os.environ.get("AMDGCN_USE_BUFFER_OPS", "unknown")


def jit_function(value):
    """The JITFunction inside autotune and heuristics decorators, or None."""
    while not isinstance(value, JITFunction):
        value = getattr(value, "fn", None)
        if value is None:
            return None
    return value
