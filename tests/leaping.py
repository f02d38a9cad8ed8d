"""An event loop that does not wait: where only timers are left, the time of the next one has come.

Timers keep their order, and `loop.time()` says what they waited for. So what a test says about
seconds holds on any machine, and takes none. What threads do takes its real time; a test with
sockets must not leap, since the loop cannot tell whether something is under way in them.
"""

import asyncio
from collections.abc import Callable
from typing import Any


class Leaping:
    """Makes one loop leap."""

    def __init__(self, loop: Any) -> None:
        self._loop = loop
        self._select: Callable[[float | None], list[Any]] = loop._selector.select
        self._time: Callable[[], float] = loop.time
        self._run_in_executor = loop.run_in_executor
        self._leapt = 0.0
        self._in_threads: set[asyncio.Future[Any]] = set()
        loop.time = self.time
        loop.run_in_executor = self.run_in_executor
        loop._selector.select = self.select

    def time(self) -> float:
        return self._time() + self._leapt

    def select(self, timeout: float | None = None) -> list[Any]:
        found = self._select(0)
        if found or timeout == 0:
            return found
        if timeout is None or self._in_threads:
            return self._select(timeout)
        self._leapt += timeout
        return []

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:
        started: asyncio.Future[Any] = self._run_in_executor(executor, func, *args)
        self._in_threads.add(started)
        started.add_done_callback(self._in_threads.discard)
        return started


class ShortSleeps:
    """`asyncio` for a module whose sleeps are pauses that no other limit depends on."""

    def __init__(self, part: float) -> None:
        """They take `part` of what they would."""
        self._part = part

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds * self._part)
