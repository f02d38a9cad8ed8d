"""Gives one call access to its upstreams. A Python handler gets this with its arguments.

`Fetcher` reads without a call, for example the object that a webhook names.
"""

import asyncio
import logging
from collections.abc import (
    AsyncIterator,
    Collection,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
)
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from math import isfinite
from types import TracebackType
from typing import Any, Final, TypeAlias, TypeVar, get_args
from uuid import uuid4
from weakref import WeakValueDictionary

from msgspec import UNSET, Struct

from gateway.amounts import in_seconds
from gateway.calls.asking import NOBODY, CallQuestions
from gateway.calls.caching.answers import Failures, KeptAnswers, encode_key
from gateway.calls.changes import CallChanges
from gateway.calls.guard import NotSent
from gateway.calls.sending import FALLBACK, Sending, UpstreamConnection
from gateway.calls.validation import beside
from gateway.clock import Clock
from gateway.contract.context import (
    CallFacts,
    LogLevel,
    ReportProgress,
    UpstreamCall,
    UpstreamReply,
    WriteLog,
)
from gateway.contract.fields.conversion import rfc3339
from gateway.contract.operation import Attempts, Effect
from gateway.contract.policies.questions import (
    Answer,
    AskKind,
    Elicitation,
    Elicited,
    Question,
    Root,
    RootsQuestion,
    Sampled,
    Sampling,
)
from gateway.contract.rows.entity import EntityPages
from gateway.contract.rows.rows import Shape
from gateway.contract.rows.tables import Tables
from gateway.contract.upstream import PATH_PARAMETER, Reply, UpstreamOperation, UpstreamRequest
from gateway.contract.values.hidden import visible_text
from gateway.errors import InternalError, UpstreamError, UpstreamTimeout
from gateway.observability.repeats import ERROR

_Answer = TypeVar("_Answer", bound=Answer)


class AsksClient:
    """See the same methods of `CallContext`."""

    def __init__(self) -> None:
        self.questions = CallQuestions("the call", (), NOBODY, CallChanges())
        """What is asked. The dispatcher sets it for handlers that may ask."""

    def can_ask(self, kind: AskKind) -> bool:
        """See `CallContext.can_ask`."""
        return self.questions.can_ask(kind)

    async def ask(
        self, message: str, schema: Mapping[str, Any], *, key: str | None = None
    ) -> Elicited:
        """See `CallContext.ask`."""
        return await self._one(key, Elicitation(message, schema), Elicited)

    async def sample(
        self,
        messages: str | Sequence[Mapping[str, Any]],
        *,
        max_tokens: int,
        system_prompt: str | None = None,
        key: str | None = None,
    ) -> Sampled:
        """See `CallContext.sample`."""
        if isinstance(messages, str):
            messages = [{"role": "user", "content": {"type": "text", "text": messages}}]
        question = Sampling(messages=messages, max_tokens=max_tokens, system_prompt=system_prompt)
        return await self._one(key, question, Sampled)

    async def roots(self, *, key: str | None = None) -> tuple[Root, ...]:
        """See `CallContext.roots`."""
        return await self._one(key, RootsQuestion(), tuple)

    async def ask_all(self, questions: Mapping[str, Question]) -> dict[str, Answer]:
        """See `CallContext.ask_all`."""
        return await self.questions.ask_all(questions)

    async def _one(self, key: str | None, question: Question, form: type[_Answer]) -> _Answer:
        named = key or self.questions.next_key(question)
        answer = (await self.questions.ask_all({named: question}))[named]
        if not isinstance(answer, form):
            raise TypeError("an answer of another kind")
        return answer


_log: Final = logging.getLogger(__name__)
MAX_PROGRESS_TEXT: Final = 200
"""The most characters of what a handler says about its progress."""
MAX_LOG_TEXT: Final = 500
"""The most characters of one message of a handler to the client."""
_LEVELS: Final[frozenset[str]] = frozenset(get_args(LogLevel))


Locks: TypeAlias = MutableMapping[str, asyncio.Lock]


class SharedState:
    """State that all calls of one process share."""

    def __init__(self, clock: Clock, locks: Locks | None = None) -> None:
        self.locks: Locks = WeakValueDictionary() if locks is None else locks
        """Locks by the key they guard. A lock that no call holds or waits for is dropped."""
        self.replies: KeptAnswers[Reply] = KeptAnswers(clock, lambda reply: len(reply.body))
        """Replies of operations whose contract sets `x-cache-seconds`."""
        self.failures = Failures(clock)
        """Failures of operations whose contract sets `x-failure-seconds`."""


class _NotWorthKeeping(Exception):
    """A reply that is not a success. Each call decides for itself whether it expected the reply."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


class CallUpstreams(AsksClient):
    """The `CallContext` of one call."""

    def __init__(
        self,
        call: CallFacts,
        connections: Mapping[str, UpstreamConnection],
        sending: Sending,
        shared: SharedState,
        entities: EntityPages,
        *,
        is_shared: bool = True,
    ) -> None:
        """`is_shared`: other calls may wait for the requests of this one and get their failures.

        It is false when the caller lowered a limit.
        """
        super().__init__()
        self._call = call
        self._connections = connections
        self._sending = sending
        self._shared = shared
        self._entities = entities
        self._is_shared = is_shared
        self.report: ReportProgress | None = None
        """Shows how far the call is. None: nobody asks."""
        self.write_log: WriteLog | None = None
        """Passes messages on to the client. None: it asks for none."""

    @property
    def call(self) -> CallFacts:
        return self._call

    async def send(self, call: UpstreamCall, *, expect: Collection[int] = ()) -> UpstreamReply:
        """See `CallContext.send`."""
        self.questions.require_open()
        connection = self._connection(call.upstream)
        operation = connection.operation(call.operation)
        request = UpstreamRequest(
            operation=operation.id,
            method=operation.method,
            path=tuple(_segments(operation.path, call.path)),
            query=tuple(_pairs(call.query)),
            headers=tuple(call.headers.items()),
            body=call.body,
            is_key_ours=call.is_key_ours,
        )
        with self._remembered(connection, operation, request):
            async with TimeLimit(call.timeout_seconds):
                reply = await self._kept(operation, connection, request, call.timeout_seconds)
                admit = connection.reader.admit
                found = await beside(len(reply.body), admit, operation.id, reply, expect)
                self.left_out(found.left_out)
                return found

    @contextmanager
    def _remembered(
        self, connection: UpstreamConnection, operation: UpstreamOperation, request: UpstreamRequest
    ) -> Iterator[None]:
        """Raise the remembered failure of this request; else remember the failure of the block."""
        seconds = operation.failure_seconds
        # A call with lower limits may fail because of them, so its failure is not shared.
        if not seconds or not self._is_shared:
            yield
            return
        failures, key = self._shared.failures, _key(connection, request)
        failures.check(key, seconds)
        try:
            yield
        except NotSent:
            raise  # it lasts only until the upstream gets requests again
        except UpstreamError as error:
            failures.remember(key, seconds, error)
            raise
        failures.forget(key)

    async def _kept(
        self,
        operation: UpstreamOperation,
        connection: UpstreamConnection,
        request: UpstreamRequest,
        timeout_seconds: float | None,
    ) -> Reply:
        if not (operation.cache_seconds and operation.method == "GET"):
            return await self._sending.send(connection, request, timeout_seconds=timeout_seconds)
        try:
            return await self._shared.replies.get(
                _key(connection, request),
                operation.cache_seconds,
                lambda: self._worth_keeping(connection, request, timeout_seconds),
                is_shared=self._is_shared,
            )
        except _NotWorthKeeping as error:
            return error.reply

    async def _worth_keeping(
        self,
        connection: UpstreamConnection,
        request: UpstreamRequest,
        timeout_seconds: float | None,
    ) -> Reply:
        """A reply that is a success and valid by the contract. Raises for every other reply."""
        reply = await self._sending.send(connection, request, timeout_seconds=timeout_seconds)
        if not 200 <= reply.status < 300:
            raise _NotWorthKeeping(reply)
        admit = connection.reader.admit
        await beside(len(reply.body), admit, request.operation, reply, ())
        return reply

    def progress(self, done: float, message: str = "", total: float | None = None) -> None:
        """See `CallContext.progress`."""
        for number in (done, 0.0 if total is None else total):
            if not (isfinite(number) and number >= 0):
                raise ValueError(f"progress must be a finite number from 0 on, not {number}")
        if self.report is not None:
            self.report(done, visible_text(message[:MAX_PROGRESS_TEXT])[0], total)

    def log(self, level: LogLevel, text: str) -> None:
        """See `CallContext.log`."""
        if level not in _LEVELS:
            raise ValueError(f"a level is one of {', '.join(get_args(LogLevel))}")
        if self.write_log is not None:
            self.write_log(level, visible_text(text[:MAX_LOG_TEXT])[0])

    def left_out(self, rows: Sequence[str]) -> None:
        """See `CallContext.left_out`."""
        self._sending.left_out += rows

    def fell_back(self, upstream: str, error: Exception) -> None:
        """See `CallContext.fell_back`."""
        connection = self._connection(upstream)
        connection.observe(FALLBACK, 0.0)
        what = f"{upstream} failed, and a fallback was used: {error}"
        self._sending.fallbacks.append(what)
        _log.warning(what, extra={ERROR: type(error).__name__})

    def setting(self, upstream: str, name: str) -> str:
        """See `CallContext.setting`."""
        return self._connection(upstream).settings[name]

    def shape(self, upstream: str, table: str) -> Shape:
        """See `CallContext.shape`."""
        return self._connection(upstream).shapes[table]

    def workspace(self, upstream: str) -> Tables | None:
        """See `CallContext.workspace`."""
        return self._connection(upstream).tables

    @property
    def entities(self) -> EntityPages:
        """See `CallContext.entities`."""
        return self._entities

    def exclusive(self, key: str) -> AbstractAsyncContextManager[None]:
        """See `CallContext.exclusive`."""
        return _holding(self._shared.locks.setdefault(key, asyncio.Lock()))

    def _connection(self, upstream: str) -> UpstreamConnection:
        if upstream not in self._connections:
            raise InternalError(f"the binding does not name the upstream {upstream!r}")
        return self._connections[upstream]


class TimeLimit:
    """`async with TimeLimit(seconds)` raises `UpstreamTimeout` when the block takes longer.

    None is no limit. This is a class because every call enters one, and a context manager that is
    made from a generator costs more.
    """

    __slots__ = ("_limit", "_seconds")

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._limit = asyncio.timeout(seconds)

    async def __aenter__(self) -> None:
        await self._limit.__aenter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            await self._limit.__aexit__(kind, error, trace)
        except TimeoutError:
            raise self._failure() from None
        # A handler's own TimeoutError is a defect of the handler, unless this time is up as well.
        if isinstance(error, TimeoutError) and self._limit.expired():
            raise self._failure() from None

    def _failure(self) -> UpstreamTimeout:
        return UpstreamTimeout(f"No answer in {in_seconds(self._seconds or 0.0)}.")


def _key(connection: UpstreamConnection, request: UpstreamRequest) -> bytes:
    """What the handler asks: two requests that differ in anything have different keys."""
    body = [] if request.body is UNSET else [request.body]
    asked = request.operation, request.path, request.query, request.headers, body
    return encode_key([connection.upstream.name, *asked])


@asynccontextmanager
async def _holding(lock: asyncio.Lock) -> AsyncIterator[None]:
    """Hold the lock, and keep a reference to it so that other calls find the same lock."""
    async with lock:
        yield


def _segments(template: str, values: Mapping[str, str]) -> Iterator[str]:
    for part in template.split("/")[1:] if template != "/" else ():
        yield PATH_PARAMETER.sub(lambda found: values[found[1]], part)


def _pairs(query: Mapping[str, str | Sequence[str]]) -> Iterator[tuple[str, str]]:
    for name, value in query.items():
        for text in [value] if isinstance(value, str) else value:
            yield name, text


# Reads from an upstream without a caller.


class FetchBudget(Struct, frozen=True, kw_only=True):
    """How often a request is tried, and for how long."""

    attempts: Attempts
    timeout_seconds: float


USUAL: Final = FetchBudget(
    attempts=Attempts(max=2, backoff_seconds=(0.5,), timeout_seconds=10.0), timeout_seconds=20.0
)
"""For one fetch. A job that fails because of its fetch is tried again by the job's own rules."""


class Fetcher:
    """Reads from upstreams over the connections of calls: the same tokens, the same contract."""

    def __init__(
        self,
        connections: Mapping[str, UpstreamConnection],
        clock: Clock,
        entities: EntityPages,
    ) -> None:
        self._connections = connections
        self._entities = entities
        self._clock = clock

    async def __call__(
        self,
        upstream: str,
        operation: str,
        path: Mapping[str, str],
        query: Mapping[str, str | Sequence[str]],
    ) -> Any:
        """The body of the reply, valid by the upstream's contract. Raises `UpstreamError`."""
        facts = CallFacts(id=uuid4().hex, now=rfc3339(self._clock.now()))
        sending = Sending(self._clock, USUAL, Effect.READ, asyncio.sleep)
        connections = {upstream: self._connections[upstream]}
        # Not the shared caches: the message says that the object has changed since it was read.
        fresh = SharedState(self._clock)
        context = CallUpstreams(facts, connections, sending, fresh, self._entities)
        try:
            async with asyncio.timeout(USUAL.timeout_seconds):
                asked = UpstreamCall(upstream, operation, path=path, query=query)
                return (await context.send(asked)).body
        except TimeoutError:
            raise UpstreamTimeout(f"No answer in {in_seconds(USUAL.timeout_seconds)}.") from None
