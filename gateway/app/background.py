"""Background tasks. A task that fails is restarted as long as the gateway serves."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final

from gateway.observability.defects import log_defect

_log: Final = logging.getLogger(__name__)
_PAUSE_SECONDS: Final = 1.0

Task = Callable[[], Awaitable[None]]


@asynccontextmanager
async def running(tasks: Mapping[str, Task]) -> AsyncIterator[None]:
    """Run `tasks`, given by name, until the block ends. Then cancel them."""
    started = [
        asyncio.create_task(run_to_end(name, task), name=name) for name, task in tasks.items()
    ]
    try:
        yield
    finally:
        for each in started:
            each.cancel()
        await asyncio.gather(*started, return_exceptions=True)


async def run_to_end(name: str, task: Task) -> None:
    """Run `task` until it returns. If it raises (a defect), start it again after a pause."""
    while True:
        try:
            await task()
        except Exception as error:  # noqa: BLE001 - the other tasks and the transports go on
            log_defect(_log, error, "the task %s failed and is restarted", name)
            await asyncio.sleep(_PAUSE_SECONDS)
        else:
            return
