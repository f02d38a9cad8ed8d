"""Calls with an idempotency key: at most once, and the same answer to each repetition."""

import asyncio
import hashlib
import logging
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, cast
from uuid import UUID, uuid5

import msgspec
from msgspec import Struct
from msgspec.json import Decoder
from msgspec.structs import replace

from gateway.audit.log import NotBegun
from gateway.auth.principal import Permit
from gateway.calls.call import Arguments, BackendName, Commitment, Result
from gateway.contract.values import jsontext
from gateway.contract.values.files import FileContent
from gateway.errors import (
    CallerError,
    GatewayError,
    MalformedRequest,
    NotRecorded,
    StateConflict,
    StoreError,
)
from gateway.failpoints import hit
from gateway.observability.repeats import ERROR
from gateway.store.protocols import KeyedCalls
from gateway.store.records import CallEnding, KeyedCall, KnownCall

# The errors of calls with an idempotency key.


class CallUnderWay(StateConflict):
    """A call with this idempotency key is still running: try again later."""

    is_retryable = True

    def __init__(self, *, retry_after_seconds: float = 1.0) -> None:
        super().__init__()
        self.retry_after_seconds = retry_after_seconds


class KeyReused(CallerError):
    """This idempotency key was used for another call: use a new key for each call."""

    stage = "validate"


class OutcomeUnknown(StateConflict):
    """The first call with this idempotency key was cut off: check whether it had its effect."""


class AnsweredBefore(GatewayError):
    """The first call with this idempotency key failed."""

    def __init__(self, problem: bytes) -> None:
        super().__init__()
        self.problem = problem
        """The problem that its caller got, as JSON text."""


# Idempotency keys, by draft-ietf-httpapi-idempotency-key-header-07.

MAX_LENGTH: Final = 255
_STRING: Final = re.compile(r'"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"')
"""A string of RFC 9651 §3.3.3, which the draft asks for."""
_BARE: Final = re.compile(r"[\x21\x23-\x7e]+")
"""The key as most clients send it, without quotes."""
_ESCAPED: Final = re.compile(r'\\(["\\])')
_NAMESPACE: Final = UUID("b0f3b7a2-6b39-5f6c-9a0e-3f1c0a3f8d11")
_encode: Final = msgspec.json.Encoder(order="deterministic").encode


def read_key(text: str) -> str:
    """The key that `text` writes, with or without quotes. Raises `MalformedRequest`."""
    quoted = _STRING.fullmatch(text)
    key = _ESCAPED.sub(r"\1", quoted[1]) if quoted else text
    if not key or len(key) > MAX_LENGTH or not (quoted or _BARE.fullmatch(key)):
        raise MalformedRequest(
            f"An idempotency key has 1 to {MAX_LENGTH} visible ASCII characters, such as a UUID."
        )
    return key


def fingerprint(operation: str, arguments: Mapping[str, Any]) -> str:
    """A digest of the call. The order of members and white space make no difference."""
    return hashlib.sha256(_encode([operation, arguments])).hexdigest()


def call_id(subject: str, operation: str, key: str) -> str:
    """The id of a keyed call for upstreams. It is the same in each repetition, and is no secret."""
    return str(uuid5(_NAMESPACE, _encode([subject, operation, key]).decode()))


# The text of a result that is kept, with the marks that its answer has beside it.


class ResultMarks(Struct, frozen=True, omit_defaults=True):
    """What the answer says beside the result."""

    mocked: tuple[str, ...] = ()
    """See `Result.mocked`."""
    left_out: tuple[str, ...] = ()
    """See `Result.left_out`."""


_NONE = ResultMarks()
_marks_of = Decoder(ResultMarks).decode


def kept_text(result: Result) -> bytes:
    """The JSON text of the result. If the result has marks, they are a second line."""
    marks = ResultMarks(result.mocked, result.left_out)
    # JSON as the gateway writes it has no line breaks.
    return result.text if marks == _NONE else b"%b\n%b" % (result.text, jsontext.encode(marks))


def read_kept(text: bytes) -> tuple[bytes, ResultMarks]:
    """The JSON text of a result, and its marks."""
    result, _, marks = text.partition(b"\n")
    return result, _marks_of(marks) if marks else _NONE


# Runs a call with an idempotency key at most once, and repeats its answer.

LEASE_SECONDS: Final = 30.0
"""How long a call counts as running after its process has ended."""
_EXTEND_SECONDS: Final = 10.0
_SOON_SECONDS: Final = 1.0
_MOST_LATE: Final = 64
_LATE_BYTES: Final = 2**17
_log: Final = logging.getLogger(__name__)


class CallLeases:
    """The calls that run here. One statement extends all leases, and only if calls last so long."""

    def __init__(
        self,
        calls: KeyedCalls,
        lease_seconds: float = LEASE_SECONDS,
        extend_seconds: float = _EXTEND_SECONDS,
    ) -> None:
        self._calls = calls
        self.lease_seconds = lease_seconds
        self._extend_seconds = extend_seconds
        self._running: set[str] = set()
        self._late: dict[str, CallEnding] = {}
        """Endings that the store did not take. They are stored when it answers again."""
        self._abandoned: dict[str, float] = {}
        """Calls that were not made and may be stored, with the ends of their leases."""
        self._next: asyncio.TimerHandle | None = None
        self._extending: asyncio.Task[None] | None = None

    @contextmanager
    def held(self, call_id: str) -> Iterator[None]:
        """Keep the lease of a call, which has just begun, until the block ends."""
        self._running.add(call_id)
        if self._next is None:
            self._plan()
        try:
            yield
        finally:
            self._running.discard(call_id)

    def end_late(self, call_id: str, ending: CallEnding) -> None:
        """Store the ending of a call when the store answers again.

        Only some, and small ones. For a repetition, a call with another ending was cut off.
        """
        size = len(ending.body) + len(ending.file or b"")
        if len(self._late) < _MOST_LATE and size <= _LATE_BYTES:
            self._late[call_id] = ending
            if self._next is None:
                self._plan()

    def abandon(self, call_id: str) -> None:
        """Remove a call that changed nothing when the store answers again.

        The store may keep the call although it failed, even later: a commit can take longer than
        the wait for it. So it is asked until the lease has ended. Only some calls are removed.
        The others count as cut off.
        """
        if len(self._abandoned) < _MOST_LATE:
            now = asyncio.get_running_loop().time()
            self._abandoned[call_id] = now + self.lease_seconds
            soon = min(_SOON_SECONDS, self._extend_seconds)
            if self._next is None or self._next.when() > now + soon:
                if self._next is not None:
                    self._next.cancel()
                self._plan(soon)

    async def close(self) -> None:
        """End what is planned: the store is about to be closed. Other processes see leases end."""
        self._running.clear()
        self._late.clear()
        self._abandoned.clear()
        if self._next is not None:
            self._next.cancel()
        if self._extending is not None:
            await asyncio.wait([self._extending])

    def _plan(self, seconds: float | None = None) -> None:
        loop = asyncio.get_running_loop()
        self._next = loop.call_later(seconds or self._extend_seconds, self._begin)

    def _begin(self) -> None:
        self._next = None
        if self._running or self._late or self._abandoned:
            # One at a time: if the store is slow, a lease of before must not replace a later one.
            if self._extending is None or self._extending.done():
                self._extending = asyncio.create_task(self._extend())
            self._plan()

    async def _extend(self) -> None:
        try:
            if ids := [*self._running, *self._late]:
                await self._calls.extend(ids, self.lease_seconds)
            for call_id, ending in [*self._late.items()]:
                await self._calls.end(call_id, ending)
                self._late.pop(call_id, None)
            await self._remove_abandoned()
        except StoreError as error:
            # A repetition cannot look at the lease meanwhile, because the store does not answer.
            name = type(error).__name__
            _log.warning("leases of calls are not extended: %s", error.detail, extra={ERROR: name})

    async def _remove_abandoned(self) -> None:
        now = asyncio.get_running_loop().time()
        for call_id, until in [*self._abandoned.items()]:
            await self._calls.release(call_id)
            if now >= until:
                self._abandoned.pop(call_id, None)


MAX_KEPT_BYTES: Final = 2**20
"""The largest answer that is kept."""

Describe = Callable[[GatewayError], bytes]
"""Returns the problem that callers get for an error, as JSON text."""
Run = Callable[[], Awaitable[Result]]


class Repeatable(Struct, frozen=True):
    """A call with an idempotency key."""

    id: str
    """The id of its audit record."""
    key: str
    permit: Permit
    arguments: Arguments
    commitment: Commitment | None = None
    """What the transport asks before it cancels the call. None: it does not ask."""

    @property
    def digest(self) -> str:
        """See `KeyedCall.fingerprint`."""
        return fingerprint(self.permit.entry.id, self.arguments.given)


class Once:
    """Stores each call with a key before it runs, and its answer before the caller gets it."""

    def __init__(
        self, calls: KeyedCalls, describe: Describe, leases: CallLeases | None = None
    ) -> None:
        self._calls = calls
        self._leases = leases or CallLeases(calls)
        self._describe = describe

    async def close(self) -> None:
        """End the work in the background. Calls have ended before."""
        await self._leases.close()

    async def answer(self, call: Repeatable, run: Run) -> Result:
        """The answer of `run`, or that of the first call with this key.

        Raises what `run` raises, or the same problem as the first call. Raises `KeyReused` if the
        first call was another one, `CallUnderWay` while it runs, and `OutcomeUnknown` if it was cut
        off. Raises `NotBegun` if the call cannot be stored: then it is not made.
        """
        digest = call.digest
        if call.commitment is not None:
            call.commitment.hold_key(call.id, digest)
        known = await self._begin(call, digest)
        if known is not None:
            return repeated(known, digest)
        with self._leases.held(call.id):
            return await self._first(call.id, run)

    async def _first(self, call_id: str, run: Run) -> Result:
        try:
            result = await run()
        except GatewayError as error:
            await self._failed(call_id, error)
            raise
        except BaseException:
            await self._cut_off(call_id)
            raise
        hit("call.made")
        await self._end(call_id, ending_of(result))
        return result

    async def _begin(self, call: Repeatable, digest: str) -> KnownCall | None:
        grant = call.permit.grant
        new = KeyedCall(
            id=call.id,
            subject=grant.principal.subject,
            key=call.key,
            operation=grant.entry.id,
            fingerprint=digest,
            lease_seconds=self._leases.lease_seconds,
        )
        try:
            return await self._calls.begin(new)
        except StoreError as error:
            self._leases.abandon(call.id)
            raise NotBegun from error
        except BaseException:
            self._leases.abandon(call.id)
            raise

    async def _failed(self, call_id: str, error: GatewayError) -> None:
        if error.is_retryable or error.frees_key:
            # It changed nothing: the caller may try again with the same key.
            await self._release(call_id)
        else:
            ending = CallEnding(outcome="problem", body=self._describe(error))
            await self._settle(self._calls.end(call_id, ending))

    async def _release(self, call_id: str) -> None:
        try:
            await self._calls.release(call_id)
        except StoreError:
            self._leases.abandon(call_id)

    async def _cut_off(self, call_id: str) -> None:
        # This may be a cancellation: another one must not stop the write.
        await asyncio.shield(self._settle(self._calls.end(call_id, CallEnding(outcome="unknown"))))

    async def _settle(self, settling: Awaitable[None]) -> None:
        try:
            await settling
        except StoreError:
            # The caller gets the error of the call. For a repetition, the call was cut off.
            return

    async def _end(self, call_id: str, ending: CallEnding) -> None:
        try:
            await self._calls.end(call_id, ending)
        except StoreError as error:
            self._leases.end_late(call_id, ending)
            raise NotRecorded from error


def ending_of(result: Result) -> CallEnding:
    """The ending of a call with this result."""
    file, text = result.file, kept_text(result)
    if len(text) + (0 if file is None else len(file.data)) > MAX_KEPT_BYTES:
        return CallEnding(outcome="too_large", backend=result.backend)
    return CallEnding(
        outcome="result",
        body=text,
        file=None if file is None else file.data,
        media_type=None if file is None else file.media_type,
        backend=result.backend,
    )


def repeated(known: KnownCall, digest: str) -> Result:
    """The answer to a repetition of `known` by a call with this fingerprint.

    For a call that became a job, it only names the job. Raises as `Once.answer` does.
    """
    if known.fingerprint != digest:
        raise KeyReused
    if known.job_id is not None:
        return Result({}, b"{}", "python", is_repeated=True, job_id=known.job_id)
    ending = known.ending
    if ending is None and known.left_seconds > 0:
        raise CallUnderWay(retry_after_seconds=known.left_seconds)
    if ending is None:
        raise OutcomeUnknown
    return result_of(ending)


def result_of(ending: CallEnding) -> Result:
    """The result of a call that ended so. Raises `AnsweredBefore` and `OutcomeUnknown`."""
    if ending.outcome == "problem":
        raise AnsweredBefore(ending.body)
    if ending.outcome == "too_large":
        raise OutcomeUnknown("The call was made. Its result was too large to be kept.")
    if ending.outcome != "result":
        raise OutcomeUnknown
    file = None
    if ending.file is not None and ending.media_type is not None:
        file = FileContent(media_type=ending.media_type, data=ending.file)
    backend = cast("BackendName", ending.backend)
    text, marks = read_kept(ending.body)
    kept = Result(jsontext.decode(text), text, backend, file=file, is_repeated=True)
    return replace(kept, mocked=marks.mocked, left_out=marks.left_out)
