"""The arrows of the house, checked over every source file.

A folder may include only what its row allows; a pure room may not touch files,
clocks, threads, logging, gRPC, SQL or Python. Exit 0 when all is well; else one
line for each violation.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The pure rooms and what they see of each other; all see PURE_BASE.
ROOMS = {
    "kernel": set(),
    "isa": set(),
    "autotune": set(),
    "stats": set(),
    "tileir": set(),
    "workflow": {"kernel", "isa", "autotune", "stats", "tileir"},
    "report": {"workflow", "kernel", "isa", "autotune", "stats", "tileir"},
}
PURE_BASE = {"status", "strings", "check", "hash"}

FORBIDDEN_IN_PURE = re.compile(
    r"#include\s+[<\"](?:grpc|spdlog/|sqlite3|pybind11|Python\.h|thread>|"
    r"mutex>|fstream>|filesystem>|chrono>|sys/|unistd\.h|fcntl\.h|"
    r"absl/time/clock)")
INCLUDE = re.compile(r'#include\s+"([^"]+)"')

# Folders outside the pure rooms: prefixes of our own that they may include.
OUTSIDE = {
    "common/base": ["common/base/"],
    "common/rpc": ["common/rpc/", "common/base/"],
    "server": ["server/", "common/"],
    "agent": ["agent/", "common/"],
    "agent/runner": ["agent/runner/"],
    "agent/meter": ["agent/meter/"],
    "cli": ["cli/", "common/"],
}


def sources(folder):
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix in (".cc", ".h"):
            yield path, path.read_text(encoding="utf-8")


def ours(include):
    return include.split("/")[0] in ("common", "server", "agent", "cli")


def check_room(room, sees):
    allowed = [f"common/{room}/"] + [f"common/{other}/" for other in sees]
    for path, text in sources(f"common/{room}"):
        where = path.relative_to(ROOT)
        for line in text.splitlines():
            if FORBIDDEN_IN_PURE.match(line):
                yield f"{where}: a pure room has {line.strip()}"
        for include in INCLUDE.findall(text):
            if include.startswith("common/base/"):
                name = pathlib.PurePath(include).stem
                if name not in PURE_BASE:
                    yield f"{where}: a pure room includes {include}"
            elif ours(include) and not include.startswith(tuple(allowed)):
                yield f"{where}: {room} may not include {include}"


def check_outside(folder, allowed):
    nested = [other for other in OUTSIDE if other.startswith(folder + "/")]
    for path, text in sources(folder):
        where = path.relative_to(ROOT)
        if str(where).startswith(tuple(other + "/" for other in nested)):
            continue
        for include in INCLUDE.findall(text):
            if not ours(include) and "/" not in include:
                continue
            if ours(include) and not include.startswith(tuple(allowed)):
                yield f"{where}: {folder} may not include {include}"
            if include.startswith("kernelfleet/") and "common/base" == folder:
                yield f"{where}: base knows no message, yet has {include}"


def main():
    problems = []
    for room, sees in ROOMS.items():
        problems += check_room(room, sees)
    for folder, allowed in OUTSIDE.items():
        problems += check_outside(folder, allowed)
    seen = sum(1 for top in ("common", "server", "agent", "cli")
               for _ in sources(top))
    for problem in problems:
        print(problem)
    print(f"{seen} files, {len(problems)} violations")
    return 1 if problems or seen == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
