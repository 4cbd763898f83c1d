"""Compiles what `kernelfleet plan --json` printed, each kernel in a process.

    corpora.py PLAN.json [--target cuda:sm_90] [--jobs 2] [--limit 60]

The runner's own code compiles: module.py, case, alternatives. Prints one JSON
object per kernel to stdout as it ends.
"""

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "agent", "runner", "python"))


def read_plans(path, only):
    """(request, module text) for every kernel, as the coordinator's rules
    would make them."""
    with open(path, encoding="utf-8") as file:
        plan = json.load(file)
    out = []
    for kernel in plan["spec"].get("kernels", []):
        if only not in kernel["name"]:
            continue
        request = {"phase": "compile_probe", "entry": kernel["name"]}
        for key in ("source_file", "source_lines", "case", "alternatives"):
            if key in kernel:
                request[key] = kernel[key]
        out.append((request, plan["modules"][kernel["module_digest"]]))
    return out


def attempt(plan, target, folder, limit):
    """Runs in the child: one attempt directory, as an agent would make it."""
    from kernelfleet_runner import compile_probe
    os.chdir(folder)
    signal.alarm(limit)
    sink = os.open("log", os.O_WRONLY | os.O_CREAT)
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    with open("module.py", "w", encoding="utf-8") as file:
        file.write(plan[1])
    request = plan[0]
    backend, arch = target.split(":")
    request["target"] = {"backend": backend, "arch": arch}
    begin = time.monotonic()
    result = compile_probe.run(request)
    result["total_ms"] = (time.monotonic() - begin) * 1e3
    with open("result.json", "w", encoding="utf-8") as file:
        json.dump(result, file)


def verdict(plan, folder, status):
    path = os.path.join(folder, "result.json")
    out = {"kernel": plan[0]["entry"],
           "file": plan[0]["source_file"]}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
        out["outcome"] = result["outcome"]
        out["alternative"] = result.get("alternative", 0)
        out["ms"] = round(result["total_ms"])
        failure = result.get("failure", {})
        out["reason"] = "%s: %s: %s" % (failure.get("stage", ""),
                                        failure.get("error_class", ""),
                                        failure.get("message", ""))
        out["line"] = failure.get("source_line", "")
    elif os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM:
        out.update(outcome="timed_out", reason="timed out")
    else:
        out.update(outcome="crashed", reason="status %d" % status)
    return out


def warm_up():
    """A child of a process that has compiled pays the set-up no more."""
    from kernelfleet_runner import triton_api
    import triton
    del triton_api, triton


def run(plans, target, jobs, limit):
    running = {}
    waiting = list(reversed(plans))
    while waiting or running:
        while waiting and len(running) < jobs:
            plan = waiting.pop()
            folder = tempfile.mkdtemp(prefix="corpora")
            pid = os.fork()
            if pid == 0:
                try:
                    attempt(plan, target, folder, limit)
                finally:
                    os._exit(0)
            running[pid] = (plan, folder)
        if not running:
            continue
        pid, status = os.wait()
        plan, folder = running.pop(pid)
        yield verdict(plan, folder, status)
        shutil.rmtree(folder, ignore_errors=True)


def summary(rows):
    """{"packages": …} from triples of name, plan and results. A kernel that
    could not be planned counts as an entry that failed."""
    packages = {}
    for name, plan_file, result_file in zip(rows[::3], rows[1::3], rows[2::3]):
        with open(plan_file, encoding="utf-8") as file:
            skipped = json.load(file).get("skipped", [])
        with open(result_file, encoding="utf-8") as file:
            results = [json.loads(line) for line in file]
        failed = [[row["kernel"], ("%s: %s" % (row["outcome"],
                                               row["reason"]))[:200]]
                  for row in results if row["outcome"] != "compiled"]
        failed += [[one["subject"], one["reason"][:200]] for one in skipped
                   if "no @triton.jit function" not in one["reason"]]
        compiled = sum(row["outcome"] == "compiled" for row in results)
        packages[name] = {"entries": compiled + len(failed),
                          "compiled": compiled, "failed": failed}
    return {"packages": packages}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("plan", nargs="?")
    parser.add_argument("--sum", nargs="+")
    parser.add_argument("--target", default="cuda:sm_90")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    if args.sum:
        print(json.dumps(summary(args.sum)))
        return
    os.environ["TRITON_DEFAULT_FP_FUSION"] = "1"
    os.environ["TRITON_ALWAYS_COMPILE"] = "1"
    warm_up()
    plans = read_plans(args.plan, args.only)
    for row in run(plans, args.target, args.jobs, args.limit):
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
