"""The places of those who watch jobs, and what notifies them."""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from gateway.errors import LimitExceeded, Stopping, StoreError
from gateway.store.protocols import TaskStore
from gateway.store.records import StoredTask, TaskMark

_log: Final = logging.getLogger(__name__)
LOOK_SECONDS: Final = 1.0
"""How often the watched jobs are looked up, because other processes may change them."""
PAUSE_SECONDS: Final = 0.2
"""The least time between two looks, however often jobs change here."""
QUIET_SECONDS: Final = 15.0
"""How long a watch says nothing."""
MAX_WATCHES: Final = 500
"""The most watches of one process."""
MAX_WATCHES_OF_ONE: Final = 250
"""The most watches of one caller."""


class Watch:
    """The place of one who watches a job."""

    def __init__(self, task: StoredTask) -> None:
        self.task: StoredTask | None = task
        """The job as it was at the last look. None: it does not exist any more."""
        self.mark: TaskMark | None = task.mark
        self.is_over = False
        """Whether the process stops."""
        self._woken = asyncio.Event()

    def show(self, task: StoredTask | None) -> None:
        """The job has changed."""
        self.task, self.mark = task, None if task is None else task.mark
        self._woken.set()

    def end(self) -> None:
        """The process stops."""
        self.is_over = True
        self._woken.set()

    async def wait(self) -> None:
        """Return when the job has changed, when the process stops, or after `QUIET_SECONDS`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(QUIET_SECONDS):
                await self._woken.wait()
        self._woken.clear()


class JobWatches:
    """The watches of this process. They end when it stops.

    One request looks all watched jobs up, and one more each job that has changed: the number of
    the watches costs the store nothing.
    """

    def __init__(self, tasks: TaskStore) -> None:
        self._tasks = tasks
        self._taken: Counter[str] = Counter()
        """Places by caller."""
        self._watched: dict[str, set[Watch]] = {}
        self._is_closed = False
        self._woken = asyncio.Event()
        self._looker: asyncio.Task[None] | None = None

    @contextmanager
    def seat(self, subject: str) -> Iterator[None]:
        """Hold a place of this caller. Raises `LimitExceeded` when none is free, and `Stopping`."""
        if self._is_closed:
            raise Stopping
        if self._taken[subject] >= MAX_WATCHES_OF_ONE:
            raise LimitExceeded(f"You watch {MAX_WATCHES_OF_ONE} jobs; end a watch.")
        if self._taken.total() >= MAX_WATCHES:
            raise LimitExceeded(f"More than {MAX_WATCHES} jobs are watched; try again.")
        self._taken[subject] += 1
        try:
            yield
        finally:
            self._taken[subject] -= 1
            self._taken = +self._taken

    @contextmanager
    def watch(self, task: StoredTask) -> Iterator[Watch]:
        """Look the job up until the block ends. `task` is what is known of it."""
        watch = Watch(task)
        if self._is_closed:
            watch.end()
        self._watched.setdefault(task.job.id, set()).add(watch)
        if self._looker is None or self._looker.done():
            self._looker = asyncio.create_task(self._look(), name="watched-jobs")
        try:
            yield watch
        finally:
            left = self._watched[task.job.id]
            left.remove(watch)
            if not left:
                del self._watched[task.job.id]
            if not self._watched:
                self.wake()

    def wake(self) -> None:
        """Look now: a job may have changed."""
        self._woken.set()

    def close(self) -> None:
        """End all watches."""
        self._is_closed = True
        for watches in self._watched.values():
            for each in watches:
                each.end()

    async def _look(self) -> None:
        """Look until no job is watched."""
        while self._watched:
            self._woken.clear()
            try:
                await self._look_once()
            except StoreError as error:
                _log.warning("the watched jobs were not looked up: %s", type(error).__name__)
            await self._pause()

    async def _look_once(self) -> None:
        marks = await self._tasks.marks([*self._watched])
        for job_id, watches in [*self._watched.items()]:
            mark = marks.get(job_id)
            if any(each.mark != mark for each in watches):
                task = await self._tasks.find(job_id)
                for each in watches:
                    each.show(task)

    async def _pause(self) -> None:
        ends = asyncio.get_running_loop().time() + PAUSE_SECONDS
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS):
                await self._woken.wait()
        if self._watched:
            await asyncio.sleep(ends - asyncio.get_running_loop().time())
