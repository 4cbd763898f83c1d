"""A warm runner against triton.compile, and N slots against one.

overhead_ratio: a vector-add probe by a warm zygote, from the command to the
`ended` event, over the bare in-process triton.compile of the same kernel; the
two alternate, both with a cold Triton cache; medians.

slot_scaling: probes per second with one slot per core, over cores times the
probes per second with one slot; the two alternate, medians of rounds. A slot
is one outstanding attempt.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")

KERNEL = """import triton
import triton.language as tl


@triton.jit
def add(x, y, out, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < count
    total = tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask)
    tl.store(out + offsets, total, mask=mask)
"""
POINTERS = ("x", "y", "out")
BLOCK = 1024


def request():
    args = [{"name": name, "type": "*fp32", "divisibility": 16}
            for name in POINTERS]
    args.append({"name": "count", "type": "i32"})
    args.append({"name": "BLOCK", "constant": {"int_value": BLOCK}})
    return {"phase": "compile_probe", "module_file": "module.py",
            "entry": "add", "case": {"args": args},
            "target": {"backend": "cuda", "arch": "sm_90"}}


class Zygote:

    def __init__(self, runner, python, folder):
        self._process = subprocess.Popen(
            [runner, "--zygote", "--python", python, "--warm", "cuda:sm_90"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._folder = folder
        self._count = 0
        ready = json.loads(self._process.stdout.readline())
        if ready["event"] != "ready":
            sys.exit("the zygote failed: " + ready.get("message", ""))

    def prepare(self):
        """A new attempt directory: the agent's work, not the runner's."""
        self._count += 1
        path = os.path.join(self._folder, str(self._count))
        os.mkdir(path)
        with open(os.path.join(path, "module.py"), "w") as file:
            file.write(KERNEL)
        with open(os.path.join(path, "request.json"), "w") as file:
            json.dump(request(), file)
        return path

    def start(self, path):
        command = {"op": "run", "id": path, "dir": path, "run_s": 60}
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()

    def wait(self):
        """The directory of the next attempt to end."""
        while True:
            event = json.loads(self._process.stdout.readline())
            if event["event"] == "ended":
                return event["id"]

    def close(self):
        self._process.stdin.close()
        self._process.wait()


def check(path):
    with open(os.path.join(path, "result.json")) as file:
        result = json.load(file)
    if result["outcome"] != "compiled":
        sys.exit("a probe did not compile: %s" % result)


def probe(zygote):
    path = zygote.prepare()
    begin = time.perf_counter()
    zygote.start(path)
    zygote.wait()
    elapsed = time.perf_counter() - begin
    check(path)
    shutil.rmtree(path)
    return elapsed


def bare(kernel):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    signature = dict.fromkeys(POINTERS, "*fp32")
    signature.update(count="i32", BLOCK="constexpr")
    attrs = {(i,): [["tt.divisibility", 16]] for i in range(len(POINTERS))}
    source = ASTSource(kernel, signature, {"BLOCK": BLOCK}, attrs)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TRITON_CACHE_DIR"] = cache
        begin = time.perf_counter()
        triton.compile(source, target=GPUTarget("cuda", 90, 32))
        return time.perf_counter() - begin


def load_kernel(folder):
    path = os.path.join(folder, "bare_kernel.py")
    with open(path, "w") as file:
        file.write(KERNEL)
    sys.path.insert(0, folder)
    import bare_kernel
    return bare_kernel.add


def throughput(zygote, slots, probes):
    """Probes per second with that many outstanding at any time."""
    paths = [zygote.prepare() for _ in range(probes)]
    begin = time.perf_counter()
    for path in paths[:slots]:
        zygote.start(path)
    for i in range(probes):
        zygote.wait()
        if slots + i < probes:
            zygote.start(paths[slots + i])
    elapsed = time.perf_counter() - begin
    for path in paths:
        check(path)
        shutil.rmtree(path)
    return probes / elapsed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runner", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--probes", type=int, default=20)
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        kernel = load_kernel(folder)
        zygote = Zygote(options.runner, options.python, folder)
        bare(kernel)
        probe(zygote)
        pairs = [(bare(kernel), probe(zygote)) for _ in range(options.pairs)]
        rounds = [(throughput(zygote, 1, options.probes),
                   throughput(zygote, cores, options.probes * cores))
                  for _ in range(options.rounds)]
        zygote.close()
    bare_ms = statistics.median(b for b, _ in pairs) * 1e3
    probe_ms = statistics.median(p for _, p in pairs) * 1e3
    one = statistics.median(o for o, _ in rounds)
    many = statistics.median(m for _, m in rounds)
    print(json.dumps({
        "overhead_ratio": round(probe_ms / bare_ms, 3),
        "slot_scaling": round(many / (one * cores), 3),
        "probe_ms": round(probe_ms, 2), "bare_ms": round(bare_ms, 2),
        "one_slot_per_s": round(one, 2), "all_slots_per_s": round(many, 2),
        "slots": cores}))


main()
