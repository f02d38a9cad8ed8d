"""Runs the gateway's command line, and says what is in its memory when it is asked.

    python observed.py serve --port 8700

For each line of standard input, it writes one line of JSON to the file `OBSERVED_FILE`: the tasks,
the open files, the threads, the number of objects by type, who holds its memory, and, with
`OBSERVED_TRACE=1`, the largest allocations by the line of code that made them.
"""

import asyncio
import ctypes
import gc
import json
import os
import sys
import threading
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar, Final

from gateway.__main__ import main

_TYPES: Final = 400
_LINES: Final = 60
_FRAMES: Final = 6


class _Heap(ctypes.Structure):
    """`struct mallinfo2` of glibc."""

    _fields_: ClassVar = [
        (name, ctypes.c_size_t)
        for name in (
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keepcost",
        )
    ]


def observe() -> None:
    """Answer each line of the input until it ends."""
    for _ in sys.stdin:
        with Path(os.environ["OBSERVED_FILE"]).open("a", encoding="utf-8") as file:
            file.write(json.dumps(_found()) + "\n")


def _found() -> dict[str, Any]:
    # Otherwise objects that only the collector frees would be counted by chance.
    gc.collect()
    # `asyncio.all_tasks` would need the loop of another thread.
    tasks = list(asyncio.tasks._all_tasks)  # type: ignore[attr-defined]  # noqa: SLF001
    found = {
        "tasks": sum(not task.done() for task in tasks),
        "open_files": len(list(Path("/proc/self/fd").iterdir())),
        "threads": threading.active_count(),
        "objects": _objects(),
        "held": _held(),
    }
    if tracemalloc.is_tracing():
        found["allocated"] = _allocated()
    return found


def _held() -> dict[str, int]:
    """Bytes by who holds them: the parts of the resident memory, and of the C library's heap."""
    lines = Path("/proc/self/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    found = {
        name: int(fields[name].split()[0]) * 1024 for name in ("RssAnon", "RssFile", "RssShmem")
    }
    found["Python, blocks"] = sys.getallocatedblocks()
    heap = ctypes.CDLL(None)
    if hasattr(heap, "mallinfo2"):
        heap.mallinfo2.restype = _Heap
        info = heap.mallinfo2()
        found |= {"heap, used": info.uordblks, "heap, free": info.fordblks}
        found |= {"heap, mapped": info.hblkhd}
    return found


def _objects() -> dict[str, int]:
    objects = gc.get_objects()
    count = Counter(f"{type(each).__module__}.{type(each).__qualname__}" for each in objects)
    return {"all": len(objects), **dict(count.most_common(_TYPES))}


def _allocated() -> dict[str, int]:
    """Bytes by the frames that allocated them."""
    snapshot = tracemalloc.take_snapshot()
    found: Counter[str] = Counter()
    for each in snapshot.statistics("traceback"):
        frames = [f"{frame.filename[-40:]}:{frame.lineno}" for frame in each.traceback]
        found[" < ".join(reversed(frames[-_FRAMES:]))] += each.size
    return dict(found.most_common(_LINES * 50))


if __name__ == "__main__":
    if os.environ.get("OBSERVED_TRACE"):
        tracemalloc.start(_FRAMES)
    threading.Thread(target=observe, daemon=True).start()
    sys.argv[0] = "gateway"
    main()
