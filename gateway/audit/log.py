"""From a call to its audit record."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Final, Protocol

from msgspec.structs import replace

from gateway.audit.denials import Denials
from gateway.audit.lines import log_nothing
from gateway.audit.redaction import cut, printable, redact
from gateway.audit.writebehind import AuditBatcher, BatchConfig, OnStored
from gateway.catalogue import Entry
from gateway.clock import Clock
from gateway.contract.operation import Effect
from gateway.contract.values.hidden import visible_text
from gateway.errors import (
    CallerError,
    ConfigurationError,
    GatewayError,
    InternalError,
    LimitExceeded,
    NotRecorded,
)
from gateway.ids import uuid7
from gateway.store.audited import OK, PENDING
from gateway.store.protocols import AuditRecord, AuditStore

_log: Final = logging.getLogger(__name__)
CANCELLED: Final = "CANCELLED"
UNRECORDED: Final = "denials_not_recorded"
"""In the record of a denied request: how many before it left none."""
CLIENT_CLOSED_REQUEST: Final = 499
ACCEPTED: Final = 202
"""The status of a record that is pending: begun, and not known to have ended."""
WAIT_SECONDS: Final = 5.0
"""How long a call waits for room before it starts, and a write for its record to be durable."""

Classify = Callable[[GatewayError], tuple[int, str]]
"""The HTTP status and the problem code of an error, as every transport answers it."""


class AuditedCall(Protocol):
    """What is known of a call before anything is done for it."""

    @property
    def operation_id(self) -> str: ...
    @property
    def transport(self) -> str: ...
    @property
    def request_id(self) -> str: ...


class AuditedCaller(Protocol):
    """Who calls, once proven."""

    @property
    def subject(self) -> str: ...
    @property
    def agent(self) -> str: ...


class AuditedArguments(Protocol):
    """The arguments, once admitted."""

    @property
    def values(self) -> dict[str, Any]: ...
    @property
    def effect(self) -> Effect: ...


class AuditLog:
    """Leaves exactly one record of every call that it opens, but for two kinds that leave none.

    Requests whose sender was not proven, beyond a rate: the next one that is recorded says how many
    those were. And successful readings that a program repeats within a minute (`is_repeated`).
    """

    def __init__(
        self,
        store: AuditStore,
        clock: Clock,
        classify: Classify,
        config: BatchConfig | None = None,
        *,
        on_stored: OnStored = log_nothing,
    ) -> None:
        self._behind = AuditBatcher(store, config or BatchConfig(), on_stored)
        self._clock = clock
        self._classify = classify
        self._denials = Denials(clock)

    @property
    def denied(self) -> int:
        """Requests since the start whose sender was not proven; only some of them are recorded."""
        return self._denials.total

    @property
    def failed(self) -> int:
        """Appends that the store refused since the start; each is tried again."""
        return self._behind.failed

    @property
    def problem(self) -> str | None:
        """Why records are not being stored now, or None."""
        return self._behind.problem

    def open(self, call: AuditedCall) -> "OpenRecord":
        """The record of `call`, filled in while it runs and left when it ends.

        Raises `LimitExceeded` on entry when so many records wait to be stored that one more call
        cannot be recorded, and `NotRecorded` on exit when a write has run but its record is not
        durable yet; that record is kept and tried again.
        """
        return OpenRecord(call, self._clock, self._behind, self._classify, self._denials)

    async def flush(self) -> None:
        """Return when every record left so far is durable."""
        await self._behind.flush()

    async def close(self) -> None:
        """Write what is left."""
        if self._denials.unrecorded:
            _log.warning("denied requests without a record: %d", self._denials.unrecorded)
        await self._behind.close()


class OpenRecord:
    """What is known of one call so far: the pipeline fills it in, step by step."""

    __slots__ = (
        "_at",
        "_behind",
        "_call",
        "_classify",
        "_clock",
        "_denials",
        "_id",
        "_is_begun",
        "_started",
        "arguments",
        "backend",
        "entry",
        "facts",
        "hidden_characters",
        "is_repeated",
        "principal",
    )

    def __init__(
        self,
        call: AuditedCall,
        clock: Clock,
        behind: AuditBatcher,
        classify: Classify,
        denials: Denials,
    ) -> None:
        self._call = call
        self._denials = denials
        self._clock = clock
        self._behind = behind
        self._classify = classify
        self._at = clock.now()
        self._id = uuid7(self._at)
        self._started = clock.monotonic()
        self._is_begun = False
        self.principal: AuditedCaller | None = None
        self.entry: Entry | None = None
        self.arguments: AuditedArguments | None = None
        self.backend: str | None = None
        self.hidden_characters = 0
        self.facts: Mapping[str, Any] = {}
        """In place of arguments, what an operator's request is about: ids and choices."""
        self.is_repeated = False
        """Whether success would say no more than a record that was left a moment ago."""

    @property
    def agent(self) -> str:
        """Who acts, once proven; empty before."""
        return self.principal.agent if self.principal else ""

    async def begin(self) -> None:
        """Record durably, as pending, what is about to be done; its outcome replaces that.

        Raises `NotRecorded`: then it must not be done.
        """
        pending = replace(self._record(None), outcome=PENDING, status=ACCEPTED, duration_ms=0.0)
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await self._behind.stored(self._behind.put(pending))
        except TimeoutError:
            raise NotRecorded("It could not be recorded, so it was not done.") from None
        self._is_begun = True

    async def __aenter__(self) -> "OpenRecord":
        if self._behind.is_full:
            await self._room()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.is_repeated and error is None:
            return
        if self._is_denied(error) and not self._is_chosen():
            return
        ticket = self._behind.put(self._record(error))
        is_write = self._is_begun or _must_be_durable(self.entry, self.arguments)
        if is_write and (error is None or isinstance(error, Exception)):
            await self._durable(ticket, error)

    def _is_denied(self, error: BaseException | None) -> bool:
        """Whether nobody is known to have called: then anybody can ask for one record more.

        However it ended: an unauthenticated client may also leave before the refusal.
        """
        return self.principal is None and error is not None

    def _is_chosen(self) -> bool:
        unrecorded = self._denials.choose()
        if unrecorded:
            self.facts = {**self.facts, UNRECORDED: unrecorded}
        return unrecorded is not None

    async def _room(self) -> None:
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await self._behind.room()
        except TimeoutError:
            raise LimitExceeded("Calls cannot be recorded at the moment; try again.") from None

    async def _durable(self, ticket: int, error: BaseException | None) -> None:
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await self._behind.stored(ticket)
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
            hidden_characters=self.hidden_characters + _hidden_in(error),
        )

    def _outcome(self, error: BaseException | None) -> tuple[int, str, str | None]:
        match error:
            case None:
                return 200, OK, None
            case ConfigurationError():
                # Of the command line: what was asked for cannot be done.
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
        sensitive = self.entry.operation.sensitive
        values = self.arguments.values
        return cut(redact(values, sensitive) if sensitive else values)


def _must_be_durable(entry: Entry | None, arguments: AuditedArguments | None) -> bool:
    """Whether the call was, or was to be, more than a read: arguments may make it one."""
    effect = arguments.effect if arguments else entry.operation.effect if entry else Effect.READ
    return effect is not Effect.READ


def _hidden_in(error: BaseException | None) -> int:
    """How many hidden characters the caller was spared in what the error says."""
    return visible_text(error.detail)[1] if isinstance(error, GatewayError) else 0
