"""What compilers print to stderr, kept apart while they run."""

import os

HEAD = 64 << 10
FILE_NAME = "compiler.log"


class CompilerLog:
    """Catches descriptor 2 in DIR/compiler.log.

    A failing pass prints its whole module there, and its cause once, at the
    top. `text` is that top; it is passed on to stderr, the rest is not. After a
    crash the file stays, and the keeper reads the last words from it.
    """

    def __init__(self):
        self.text = ""
        self._stderr = -1

    def __enter__(self):
        self._stderr = os.dup(2)
        file = os.open(FILE_NAME, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(file, 2)
        os.close(file)
        return self

    def __exit__(self, *exception):
        size = os.fstat(2).st_size
        head = os.pread(2, HEAD, 0) if size else b""
        os.dup2(self._stderr, 2)
        os.close(self._stderr)
        os.unlink(FILE_NAME)
        self.text = head.decode("utf-8", "replace")
        if head:
            os.write(2, head)
        if size > len(head):
            os.write(2, b"\n[kernelfleet: %d more bytes of compiler output "
                     b"were dropped]\n" % (size - len(head)))
