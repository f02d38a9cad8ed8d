"""Work in threads, beside the event loop, which serves all callers."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")


async def in_thread(work: Callable[[], _T]) -> _T:
    """`work()`, done in a thread. A caller that is cancelled is so when the work has ended.

    So nothing that `work` opens or changes comes to be after its caller has closed all.
    """
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise
