#!/usr/bin/env python3
"""Fetches the C sources of tree-sitter and of its Python grammar.

usage: fetch_grammar.py CACHE_DIR

Downloads the pinned source distributions with pip, whose own configuration
says from where; pip checks the SHA-256 before it opens them. Prints the folder
that then holds core/ and grammar/. A second run fetches nothing.
"""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

# Distribution, version, SHA-256 of its source archive.
CORE = ("tree-sitter", "0.26.1",
        "9919cbaf02d17fa9a4cd0e6da496aecf901b758e6eacf122eee393e3ef08aacd")
GRAMMAR = ("tree-sitter-python", "0.25.0",
           "b13e090f725f5b9c86aa455a268553c65cadf325471ad5b65cd29cac8a1a68ac")
# The 0.25.0 archive was published without scanner.c. Both grammars declare the
# same external tokens in the same order, so the older scanner serves the newer
# tables once it knows what 0.25 added (SCANNER_CHANGES).
SCANNER = ("tree-sitter-python", "0.23.6",
           "354bfa0a2f9217431764a631516f85173e9711af2c13dbd796a8815acfe505d9")

# (old, new): each must occur exactly once.
SCANNER_CHANGES = [
    # Template strings of Python 3.14 read like format strings.
    ("if (lexer->lookahead == 'f' || lexer->lookahead == 'F') {",
     "if (lexer->lookahead == 'f' || lexer->lookahead == 'F' ||"
     " lexer->lookahead == 't' || lexer->lookahead == 'T') {"),
    # Indents past 255 columns were cut to one byte between two scans.
    ("        buffer[size++] = (char)*array_get(&scanner->indents, iter);\n",
     "        buffer[size++] = (char)(*array_get(&scanner->indents, iter));\n"
     "        buffer[size++] ="
     " (char)(*array_get(&scanner->indents, iter) >> 8);\n"),
    ("iter < scanner->indents.size && size <",
     "iter < scanner->indents.size && size + 1 <"),
    ("for (; size < length; size++) {", "for (; size + 1 < length; size += 2) {"),
    ("array_push(&scanner->indents, (unsigned char)buffer[size]);",
     "array_push(&scanner->indents, (uint16_t)((unsigned char)buffer[size] |"
     " ((unsigned char)buffer[size + 1] << 8)));"),
]


def download(pin, folder):
  """The archive of `pin` in `folder`; exits with one sentence on failure."""
  name, version, digest = pin
  requirements = folder / f"{name}-{version}.txt"
  requirements.write_text(f"{name}=={version} --hash=sha256:{digest}\n")
  command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
             "--no-binary", name, "--dest",
             str(folder / version), "-r", str(requirements)]
  done = subprocess.run(command, capture_output=True, text=True)
  if done.returncode != 0:
    lines = [line for line in done.stderr.splitlines() if "ERROR" in line]
    cause = (lines or done.stderr.splitlines() or ["pip said nothing"])[-1]
    sys.exit(f"cannot fetch {name} {version} with pip: {cause}\n"
             "Connect once, or point KERNELFLEET_GRAMMAR_DIR at a folder that "
             "this script filled on another machine.")
  return next((folder / version).glob("*.tar.gz"))


def unpack(archive, inside, target):
  """Copies the regular files below `inside` of the archive to `target`."""
  with tarfile.open(archive) as tar:
    for member in tar:
      path = pathlib.PurePosixPath(member.name)
      parts = path.parts[1:]
      if not member.isfile() or ".." in parts:
        continue
      if "/".join(parts[:len(inside)]) != "/".join(inside):
        continue
      out = target.joinpath(*parts[len(inside):])
      out.parent.mkdir(parents=True, exist_ok=True)
      out.write_bytes(tar.extractfile(member).read())


def adapt_scanner(path):
  text = path.read_text()
  for old, new in SCANNER_CHANGES:
    if text.count(old) != 1:
      sys.exit(f"{path.name}: expected exactly one `{old.strip()}`")
    text = text.replace(old, new)
  path.write_text(text)


def fill(folder):
  with tempfile.TemporaryDirectory() as temporary:
    temp = pathlib.Path(temporary)
    unpack(download(CORE, temp), ("tree_sitter", "core", "lib"),
           folder / "core")
    unpack(download(GRAMMAR, temp), ("src",), folder / "grammar")
    unpack(download(SCANNER, temp), ("src",), temp / "older")
    shutil.copy(temp / "older" / "scanner.c", folder / "grammar")
    adapt_scanner(folder / "grammar" / "scanner.c")


def main():
  if len(sys.argv) != 2:
    sys.exit(__doc__.split("\n\n")[1])
  key = hashlib.sha256(
      repr((CORE, GRAMMAR, SCANNER, SCANNER_CHANGES)).encode()).hexdigest()[:16]
  cache = pathlib.Path(sys.argv[1]).expanduser()
  target = cache / f"tree-sitter-{key}"
  if not target.is_dir():
    cache.mkdir(parents=True, exist_ok=True)
    # Renamed when whole: two configures at once, or one cut short, never
    # leave a half-filled folder.
    part = pathlib.Path(tempfile.mkdtemp(dir=cache))
    try:
      fill(part)
      os.rename(part, target)
    finally:
      shutil.rmtree(part, ignore_errors=True)
  print(target)


if __name__ == "__main__":
  main()
