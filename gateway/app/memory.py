"""Lets the memory of what has ended go back to the system, where its C library is glibc."""

import asyncio
import ctypes
import gc
import sys
from collections import deque
from collections.abc import Callable
from itertools import compress
from typing import Final

_LIBRARY: Final = ctypes.CDLL(None)
_ARENA_MAX: Final = -8
"""`M_ARENA_MAX` of mallopt(3)."""
_MMAP_THRESHOLD: Final = -3
"""`M_MMAP_THRESHOLD`."""
_LET_GO_SECONDS: Final = 1.0
"""Until then, the event loop has let go of tasks that have ended."""
_APART_SECONDS: Final = 0.2
"""Between two parts, so that what waits is done."""
_OBJECTS_AT_ONCE: Final = 1024
"""So many are looked at in a pass of the event loop, in about a millisecond."""
_FREED_AT_ONCE: Final = 64
_untrack: Final = ctypes.pythonapi.PyObject_GC_UnTrack
_untrack.argtypes, _untrack.restype = [ctypes.py_object], None
_track: Final = ctypes.pythonapi.PyObject_GC_Track
_track.argtypes, _track.restype = [ctypes.py_object], None
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


class Settling:
    """Frees what has ended, one part after the other, beside the calls.

    A collection stops all calls while it visits and frees objects. Those that are not used are
    looked for in small steps, and made the youngest. Then only the youngest are collected.
    """

    def __init__(self, living: Callable[[], object]) -> None:
        """`living` returns what is used: what it refers to is left alone."""
        self._living = living
        self._ended: list[tuple[object, ...]] = []
        self._task: asyncio.Task[None] | None = None

    def plan(self, *parts: object) -> None:
        """Free `parts` soon, one after the other. Each may refer to those that come after it."""
        self._ended.append(parts)
        if self._task is None:
            self._task = asyncio.create_task(self._settle(), name="settle")

    async def close(self) -> None:
        """Stop: the process ends."""
        task = self._task
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    async def _settle(self) -> None:
        try:
            while self._ended:
                await asyncio.sleep(_LET_GO_SECONDS)
                if len(self._ended) > 1:
                    # They come faster than one is looked for, and would fill the memory.
                    self._ended.clear()
                    gc.collect()
                    give_back()
                    continue
                parts = deque(self._ended.pop())
                for objects in await self._unused([*parts]):
                    parts.popleft()
                    await _free(objects)
                    await asyncio.sleep(_APART_SECONDS)
        finally:
            self._task = None

    async def _unused(self, parts: list[object]) -> list[list[object]]:
        """What is not used: for each of `parts`, what no later one refers to.

        Not in a thread: what others drop meanwhile is freed here, and uvloop's handles may be freed
        in the thread of their loop only.
        """
        rest = gc.get_objects()
        unseen: set[int] = set()
        for first in range(0, len(rest), _OBJECTS_AT_ONCE):
            unseen.update(map(id, rest[first : first + _OBJECTS_AT_ONCE]))
            await asyncio.sleep(0)
        used = [self._living(), *sys.modules.values(), *asyncio.all_tasks()]
        await _reached(used, unseen)
        found = [await _reached([part], unseen) for part in reversed(parts[1:])]
        first_part: list[object] = []
        while rest:
            some = _taken(rest, _OBJECTS_AT_ONCE)
            first_part += compress(some, map(unseen.__contains__, map(id, some)))
            await asyncio.sleep(0)
        return [first_part, *reversed(found)]


async def _reached(roots: list[object], unseen: set[int]) -> list[object]:
    """What `roots` refer to, of the objects with the ids `unseen`. They are seen then."""
    found: list[object] = []
    next_ones = roots[:]
    while next_ones:
        for each in gc.get_referents(*_taken(next_ones, _OBJECTS_AT_ONCE)):
            if id(each) in unseen:
                unseen.remove(id(each))
                next_ones.append(each)
                found.append(each)
        await asyncio.sleep(0)
    return found


async def _free(objects: list[object]) -> None:
    """Free those of `objects` that nothing else refers to."""
    gc.collect(0)
    gc.disable()
    try:
        while objects:
            some = _taken(objects, _FREED_AT_ONCE)
            # In one step of the interpreter, since another thread may track an object as well.
            deque(zip(map(_untrack, some), map(_track, some), strict=True), maxlen=0)
            del some
            await asyncio.sleep(0)
        gc.collect(0)
    finally:
        gc.enable()
    give_back()


def _taken(objects: list[object], most: int) -> list[object]:
    """At most so many of `objects`, which are not there any more."""
    taken = objects[-most:]
    del objects[-most:]
    return taken


def give_back() -> None:
    """Give memory that is free back to the system.

    The next generation was allocated above the one that has ended, so without this the pages of the
    old one stay: 12 MB for this repository's catalogue.
    """
    if hasattr(_LIBRARY, "malloc_trim"):
        _LIBRARY.malloc_trim(0)
