"""A bounded queue of audit records, written in batches behind the calls that left them."""

import asyncio
import logging
from collections import deque
from contextlib import suppress
from itertools import islice
from typing import Final

from msgspec import Struct

from gateway.errors import StoreError
from gateway.store.base import AuditRecord, AuditStore

_log: Final = logging.getLogger(__name__)
_RETRY_SECONDS: Final = 0.5
_CLOSE_SECONDS: Final = 5.0


class Pace(Struct, frozen=True, kw_only=True):
    """How records are gathered into transactions."""

    flush_seconds: float = 0.05
    batch_records: int = 250
    queue_records: int = 5000


class WriteBehind:
    """Accepts records at once; a record leaves the queue when the store holds it, not before."""

    def __init__(self, store: AuditStore, pace: Pace) -> None:
        self._store = store
        self._pace = pace
        self._queue: deque[AuditRecord] = deque()
        self._put = 0
        self._stored = 0
        self._writer: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()
        self._progress = asyncio.Event()
        self.failed = 0
        """Appends that the store refused; each was, or will be, tried again."""
        self.problem: str | None = None
        """Why records are not being stored now, or None."""

    @property
    def is_full(self) -> bool:
        return len(self._queue) >= self._pace.queue_records

    def put(self, record: AuditRecord) -> int:
        """Queue `record`; its ticket is for `stored`. Never waits: look at `is_full` before."""
        self._queue.append(record)
        self._put += 1
        if len(self._queue) >= self._pace.batch_records:
            self._hurry.set()
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write(), name="audit")
            self._writer.add_done_callback(_report)
        return self._put

    async def stored(self, ticket: int) -> None:
        """Return when the record with this ticket is durable. It is written without delay."""
        while self._stored < ticket:
            self._hurry.set()
            await self._progress.wait()

    async def room(self) -> None:
        """Return when the queue is not full."""
        while self.is_full:
            self._hurry.set()
            await self._progress.wait()

    async def flush(self) -> None:
        """Return when everything put so far is durable."""
        await self.stored(self._put)

    async def close(self) -> None:
        """Write what is left. What cannot be written in time is counted in the log."""
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self.flush()
        except TimeoutError:
            _log.critical("audit records lost: %d (%s)", len(self._queue), self.problem)
        if self._writer is not None:
            self._writer.cancel()
            await asyncio.gather(self._writer, return_exceptions=True)

    async def _write(self) -> None:
        """Until the queue is empty: gather, append, and try again what the store refused."""
        while self._queue:
            await self._gather()
            batch = list(islice(self._queue, self._pace.batch_records))
            try:
                await self._store.append(batch)
            except StoreError as error:
                self._refused(error)
            else:
                self._accepted(len(batch))

    async def _gather(self) -> None:
        if self.problem is not None:
            await asyncio.sleep(_RETRY_SECONDS)
        elif len(self._queue) < self._pace.batch_records:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._pace.flush_seconds):
                    await self._hurry.wait()
        self._hurry.clear()

    def _refused(self, error: StoreError) -> None:
        self.failed += 1
        self.problem = error.detail
        _log.error("audit records not stored yet: %d (%s)", len(self._queue), error.detail)

    def _accepted(self, count: int) -> None:
        for _ in range(count):
            self._queue.popleft()
        self._stored += count
        self.problem = None
        waiting, self._progress = self._progress, asyncio.Event()
        waiting.set()


def _report(writer: asyncio.Task[None]) -> None:
    """A writer that dies is a defect; the next record starts another."""
    if not writer.cancelled() and (error := writer.exception()) is not None:
        _log.critical("the audit's writer died", exc_info=error)
