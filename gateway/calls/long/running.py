"""The jobs that run in this process."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class RunningJobs:
    """Cancels jobs of this process at once. Other processes notice that their claim is lost."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        """`on_change` is called when a job begins, and when its progress was stored."""
        self.on_change = on_change
        self._tasks: dict[str, asyncio.Task[Any]] = {}

    @contextmanager
    def hold(self, job_id: str, work: asyncio.Task[Any] | None) -> Iterator[None]:
        """`work` runs the job until the block ends."""
        if work is not None:
            self._tasks[job_id] = work
        try:
            yield
        finally:
            self._tasks.pop(job_id, None)

    def cancel(self, job_id: str) -> None:
        """Cancel what runs the job, if that is here."""
        work = self._tasks.get(job_id)
        if work is not None:
            work.cancel()
