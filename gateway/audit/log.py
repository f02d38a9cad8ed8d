"""From a call to its audit record."""

import asyncio
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Final, Protocol

from msgspec import Struct

from gateway.audit.redaction import cut, printable, redact
from gateway.audit.writebehind import Pace, WriteBehind
from gateway.catalogue import Entry
from gateway.clock import Clock
from gateway.contract.operation import Effect
from gateway.errors import GatewayError, InternalError, LimitExceeded, NotRecorded
from gateway.ids import uuid7
from gateway.store.base import AuditRecord, AuditStore

OK: Final = "ok"
CANCELLED: Final = "CANCELLED"
CLIENT_CLOSED_REQUEST: Final = 499
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


class Act(Struct, frozen=True, kw_only=True):
    """What an operator does to the gateway itself."""

    request_id: str
    operation: str
    """`operator.<thing>.<verb>`."""
    caller: AuditedCaller
    arguments: Mapping[str, Any]
    """Ids and choices; never a secret."""


class AuditLog:
    """Leaves exactly one record of every call that it opens."""

    def __init__(
        self, store: AuditStore, clock: Clock, classify: Classify, pace: Pace | None = None
    ) -> None:
        self._behind = WriteBehind(store, pace or Pace())
        self._clock = clock
        self._classify = classify

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
        return OpenRecord(call, self._clock, self._behind, self._classify)

    async def act(self, act: Act) -> None:
        """Record, durably and before it is done, what an operator does.

        Raises `NotRecorded`: then it must not be done.
        """
        at = self._clock.now()
        record = AuditRecord(
            id=uuid7(at),
            at=at,
            request_id=act.request_id,
            transport="operator",
            operation=act.operation,
            subject=act.caller.subject,
            agent=act.caller.agent,
            outcome=OK,
            stage=None,
            status=200,
            backend=None,
            duration_ms=0.0,
            arguments=cut(dict(act.arguments)),
        )
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await self._behind.stored(self._behind.put(record))
        except TimeoutError:
            raise NotRecorded("It could not be recorded, so it was not done.") from None

    async def flush(self) -> None:
        """Return when every record left so far is durable."""
        await self._behind.flush()

    async def close(self) -> None:
        """Write what is left."""
        await self._behind.close()


class OpenRecord:
    """What is known of one call so far: the pipeline fills it in, step by step."""

    __slots__ = (
        "_at",
        "_behind",
        "_call",
        "_classify",
        "_clock",
        "_started",
        "arguments",
        "backend",
        "entry",
        "principal",
    )

    def __init__(
        self, call: AuditedCall, clock: Clock, behind: WriteBehind, classify: Classify
    ) -> None:
        self._call = call
        self._clock = clock
        self._behind = behind
        self._classify = classify
        self._at = clock.now()
        self._started = clock.monotonic()
        self.principal: AuditedCaller | None = None
        self.entry: Entry | None = None
        self.arguments: AuditedArguments | None = None
        self.backend: str | None = None

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
        ticket = self._behind.put(self._record(error))
        if _must_be_durable(self.entry, self.arguments) and (
            error is None or isinstance(error, Exception)
        ):
            await self._durable(ticket, error)

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
            id=uuid7(self._at),
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
        )

    def _outcome(self, error: BaseException | None) -> tuple[int, str, str | None]:
        match error:
            case None:
                return 200, OK, None
            case GatewayError():
                return *self._classify(error), error.stage
            case Exception():
                return *self._classify(InternalError()), InternalError.stage
            case _:
                return CLIENT_CLOSED_REQUEST, CANCELLED, None

    def _arguments(self) -> dict[str, Any] | None:
        if self.arguments is None or self.entry is None:
            return None
        sensitive = self.entry.operation.sensitive
        values = self.arguments.values
        return cut(redact(values, sensitive) if sensitive else values)


def _must_be_durable(entry: Entry | None, arguments: AuditedArguments | None) -> bool:
    """Whether the call was, or was to be, more than a read: arguments may make it one."""
    effect = arguments.effect if arguments else entry.operation.effect if entry else Effect.READ
    return effect is not Effect.READ
