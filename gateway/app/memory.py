"""Lets the memory of what has ended go back to the system, where its C library is glibc."""

import ctypes
import gc
from typing import Final

_LIBRARY: Final = ctypes.CDLL(None)
_ARENA_MAX: Final = -8
"""`M_ARENA_MAX` of mallopt(3)."""
_MMAP_THRESHOLD: Final = -3
"""`M_MMAP_THRESHOLD`."""
_LARGE_BYTES: Final = 128 * 1024
"""The C library's first threshold. It raises it, up to 32 MiB, when a larger block is freed."""


def keep_memory_small() -> None:
    """Let memory that is freed go back to the system. Call it before there are threads.

    All threads allocate from one arena. A generation is opened partly in a thread. With an arena
    for each thread, its memory is in several, and none of them is empty when the generation has
    ended. Large blocks are always mapped by themselves. In the arena, a large reply leaves a gap,
    which small blocks take, and the next one makes the arena larger.
    """
    if hasattr(_LIBRARY, "mallopt"):
        _LIBRARY.mallopt(_ARENA_MAX, 1)
        _LIBRARY.mallopt(_MMAP_THRESHOLD, _LARGE_BYTES)


def settle() -> None:
    """Collect what is no longer used, and exclude the rest from further collections.

    What is served lives long. A full collection that visits it stops all calls for 50 ms or more.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    if hasattr(_LIBRARY, "malloc_trim"):
        # The next generation was allocated above the one that has ended, so without this the pages
        # of the old one stay: 12 MB for this repository's catalogue.
        _LIBRARY.malloc_trim(0)
