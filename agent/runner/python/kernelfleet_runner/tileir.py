"""All that is known here of nvtriton, Triton's CUDA Tile IR backend.

It registers itself as the backend `tileir`, is chosen by ENABLE_TILE=1 before
the first import of Triton, and compiles for GPUTarget("tileir", 100, 32)
through `tileiras`. It is on no package index.
"""

import os

BACKEND = "tileir"
WARP_SIZE = 32


def missing(backends):
    """Why `tileir:` targets cannot be compiled here; "" if they can."""
    if BACKEND not in backends:
        return "this Triton has no tileir backend; it comes with nvtriton"
    if os.environ.get("ENABLE_TILE") != "1":
        return ("nvtriton is installed but off: set ENABLE_TILE=1 in the "
                "environment before Triton is imported")
    return ""
