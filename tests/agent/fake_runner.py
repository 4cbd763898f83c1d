"""Speaks the runner's protocol and does what the attempt's folder says.

The file `do` of an attempt directory holds one word: end (the default), hang,
die (of the whole process), twice. The environment variable FAKE_RUNNER of the
process: ready (the default), failed, mute.
"""

import json
import os
import signal
import sys
import time


def say(**event):
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


def ended(attempt, **more):
    event = {"event": "ended", "id": attempt, "exit_status": 0, "wall_ms": 5,
             "peak_rss_bytes": 4096}
    say(**dict(event, **more))


def word(folder):
    try:
        with open(os.path.join(folder, "do"), encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return "end"


def run(command):
    with open(os.path.join(command["dir"], "command.json"), "w",
              encoding="utf-8") as file:
        json.dump(dict(command, argv=sys.argv[1:], pid=os.getpid(),
                       toggle=os.environ.get("TRITON_X_PATH", ""),
                       secret=os.environ.get("KERNELFLEET_SECRET", "")), file)
    say(event="started", id=command["id"], pid=os.getpid())
    todo = word(command["dir"])
    if todo == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if todo == "end":
        ended(command["id"])
    if todo == "twice":
        ended(command["id"])
        ended(command["id"], exit_status=9)


def serve():
    mode = os.environ.get("CUDA_FAKE_RUNNER", "ready")
    if mode == "failed":
        say(event="failed", message="no module named triton")
        return
    if mode == "mute":
        sys.stderr.write("libpython not found\n")
        sys.exit(127)
    say(event="ready", python="3", triton="0", warm_ms=1, pid=os.getpid())
    for line in sys.stdin:
        command = json.loads(line)
        if command["op"] == "run":
            run(command)
        elif command["op"] == "cancel":
            ended(command["id"], exit_status=-1, signal=15, cancelled=True)


def alone(folder):
    with open(os.path.join(folder, "alone"), "w", encoding="utf-8"):
        pass
    if os.path.exists(os.path.join(folder, "request.json")):
        compile_nothing(folder)
        sys.exit(0)
    if word(folder) == "hang":
        time.sleep(1000)
    sys.exit(3)


def compile_nothing(folder):
    """What a compile probe of a tiny kernel leaves."""
    with open(os.path.join(folder, "kernel.cubin"), "w", encoding="utf-8"):
        pass
    with open(os.path.join(folder, "result.json"), "w",
              encoding="utf-8") as file:
        json.dump({"outcome": "compiled", "symbol": "copy", "artifacts": [
            {"name": "kernel.cubin", "kind": "cubin"}]}, file)


if "--zygote" in sys.argv:
    serve()
else:
    alone(sys.argv[sys.argv.index("--attempt") + 1])
