#!/usr/bin/env python3
"""Proves on public packages that `kernelfleet transform` damages no file.

    tests/corpora/transform_check.py KERNELFLEET [--wheels DIR]
                                     [--sample N] [PACKAGE==VERSION ...]

For every .py file, with and without --add-autotuner:
  - the output parses, and a second run changes nothing;
  - with the helpers' calls taken out again its syntax tree is the input's,
    and its comments are the input's: nothing else changed;
  - no device function got an autotuner.
For every file that can be imported with stubs in place of torch and a GPU
(needs triton): each autotuner has the input's configs in the input's order;
and where a TileIR backend is simulated, these are still the first ones.

Prints one JSON object. Exit 1 when a promise is broken. Packages are fetched
with pip unless --wheels holds them; offline it says SKIPPED and exits 0.
"""
import argparse
import ast
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import tokenize
import zipfile

PACKAGES = ["liger-kernel==0.8.5", "fla-core==0.6.0", "conch-triton-kernels==1.3"]
BEGIN = "# kernelfleet: configs for the TileIR backend (begin)"
END = "# kernelfleet: configs for the TileIR backend (end)"
HELPERS = {"_KF_TILEIR_ROWS", "_kf_tileir_arch", "_kf_tileir_configs", "_kf_tileir_autotune"}


class Undo(ast.NodeTransformer):
    """Takes the calls of the helpers out of a syntax tree."""

    def visit_Call(self, node):
        self.generic_visit(node)
        named = isinstance(node.func, ast.Name) and node.func.id == "_kf_tileir_configs"
        return node.args[1] if named else node

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        node.decorator_list = [d for d in node.decorator_list if not is_added_tuner(d)]
        return node


def is_added_tuner(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "_kf_tileir_autotune"


def defines_helper(node):
    if isinstance(node, ast.FunctionDef):
        return node.name in HELPERS
    return isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) in HELPERS


def undone(text):
    tree = ast.parse(text)
    tree.body = [node for node in tree.body if not defines_helper(node)]
    return ast.dump(Undo().visit(tree))


def comments(text):
    lines, inside = [], False
    for line in text.split("\n"):
        inside |= line.rstrip("\r") == BEGIN
        if not inside:
            lines.append(line)
        inside &= line.rstrip("\r") != END
    tokens = tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline)
    return [t.string for t in tokens if t.type == tokenize.COMMENT]


def called_by_kernels(tree):
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any("jit" in ast.unparse(d) for d in node.decorator_list):
            names |= {c.func.id for c in ast.walk(node) if isinstance(c, ast.Call) and isinstance(c.func, ast.Name)}
    return names


def transform(program, path, flags):
    done = subprocess.run([program, "transform", path, "--json", *flags], capture_output=True, text=True)
    if done.returncode not in (0, 1) or not done.stdout:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr[-300:]}")
    return json.loads(done.stdout)


def check(program, path, text, flags, scratch):
    """Problems of one file as sentences, and the result."""
    result = transform(program, path, flags)
    code = result["optimized_code"]
    problems = []
    tree = ast.parse(code)
    if undone(code) != ast.dump(ast.parse(text)):
        problems.append("something else changed")
    if comments(code) != comments(text):
        problems.append("a comment changed")
    helpers = called_by_kernels(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name in helpers:
            if any(is_added_tuner(d) for d in node.decorator_list):
                problems.append(f"device function {node.name} got an autotuner")
    if bool(result["changes_applied"]) != (code != text):
        problems.append("the list of changes and the code disagree")
    with open(scratch, "w", newline="", encoding="utf-8") as out:
        out.write(code)
    again = transform(program, scratch, flags)
    if again["optimized_code"] != code or again["changes_applied"]:
        problems.append("a second run changes it again")
    return problems, result


# Runs in a child: torch and whatever else is missing are stubs. Prints the
# configs of each autotuner of the file.
IMPORTER = r'''
import importlib.abc, importlib.machinery, json, sys, types
from unittest.mock import MagicMock
import triton
from triton.runtime.autotuner import Autotuner, Config

class Stub(MagicMock):
    __path__ = []
    def __mro_entries__(self, bases):
        return (object,)

class Stubs(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=True)
    def create_module(self, spec):
        stub = Stub(name=spec.name)
        stub.__spec__, stub.__name__, stub.__version__ = spec, spec.name, "99.0"
        return stub
    def exec_module(self, module):
        pass

path, package, simulate = sys.argv[1:4]
sys.meta_path.append(Stubs())
asked = []
if simulate != "0":
    from triton.backends import backends
    from triton.backends.compiler import GPUTarget
    backends["tileir"] = None
    class Active:
        def get_current_target(self):
            return GPUTarget("tileir", int(simulate), 32)
    triton.runtime.driver.set_active(Active())
else:
    class Active:
        def __getattr__(self, name):
            asked.append(name)
            raise RuntimeError("0 active drivers")
    triton.runtime.driver.set_active(Active())
module = types.ModuleType(package + ".checked" if package else "checked")
module.__file__, module.__package__ = path, package
sys.modules[module.__name__] = module
exec(compile(open(path, encoding="utf-8").read(), path, "exec"), module.__dict__)
out = {}
for name, value in vars(module).items():
    while value is not None and not isinstance(value, Autotuner) and type(value).__name__ in ("Heuristics", "JITFunction"):
        value = getattr(value, "fn", None)
    if isinstance(value, Autotuner):
        out[name] = [[sorted(c.kwargs.items(), key=str), c.num_warps, c.num_stages, c.num_ctas, str(c.pre_hook)] for c in value.configs]
print(json.dumps({"configs": out, "asked": len(asked)}, default=str))
'''


def configs(python, path, package, simulate):
    done = subprocess.run([python, "-c", IMPORTER, path, package, str(simulate)], capture_output=True, text=True, timeout=120)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 and done.stdout else None


def check_imports(python, original, changed, package):
    """None: the original does not import under stubs; else problems."""
    before = configs(python, original, package, 0)
    if before is None or not before["configs"]:
        return None
    after = configs(python, changed, package, 0)
    if after is None:
        return ["it no longer imports"]
    if after["configs"] != before["configs"]:
        return ["stock Triton's configs changed"]
    if after["asked"] != before["asked"]:
        return ["stock Triton's driver was asked"]
    problems = []
    # What the file itself does on another backend is its own affair: the
    # baseline of the simulation is the original under the same simulation.
    for sm in (80, 90, 100, 120):
        base, tile = configs(python, original, package, sm), configs(python, changed, package, sm)
        if base is None:
            continue
        if tile is None:
            problems.append(f"it does not import under TileIR on sm_{sm}")
            continue
        for name, listed in base["configs"].items():
            now = tile["configs"][name]
            if now[: len(listed)] != listed:
                problems.append(f"{name} on sm_{sm}: the first configs changed")
            for kwargs, _, _, num_ctas, _ in now[len(listed):]:
                if "occupancy" not in dict(kwargs) or (num_ctas > 1 and sm != 100):
                    problems.append(f"{name} on sm_{sm}: a bad config was added")
    return problems


def fetch(packages, wheels):
    have = os.listdir(wheels) if os.path.isdir(wheels) else []
    for package in packages:
        stem = package.replace("-", "_").replace("==", "-")
        if any(name.startswith(stem + "-") for name in have):
            continue
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", wheels, package]
        if subprocess.run(command, capture_output=True).returncode != 0:
            return False
    return True


def sources(packages, wheels, folder):
    for package in packages:
        stem = package.replace("-", "_").replace("==", "-")
        for name in sorted(os.listdir(wheels)):
            if not name.startswith(stem + "-") or not name.endswith(".whl"):
                continue
            target = os.path.join(folder, stem)
            zipfile.ZipFile(os.path.join(wheels, name)).extractall(target)
            for root, _, files in sorted(os.walk(target)):
                for file in sorted(files):
                    if file.endswith(".py"):
                        yield package, target, os.path.join(root, file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("packages", nargs="*", default=PACKAGES)
    parser.add_argument("--wheels", default=None)
    parser.add_argument("--python", default=sys.executable, help="an interpreter with triton, for the imports")
    parser.add_argument("--sample", type=int, default=0, help="import this many of the changed files; 0: all")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wheels = args.wheels or os.path.join(folder, "wheels")
        if not fetch(args.packages, wheels):
            print("SKIPPED: the packages cannot be fetched")
            return 0
        totals = {"files": 0, "changed": 0, "kernels_extended": 0, "autotuners_added": 0, "declined": 0, "imported": 0,
                  "not_importable": 0}
        broken, importable = [], []
        for package, root, path in sources(args.packages, wheels, os.path.join(folder, "src")):
            with open(path, newline="", encoding="utf-8") as source:
                text = source.read()
            totals["files"] += 1
            for flags in ([], ["--add-autotuner"]):
                scratch = os.path.join(folder, f"{totals['files']}{'a' if flags else ''}.py")
                problems, result = check(args.program, path, text, flags, scratch)
                broken += [[path, " ".join(flags), p] for p in problems]
                rules = [c["rule"] for c in result["changes_applied"]]
                if flags:
                    totals["autotuners_added"] += rules.count("add-autotuner")
                    continue
                totals["kernels_extended"] += rules.count("extend-configs")
                totals["declined"] += len(result["changes_declined"])
                if rules:
                    totals["changed"] += 1
                    module = os.path.relpath(os.path.dirname(path), root).replace(os.sep, ".")
                    importable.append((path, scratch, module))
        random.Random(1).shuffle(importable)
        for path, scratch, module in importable[: args.sample or None]:
            problems = check_imports(args.python, path, scratch, module)
            totals["not_importable" if problems is None else "imported"] += 1
            broken += [[path, "import", p] for p in problems or []]
        print(json.dumps({**totals, "broken": broken}))
        return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
