"""Stores how far a job is, so that its owner can see it from every process."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

from gateway.contract.context import ReportProgress
from gateway.errors import StoreError
from gateway.store.protocols import TaskStore
from gateway.store.records import Claim

_log: Final = logging.getLogger(__name__)
PAUSE_SECONDS: Final = 1.0
"""The time between two writes for one job."""


class JobReports:
    """The reports of one call. Between two writes only the newest one is kept."""

    def __init__(
        self,
        tasks: TaskStore,
        pass_on: ReportProgress | None = None,
        on_stored: Callable[[], None] = lambda: None,
        pause_seconds: float = PAUSE_SECONDS,
    ) -> None:
        """`pass_on` gets each report too."""
        self._tasks = tasks
        self._pass_on = pass_on
        self._on_stored = on_stored
        self._pause_seconds = pause_seconds
        self._latest = self._stored = 0.0
        self._message = ""
        self._has_changed = asyncio.Event()
        self._is_over = asyncio.Event()

    def report(self, done: float, message: str, total: float | None = None, /) -> None:
        """See `ReportProgress`. The total is not stored."""
        if self._pass_on is not None:
            self._pass_on(done, message, total)
        if done > self._latest:
            self._latest, self._message = done, message
            self._has_changed.set()

    @asynccontextmanager
    async def stored_for(self, claim: Claim) -> AsyncIterator[None]:
        """Store the reports with the job of `claim`, also earlier ones, until the block ends."""
        writer = asyncio.create_task(self._write_all(claim), name="job-progress")
        try:
            yield
        finally:
            # The writer is not cancelled: it may be inside of a transaction.
            self._is_over.set()
            self._has_changed.set()
            await writer

    async def _write_all(self, claim: Claim) -> None:
        while not self._is_over.is_set():
            await self._has_changed.wait()
            self._has_changed.clear()
            if self._latest > self._stored:
                await self._write(claim)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._pause_seconds):
                    await self._is_over.wait()

    async def _write(self, claim: Claim) -> None:
        self._stored = self._latest
        try:
            await self._tasks.report(claim, self._latest, self._message)
        except StoreError as error:
            _log.warning("the progress of a job was not stored: %s", type(error).__name__)
            return
        self._on_stored()
