"""An event loop of its own time and its own order, both of which follow from a seed.

What is ready runs in any order, not in that in which it became ready: no code may rely on more than
what it waits for. Time stands still while something is ready, and then moves to the next timer. So
an hour takes no time, and the same seed gives the same run.
"""

import asyncio
import heapq
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from math import ceil
from random import Random
from typing import Any

_LATE = 0.7
"""The largest part of what is ready that waits until something else has run."""
_GRID = 64
"""Moments in a second."""
START = datetime(2026, 11, 20, 14, 30, tzinfo=UTC)


class Stuck(Exception):
    """Nothing is ready and no timer is left, or far too much time has passed."""


class _Task(asyncio.Task[Any]):
    """Sets of tasks have the same order in each run: not that of addresses."""

    def __init__(self, number: int, *arguments: Any, **options: Any) -> None:
        self._number = number
        super().__init__(*arguments, **options)

    def __hash__(self) -> int:
        return self._number


class SimulatedLoop(asyncio.SelectorEventLoop):
    """See above. Functions for other threads run in this one, after a moment."""

    def __init__(self, random: Random, end_seconds: float = 24 * 3600.0) -> None:
        super().__init__()
        self._random = random
        self._seconds = 0.0
        self._end = end_seconds
        self.steps = 0
        self.problems: list[str] = []
        """What asyncio reports: exceptions that nobody read, tasks that were destroyed."""
        self.set_exception_handler(self._note)
        tasks = count()
        self.set_task_factory(
            lambda loop, work, **options: _Task(next(tasks), work, loop=loop, **options)
        )

    def time(self) -> float:
        return self._seconds

    def call_at(self, when: float, *arguments: Any, **options: Any) -> asyncio.TimerHandle:
        """Timers end on a grid, so that they often end together with others."""
        return super().call_at(ceil(when * _GRID) / _GRID, *arguments, **options)

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:
        ended: asyncio.Future[Any] = self.create_future()

        def run() -> None:
            if ended.cancelled():
                return
            try:
                ended.set_result(func(*args))
            except BaseException as error:  # noqa: BLE001 - it is the caller's, as in a thread
                ended.set_exception(error)

        self.call_later(self._random.uniform(0.0, 0.01), run)
        return ended

    def _run_once(self) -> None:
        timers, ready = self._scheduled, self._ready  # type: ignore[attr-defined]  # asyncio's own
        while timers and timers[0]._cancelled:
            self._drop(heapq.heappop(timers))
        if not ready:
            self._pass_time(timers)
        while timers and timers[0]._when <= self._seconds:
            timer = heapq.heappop(timers)
            timer._scheduled = False
            ready.append(timer)
        self.steps += 1
        batch = list(ready)
        ready.clear()
        self._random.shuffle(batch)
        now = ceil(len(batch) * (1 - _LATE * self._random.random()))
        ready.extend(batch[now:])
        for handle in batch[:now]:
            if not handle._cancelled:
                handle._run()

    def _pass_time(self, timers: list[Any]) -> None:
        if self._stopping:  # type: ignore[attr-defined]  # asyncio's own
            return
        if not timers:
            raise Stuck("nothing can happen any more")
        self._seconds = max(self._seconds, timers[0]._when)
        if self._seconds > self._end:
            raise Stuck(f"it has not ended after {self._seconds:.0f} s")

    def _drop(self, timer: Any) -> None:
        timer._scheduled = False
        self._timer_cancelled_count -= 1  # type: ignore[attr-defined]  # asyncio's own

    def _note(self, _loop: Any, context: dict[str, Any]) -> None:
        task = context.get("task") or context.get("future")
        of = task.get_coro().__qualname__ if isinstance(task, asyncio.Task) else ""
        self.problems.append(f"{context['message']}: {context.get('exception')!r} {of}")


class LoopClock:
    """The clock of a gateway on this loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def now(self) -> datetime:
        return START + timedelta(seconds=self._loop.time())

    def monotonic(self) -> float:
        return self._loop.time()
