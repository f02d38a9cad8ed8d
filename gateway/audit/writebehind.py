"""A bounded queue of audit records. They are written in groups after the calls."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gateway.errors import StoreError
from gateway.observability.defects import log_defect
from gateway.store.grouping import GroupWriter
from gateway.store.protocols import AuditStore, StoreRefused
from gateway.store.records import OF_JOBS, AuditRecord

_log: Final = logging.getLogger(__name__)
_RETRY_SECONDS: Final = 0.5
_CLOSE_SECONDS: Final = 5.0
UNSTORABLE: Final = "<refused by the database>"
"""Takes the place of a value that the database refused."""


OnStored = Callable[[Sequence[AuditRecord]], None]
"""Called with records that have become durable."""


class BatchConfig(Struct, frozen=True, kw_only=True):
    """How records are grouped into transactions."""

    flush_seconds: float = 0.05
    batch_records: int = 250
    queue_records: int = 5000


class AuditBatcher:
    """A `Sink` that queues records without waiting. Each stays in the queue until it is stored."""

    def __init__(self, store: AuditStore, config: BatchConfig, on_stored: OnStored) -> None:
        self._store = store
        self._config = config
        self._on_stored = on_stored
        self._records: GroupWriter[AuditRecord] = GroupWriter(self, "audit", self._gather)
        self._put = 0
        self._writer: asyncio.Task[None] | None = None
        self._is_urgent = asyncio.Event()
        self._progress = asyncio.Event()
        self.failed = 0
        """Failed writes to the store. Each is tried again."""
        self.problem: str | None = None
        """Why records cannot be stored now, or None."""

    @property
    def is_full(self) -> bool:
        return len(self._records.held) >= self._config.queue_records

    @property
    def waiting(self) -> int:
        """Records that are not stored yet."""
        return len(self._records.held)

    def put(self, record: AuditRecord) -> int:
        """Queue `record`. Returns a ticket for `stored`.

        Never waits, even if the queue is full: check `is_full` first.
        """
        begun = self._records.add(record)
        self._put += 1
        if len(self._records.held) >= self._config.batch_records:
            self._is_urgent.set()
        if begun is not None:
            self._writer = begun
            begun.add_done_callback(_report)
        return self._put

    def put_instead(self, old: AuditRecord | None, record: AuditRecord) -> None:
        """Queue `record` in the place of `old`, if that waits and is not being written."""
        if old is None or not self._records.replace(old, record):
            self.put(record)

    async def stored(self, ticket: int) -> None:
        """Write without delay. Return when the record with this ticket is durable."""
        while self._put - len(self._records.held) < ticket:
            self._is_urgent.set()
            await self._progress.wait()

    async def wait_for_space(self) -> None:
        """Return when the queue is not full."""
        while self.is_full:
            self._is_urgent.set()
            await self._progress.wait()

    async def flush(self) -> None:
        """Return when all records so far are durable."""
        await self.stored(self._put)

    async def close(self) -> None:
        """Write all waiting records. Log how many could not be written in time."""
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self.flush()
        except TimeoutError:
            _log.critical("audit records lost: %d (%s)", len(self._records.held), self.problem)
        await self._records.close(0)

    def group_size(self, waiting: Sequence[AuditRecord]) -> int:
        return min(len(waiting), self._config.batch_records)

    async def commit(self, group: Sequence[AuditRecord]) -> None:
        await self._store.append(group)

    def committed(self, group: Sequence[AuditRecord]) -> None:
        self.problem = None
        waiting, self._progress = self._progress, asyncio.Event()
        waiting.set()
        self._on_stored(group)

    async def refused(self, entry: AuditRecord, error: Exception) -> None:
        """See `Sink`. Parts of the record are left out, so that it does not block other records."""
        if not isinstance(error, StoreRefused):
            raise error
        missing = await self._append_reduced(entry)
        _log.error("an audit record is stored without its %s: %s", missing, error.detail)
        self.committed([entry])

    def unavailable(self, group: Sequence[AuditRecord], error: StoreError) -> bool:  # noqa: ARG002 - all of them wait
        """See `Sink`. The records wait until the store accepts them."""
        self.failed += 1
        self.problem = error.detail
        _log.error("audit records not stored yet: %d (%s)", len(self._records.held), error.detail)
        return True

    async def _append_reduced(self, record: AuditRecord) -> str:
        """Append `record` without its arguments, or else without any text from callers.

        Returns the names of the missing fields.
        """
        try:
            await self._store.append([replace(record, arguments=None)])
        except StoreRefused:
            await self._store.append([_bare(record)])
            return "arguments, operation, request id and job"
        return "arguments"

    async def _gather(self) -> None:
        if self.problem is not None:
            await asyncio.sleep(_RETRY_SECONDS)
        elif len(self._records.held) < self._config.batch_records:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._config.flush_seconds):
                    await self._is_urgent.wait()
        self._is_urgent.clear()


def _bare(record: AuditRecord) -> AuditRecord:
    """The record without text from callers: the caller, the time and the outcome remain."""
    # The id of a job that makes a call is the gateway's, and says that the call has begun.
    job_id = record.job_id if record.transport == OF_JOBS else None
    bare = replace(record, arguments=None, job_id=job_id)
    return replace(bare, request_id=UNSTORABLE, operation=UNSTORABLE)


def _report(writer: asyncio.Task[None]) -> None:
    """Log the error of a writer. It is a defect; the next record starts another writer."""
    if not writer.cancelled() and (error := writer.exception()) is not None:
        log_defect(_log, error, "the audit's writer died", level=logging.CRITICAL)
