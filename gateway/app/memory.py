"""Lets the memory of what has ended go back to the system, where its C library is glibc."""

import asyncio
import ctypes
import gc
from typing import Final

_LIBRARY: Final = ctypes.CDLL(None)
_ARENA_MAX: Final = -8
"""`M_ARENA_MAX` of mallopt(3)."""
_MMAP_THRESHOLD: Final = -3
"""`M_MMAP_THRESHOLD`."""
_LET_GO_SECONDS: Final = 1.0
"""Until then, the event loop has let go of tasks that have ended."""
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


def exclude_imports() -> None:
    """Exclude what is in memory now from all collections. Call it when the code is loaded.

    The imports are most of what is in memory, and they stay: to visit them stops all calls for
    100 ms. Only what is in memory at the first call is excluded, so call it before contracts are
    opened. They end with a reload, and what is excluded would then not be collected.
    """
    if not gc.get_freeze_count():
        gc.freeze()


def settle() -> None:
    """Collect what is no longer used, except for what `exclude_imports` has excluded."""
    gc.collect()
    if hasattr(_LIBRARY, "malloc_trim"):
        # The next generation was allocated above the one that has ended, so without this the pages
        # of the old one stay: 12 MB for this repository's catalogue.
        _LIBRARY.malloc_trim(0)


class Settling:
    """Settles when generations have ended, and not more than once in a second.

    Each time stops all calls, and the next reload too. So a generation goes in two parts: with the
    first collection what was made of its catalogue, and with the second one the catalogue.
    """

    def __init__(self) -> None:
        self._is_planned = False
        self._kept: list[object] = []

    def plan(self, catalogue: object) -> None:
        """Settle in a second, and once more a second later, without `catalogue`."""
        self._kept.append(catalogue)
        self._plan()

    def _plan(self) -> None:
        if not self._is_planned:
            self._is_planned = True
            asyncio.get_running_loop().call_later(_LET_GO_SECONDS, self._settle)

    def _settle(self) -> None:
        settle()
        self._is_planned = False
        if self._kept:
            # By itself, since to free it takes a while too.
            asyncio.get_running_loop().call_soon(self._kept.clear)
            self._plan()
