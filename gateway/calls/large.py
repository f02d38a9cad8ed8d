"""Does the work on large texts beside the event loop, which serves all callers."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Final, TypeVar

T = TypeVar("T")
LARGE_BYTES: Final = 256 * 1024
"""The work on a text of this size takes about 10 ms. To hand it over takes a tenth of one."""
# Python runs one thread at a time. With several, the event loop would wait for each in turn.
_BESIDE: Final = ThreadPoolExecutor(max_workers=1, thread_name_prefix="large")


async def beside(size: int, work: Callable[..., T], *args: object) -> T:
    """`work(*args)`, done in a thread if the text that it is about has many bytes: `size`.

    The work must be free of effects: it goes on if its caller is cancelled.
    """
    if size < LARGE_BYTES:
        return work(*args)
    run = partial(copy_context().run, work, *args)
    return await asyncio.get_running_loop().run_in_executor(_BESIDE, run)
