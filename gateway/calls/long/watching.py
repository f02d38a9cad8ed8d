"""The places of those who watch jobs."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from gateway.errors import LimitExceeded, Stopping

LOOK_SECONDS: Final = 0.5
"""How often a watched job is looked up, because another process may run it."""
QUIET_SECONDS: Final = 15.0
"""How long a watch says nothing."""
MAX_WATCHES: Final = 500
"""The most watches of one process. Each looks its job up all the time."""


class JobWatches:
    """The watches of this process. They end when it stops."""

    def __init__(self) -> None:
        self._count = 0
        self._closed = asyncio.Event()

    @contextmanager
    def seat(self) -> Iterator[None]:
        """Hold a place. Raises `LimitExceeded` when none is free, and `Stopping`."""
        if self._closed.is_set():
            raise Stopping
        if self._count >= MAX_WATCHES:
            raise LimitExceeded(f"More than {MAX_WATCHES} jobs are watched; try again.")
        self._count += 1
        try:
            yield
        finally:
            self._count -= 1

    def close(self) -> None:
        """End all watches."""
        self._closed.set()

    async def is_closed_after(self, seconds: float) -> bool:
        """Wait so long. Returns at once with True when the process stops."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closed.wait()
        return self._closed.is_set()
