"""Compiles kernels.py to TTIR with the installed Triton, no GPU needed:
python make.py [DIRECTORY]. Paths are cut to file names."""

import os
import pathlib
import re
import sys

import triton
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import kernels  # noqa: E402

WIDE = {"B": 128}


def descriptors(*names):
    shapes = {"da": "128, 64", "db": "256, 64", "dc": "128, 256"}
    return {name: f"tensordesc<fp16[{shapes[name]}]>" for name in names}


# Name: argument types, constants, arguments that are multiples of 16.
CASES = {
    "add": ("x*fp32 y*fp32 o*fp32 n:i32", {"B": 1024}, "x y o n"),
    "softmax": ("o*fp32 x*fp32 si:i32 so:i32 rows:i32 cols:i32", {"B": 1024, "S": 2}, "o x si so cols"),
    "matmul": ("a*fp16 b*fp16 c*fp16 M:i32 N:i32 K:i32 sam:i32 sbk:i32 scm:i32", {"BM": 128, "BN": 256, "BK": 64, "G": 8}, "a b c M N K sam sbk scm"),
    "matmul_descriptors": ("a*fp16 b*fp16 c*fp16 M:i32 N:i32 K:i32", {"BM": 128, "BN": 256, "BK": 64}, "a b c M N K"),
    "matmul_host_descriptors": ("da:D db:D dc:D M:i32 N:i32 K:i32", {"BM": 128, "BN": 256, "BK": 64}, "M N K"),
    "integers": ("x*i32 y*i32 o*i32 u*u32", WIDE, "x y o u"),
    "floats": ("x*fp32 y*fp32 o*fp32", WIDE, "x y o"),
    "conversions": ("x*fp32 o*fp32 h*fp16 e*fp8e4nv i8*i8", WIDE, "x o"),
    "shapes": ("x*fp32 o*fp32", WIDE, "x o"),
    "reductions": ("x*fp32 o*fp32", WIDE, "x o"),
    "scans": ("x*fp32 y*fp32 o*fp32", WIDE, "x y o"),
    "dots": ("a*fp32 b*fp32 e*fp8e4nv f*fp8e5 g*i8 c*fp32 ci*i32", {"B": 64, "P": "tf32x3"}, "a b e f g c ci"),
    "atomics": ("x*i32 h*fp16 lock*i32 n:i32", WIDE, "x h"),
    "early_return": ("x*fp32 n:i32", WIDE, "x"),
    "calls": ("x*fp32", WIDE, "x"),
    "hints": ("x*fp32 o*fp32 n:i32 s:i32", WIDE, "x o"),
    "descriptor_reduce": ("x*fp32 o*fp32 M:i32 N:i32", {"BM": 16, "BN": 32}, "x o M N"),
}


def signature(words, constants):
    made = {}
    for word in words.split():
        name, kind = re.match(r"(\w+?)([*:].*)$", word).groups()
        made[name] = descriptors(name)[name] if kind == ":D" else kind.lstrip(":")
    made.update({name: "constexpr" for name in constants})
    return made


def ttir(name, arch=90):
    words, constants, aligned = CASES[name]
    types = signature(words, constants)
    names = list(types)
    attributes = {(names.index(a),): [["tt.divisibility", 16]] for a in aligned.split()}
    target = GPUTarget("cuda", arch, 32)
    source = ASTSource(getattr(kernels, name), types, constants, attributes)
    backend = make_backend(target)
    options = backend.parse_options({"debug": name == "hints", **source.parse_options()})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    rest = (options, backend.get_codegen_implementation(options), backend.get_module_map(), context)
    stages = {}
    if tuple(map(int, triton.__version__.split(".")[:2])) < (3, 5):
        module = source.make_ir(*rest)
    else:
        module = source.make_ir(target, *rest)
    if hasattr(source, "language"):
        backend.add_stages(stages, options, source.language)
    else:
        backend.add_stages(stages, options)
    text = str(stages["ttir"](module, {}))
    library = os.path.dirname(triton.__file__)
    return text.replace(str(HERE) + "/", "").replace(library, "/triton")


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE)
    folder.mkdir(parents=True, exist_ok=True)
    for case in CASES:
        try:
            (folder / f"{case}.ttir").write_text(ttir(case))
        except Exception as error:  # An older Triton lacks a feature.
            print(f"{case}: {type(error).__name__}: {str(error)[:300]}", file=sys.stderr)
