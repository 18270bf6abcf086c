"""How the process keeps memory between runs. Not about what relations hold."""

from __future__ import annotations

import ctypes
import functools
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_LARGEST = (1 << 31) - 1
_NEVER = -1


@functools.cache
def keep_freed_memory() -> bool:
    """Let the C library reuse freed arrays instead of handing each back to the system; says whether it does.

    A plan makes and frees many arrays of some megabytes. Handed back and asked for again, every page of them costs a
    fault: more than the computation itself. The price is that the process keeps the memory of its largest run.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return bool(mallopt(_MMAP_THRESHOLD, _LARGEST)) and bool(mallopt(_TRIM_THRESHOLD, _NEVER))
