"""Makes the audit record of each call, and one log line: never with an argument.

Limits the audit records of requests without a valid key. The other ones are only counted. Anyone
can send such requests at any rate. A record of each would let anyone fill the disk.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from gateway.audit.facts import (
    OPERATOR,
    AuditedArguments,
    AuditedCall,
    AuditedCaller,
    AuditedResult,
    NamesJob,
    ObserveCall,
    audited_text,
    cut,
    hidden_in,
    job_of,
    must_be_durable,
    observe_nothing,
    printable,
    redact,
    success_status,
)
from gateway.audit.writebehind import AuditBatcher, BatchConfig, OnStored
from gateway.bounds.rates import Bucket, Rate
from gateway.catalogue import Entry
from gateway.clock import Clock
from gateway.errors import (
    CallerError,
    ConfigurationError,
    GatewayError,
    InternalError,
    NotRecorded,
    StoreError,
)
from gateway.ids import uuid7
from gateway.observability.repeats import ROWS
from gateway.store.protocols import AuditStore, Store
from gateway.store.records import ACCEPTED, OK, PENDING, AuditRecord

LOGGER: Final = "gateway.calls"
_lines: Final = logging.getLogger(LOGGER)
_INTERNAL: Final = "INTERNAL_ERROR"
"""The outcome of a failure of the gateway itself."""
_FAILED: Final = 500
"""The lowest status of a failure that is no mistake of the caller."""
_FIELDS: Final = (
    "request_id",
    "transport",
    "operation",
    "subject",
    "agent",
    "outcome",
    "status",
    "backend",
    "duration_ms",
)
_OPTIONAL: Final = ("trace_id", "job_id")
DEFAULT_RATE: Final = Rate(1, 100)
"""A hundred records at once, then one per second."""
_log: Final = logging.getLogger(__name__)
CANCELLED: Final = "CANCELLED"
UNRECORDED: Final = "denials_not_recorded"
"""The member of a denied request's record with the number of unrecorded requests before it."""
CLIENT_CLOSED_REQUEST: Final = 499
WAIT_SECONDS: Final = 5.0
"""How long a call waits for space in the queue, and a write until its record is durable."""
Classify = Callable[[GatewayError], tuple[int, str]]
"""Returns the HTTP status and the problem code of an error. They are the same on all transports."""
PENDING_SECONDS: Final = 900.0
"""After this time, the process of a pending record has ended. No call may take so long."""
_EVERY_SECONDS: Final = 60.0
_BATCH: Final = 500
_SHOWN: Final = 5


def log_calls(records: Sequence[AuditRecord]) -> None:
    """Write a line for each of `records` that is complete, at the level of its outcome.

    The records are stored already, so a call does not wait for its line.
    """
    rows: dict[int, list[dict[str, Any]]] = {}
    for record in records:
        level = _level(record)
        if record.outcome != PENDING and _lines.isEnabledFor(level):
            rows.setdefault(level, []).append(_row(record))
    for level, each in rows.items():
        # One log record for many lines: making and writing one costs ten times its text.
        _lines.log(level, "call", extra={ROWS: each})


def _level(record: AuditRecord) -> int:
    """How much the outcome concerns the operator. The mistakes of callers do not."""
    if record.status < _FAILED:
        return logging.INFO
    return logging.ERROR if record.outcome == _INTERNAL else logging.WARNING


def _row(record: AuditRecord) -> dict[str, Any]:
    row = {**{name: getattr(record, name) for name in _FIELDS}, "audit_id": record.id}
    others = {name: getattr(record, name) for name in _OPTIONAL}
    return row | {name: value for name, value in others.items() if value is not None}


def log_nothing(records: Sequence[AuditRecord]) -> None:
    """Write no line."""


class Denials:
    """Decides which denied requests are recorded, and counts all of them."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._bucket = Bucket(DEFAULT_RATE, 0.0)
        self.total = 0
        """Denied requests since the start."""
        self.unrecorded = 0
        """Denied requests without a record since the last one with a record."""

    def choose(self) -> int | None:
        """Count one request. Returns how many before it were not recorded, or None if it is not to
        be recorded either."""
        self.total += 1
        if self._bucket.take(self._clock.monotonic()):
            self.unrecorded += 1
            return None
        unrecorded, self.unrecorded = self.unrecorded, 0
        return unrecorded


class NotBegun(GatewayError):
    """The call could not be recorded, so it was not made: try again."""

    stage = "record"
    is_retryable = True
    retry_after_seconds = 5.0


class AuditLog:
    """Writes exactly one record of each call that it opens, with two exceptions.

    Unauthenticated requests beyond a rate are counted; the next record of such a request has the
    count. Successful polls that a program repeats within a minute (`is_repeated`) get no record.
    """

    def __init__(
        self,
        store: AuditStore,
        clock: Clock,
        classify: Classify,
        config: BatchConfig | None = None,
        *,
        on_stored: OnStored = log_nothing,
        observe: ObserveCall = observe_nothing,
    ) -> None:
        self._observe = observe
        self._batcher = AuditBatcher(store, config or BatchConfig(), on_stored)
        self._clock = clock
        self._classify = classify
        self._denials = Denials(clock)

    @property
    def waiting(self) -> int:
        """Records that are not stored yet."""
        return self._batcher.waiting

    @property
    def denied(self) -> int:
        """Unauthenticated requests since the start. Only some of them are recorded."""
        return self._denials.total

    @property
    def failed(self) -> int:
        """Failed writes to the store since the start. Each is tried again."""
        return self._batcher.failed

    @property
    def problem(self) -> str | None:
        """Why records cannot be stored now, or None."""
        return self._batcher.problem

    def open(
        self, call: AuditedCall, job_id: str | None = None, commitment: NamesJob | None = None
    ) -> "OpenRecord":
        """The record of `call`, a context manager. The pipeline fills it in while the call runs.

        Raises `NotBegun` on entry if the queue of records stays full. Raises `NotRecorded` on exit
        if a write has run and its record is not durable yet; the gateway keeps the record, and
        tries again to store it.
        """
        parts = self._clock, self._batcher, self._classify, self._denials, self._observe
        record = OpenRecord(call, *parts)
        record.job_id, record.commitment = job_id, commitment
        return record

    async def flush(self) -> None:
        """Return when all records so far are durable."""
        await self._batcher.flush()

    async def close(self) -> None:
        """Write all waiting records."""
        if self._denials.unrecorded:
            _log.warning("denied requests without a record: %d", self._denials.unrecorded)
        await self._batcher.close()


class OpenRecord:
    """The facts of one call so far. Each step of the pipeline adds some."""

    __slots__ = (
        "_at",
        "_batcher",
        "_call",
        "_classify",
        "_clock",
        "_denials",
        "_id",
        "_observe",
        "_pending",
        "_started",
        "arguments",
        "backend",
        "commitment",
        "entry",
        "facts",
        "is_repeated",
        "job_id",
        "principal",
        "result",
    )

    def __init__(
        self,
        call: AuditedCall,
        clock: Clock,
        batcher: AuditBatcher,
        classify: Classify,
        denials: Denials,
        observe: ObserveCall,
    ) -> None:
        self._call = call
        self._observe = observe
        self._denials = denials
        self._clock = clock
        self._batcher = batcher
        self._classify = classify
        self._at = clock.now()
        self._id = uuid7(self._at)
        self._started = clock.monotonic()
        self._pending: AuditRecord | None = None
        self.principal: AuditedCaller | None = None
        self.entry: Entry | None = None
        self.arguments: AuditedArguments | None = None
        self.backend: str | None = None
        self.result: AuditedResult | None = None
        self.facts: Mapping[str, Any] = {}
        """The details of an operator's request, such as ids. They take the place of arguments."""
        self.commitment: NamesJob | None = None
        self.job_id: str | None = None
        self.is_repeated = False
        """Whether an equal request was recorded within the last minute."""

    @property
    def id(self) -> str:
        """The id of the record."""
        return self._id

    @property
    def agent(self) -> str:
        """The agent of the caller. Empty before the caller is authenticated."""
        return self.principal.agent if self.principal else ""

    async def begin(self) -> None:
        """Store a pending record before the action. The record of the outcome replaces it.

        Raises `NotBegun` if it cannot be stored. In that case, the action must not be done.
        """
        known = self._record(None)
        self._pending = replace(known, outcome=PENDING, status=ACCEPTED, duration_ms=0.0)
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await self._batcher.stored(self._batcher.put(self._pending))
        except TimeoutError:
            raise NotBegun from None

    async def __aenter__(self) -> "OpenRecord":
        if self._batcher.is_full:
            await self._wait_for_space()
        return self

    async def __aexit__(self, _: object, error: BaseException | None, trace: object) -> None:
        if self.is_repeated and error is None:
            return
        if self._is_denied(error) and not self._choose_denial():
            return
        record = self._record(error)
        if record.transport != OPERATOR:
            operation = self.entry.id if self.entry else None
            self._observe(operation, record.outcome, record.duration_ms / 1000)
        if isinstance(error, NotBegun):
            # The store has had its time. The record waits for it in the queue.
            self._batcher.put_instead(self._pending, record)
            return
        ticket = self._batcher.put(record)
        is_write = self._pending is not None or must_be_durable(self.entry, self.arguments)
        if is_write and (error is None or isinstance(error, Exception)):
            await self._durable(ticket, error)

    def _is_denied(self, error: BaseException | None) -> bool:
        """Whether the call failed before its caller was authenticated, so that anyone can cause it.

        Also true for a client that disconnects before the refusal.
        """
        return self.principal is None and error is not None

    def _choose_denial(self) -> bool:
        """Count the denial. Returns whether to record it."""
        unrecorded = self._denials.choose()
        if unrecorded:
            self.facts = {**self.facts, UNRECORDED: unrecorded}
        return unrecorded is not None

    async def _wait_for_space(self) -> None:
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await self._batcher.wait_for_space()
        except TimeoutError:
            raise NotBegun from None

    async def _durable(self, ticket: int, error: BaseException | None) -> None:
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await self._batcher.stored(ticket)
        except TimeoutError:
            if error is None:
                raise NotRecorded from None

    def _record(self, error: BaseException | None) -> AuditRecord:
        status, outcome, stage = self._outcome(error)
        entry, principal = self.entry, self.principal
        return AuditRecord(
            id=self._id,
            at=self._at,
            request_id=self._call.request_id,
            transport=self._call.transport,
            operation=entry.id if entry else printable(self._call.operation_id),
            subject=principal.subject if principal else None,
            agent=principal.agent if principal else None,
            outcome=outcome,
            stage=stage,
            status=status,
            backend=self.backend,
            duration_ms=round((self._clock.monotonic() - self._started) * 1000, 3),
            arguments=self._arguments(),
            hidden_characters=hidden_in(self.result, error),
            job_id=job_of(self, self.result, self.commitment),
            detail=audited_text(error, entry, self.arguments, self.result),
        )

    def _outcome(self, error: BaseException | None) -> tuple[int, str, str | None]:
        match error:
            case None:
                return success_status(self.result), OK, None
            case ConfigurationError():
                # From the command line: the requested action is not possible.
                return *self._classify(CallerError()), CallerError.stage
            case GatewayError():
                return *self._classify(error), error.stage
            case Exception():
                return *self._classify(InternalError()), InternalError.stage
            case _:
                return CLIENT_CLOSED_REQUEST, CANCELLED, None

    def _arguments(self) -> dict[str, Any] | None:
        if self.arguments is None or self.entry is None:
            return cut(dict(self.facts)) if self.facts else None
        values, sensitive = self.arguments.given, self.entry.operation.sensitive
        return cut(redact(values, sensitive) if sensitive else values)


class CutOffCalls:
    """Finds calls that began and did not end, and says of each that its outcome is unknown."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def work(self) -> None:
        """Settle them every minute, until cancelled."""
        while True:
            try:
                await self.settle()
            except StoreError as error:
                _log.error("calls that were cut off cannot be settled (%s)", error.detail)
            await asyncio.sleep(_EVERY_SECONDS)

    async def settle(self, *, is_only_process: bool = False) -> int:
        """Settle the calls of processes that have ended. Returns how many. Raises `StoreError`.

        If `is_only_process`, nobody runs any of the calls: each is settled now.
        """
        await self._store.keyed_calls.cut_off(is_only_process=is_only_process)
        pending_seconds = 0.0 if is_only_process else PENDING_SECONDS
        total = 0
        while settled := await self._store.audit.cut_off(pending_seconds, _BATCH):
            total += len(settled)
            _log.warning(
                "%d calls were cut off by the end of their process, and may have had their effect:"
                " see `gateway audit list --outcome CUT_OFF` (%s, …)",
                len(settled),
                ", ".join(settled[:_SHOWN]),
            )
        return total
