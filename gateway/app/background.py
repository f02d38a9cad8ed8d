"""Background tasks. A task that fails is restarted as long as the gateway serves."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final

_log: Final = logging.getLogger(__name__)
_REST_SECONDS: Final = 1.0

Task = Callable[[], Awaitable[None]]


@asynccontextmanager
async def kept_going(tasks: Mapping[str, Task]) -> AsyncIterator[None]:
    """Run `tasks`, given by name, until the block ends. Then cancel them."""
    running = [asyncio.create_task(keep(name, task), name=name) for name, task in tasks.items()]
    try:
        yield
    finally:
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def keep(name: str, task: Task) -> None:
    """Run `task` to its end. After a defect, wait a moment and start it again."""
    while True:
        try:
            await task()
        except Exception:  # noqa: BLE001 - whatever it is, the other tasks and the transports go on
            _log.exception("the task %s failed and is restarted", name)
            await asyncio.sleep(_REST_SECONDS)
        else:
            return
