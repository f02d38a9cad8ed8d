"""Sends the requests of one call, and repeats them where the contract allows and it is safe."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from typing import Final, Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from gateway.backends.base import Backend, ReplyTooLarge
from gateway.calls.changes import CallChanges
from gateway.calls.guard import UNGUARDED, Guard, NotSent, Passage, Verdict
from gateway.calls.replies import ReplyReader
from gateway.clock import Clock
from gateway.contract.operation import Attempts, Effect
from gateway.contract.rows.rows import Shape
from gateway.contract.rows.tables import Tables
from gateway.contract.upstream import (
    Departure,
    Reply,
    Upstream,
    UpstreamOperation,
    UpstreamRequest,
)
from gateway.errors import (
    GatewayError,
    InternalError,
    InvalidReply,
    UpstreamRateLimited,
    UpstreamTimeout,
    UpstreamUnavailable,
)


class CallTrials:
    """The trials that requests of one call are, for upstreams that failed.

    A handler may send several requests at once. While the breaker is half-open, one of them is the
    trial. The others wait for it, so that the call can succeed.
    """

    def __init__(self) -> None:
        self._under_way: dict[str, asyncio.Event] = {}
        """By upstream."""

    async def admitted(
        self, upstream: str, guard: Guard, operation: str, seconds: float
    ) -> Passage:
        """See `Guard.enter`. A trial takes as long as one attempt at most."""
        while True:
            try:
                passage = guard.enter(operation, seconds)
            except NotSent:
                trial = self._under_way.get(upstream)
                if trial is None:
                    raise
                await trial.wait()
                continue
            if passage.is_trial:
                self._under_way.setdefault(upstream, asyncio.Event())
                await self._confirm(upstream, guard, passage)
            return passage

    async def _confirm(self, upstream: str, guard: Guard, trial: Passage) -> None:
        is_ours = False
        try:
            await guard.confirm(trial)
            is_ours = True
        finally:
            if not is_ours:
                self.ended(upstream, trial)

    def ended(self, upstream: str, passage: Passage) -> None:
        """Note that an admitted request has ended, after the guard knows its result."""
        if passage.is_trial:
            trial = self._under_way.pop(upstream, None)
            if trial is not None:
                trial.set()


_DOWN: Final = frozenset({502, 503, 504})
"""Replies that say that the upstream is down. Another 5xx may be about this request."""
_FAILED: Final = frozenset({"unavailable", "too_large"})
"""Outcomes without a reply that count. To read a reply that is too large delays all calls."""
_LASTING: Final = frozenset({"refused", "too_large"})
_AS_GOOD_AS_OVER: Final = 0.01
"""A cancelled request counts as timed out this many seconds early: the time limit of the whole call
ends at about the same time, and cancels the task."""


class RequestTime(Struct, frozen=True):
    """The time for all attempts of one request."""

    until: float
    """A reading of the monotonic clock."""
    seconds: float
    """The whole time, of which a part may be over."""


class AttemptTime(Struct, frozen=True):
    """The time of one attempt."""

    seconds: float
    is_cut_short: bool
    """Whether the caller asked for less time than the contract allows."""
    is_usual: bool
    """Whether it is about what the contract gives, so that a timeout is the upstream's fault. It is
    not when the caller asked for less, or when another upstream used up the time of the call."""

    def verdict(self, outcome: str, passed: float, reply: Reply | None) -> Verdict:
        """What an attempt with this `outcome`, after this many seconds, says about its upstream."""
        if reply is not None:
            return "failure" if reply.status in _DOWN else "success"
        is_over = passed >= self.seconds - _AS_GOOD_AS_OVER
        is_late = outcome == "timeout" or (is_over and outcome not in _LASTING)
        has_failed = self.is_usual if is_late else outcome in _FAILED
        return "failure" if has_failed else "none"


_SAFE_METHODS: Final = frozenset({"GET", "HEAD"})
_JITTER: Final = 0.25
"""Each wait is longer by a random part, at most this one. So calls that failed at the same time
do not try again at the same time."""

_OUTCOMES: Final[Mapping[type[GatewayError], str]] = {
    UpstreamTimeout: "timeout",
    UpstreamUnavailable: "unavailable",
    ReplyTooLarge: "too_large",
}
"""Outcomes of requests without a usable reply. All others are `refused`."""
FALLBACK: Final = "fallback"
"""The outcome of a request that is counted besides its own: the call did without it."""
_MAY_LIMIT: Final = frozenset({403, 429, 503})
"""Replies that may say that the upstream limits how often it may be called."""

ObserveRequest = Callable[[str, float], None]
"""Called after each request with its outcome, such as `2xx` or `timeout`, and its seconds."""


def ignore_request(outcome: str, seconds: float) -> None:
    """Count nothing."""


Sleep = Callable[[float], Awaitable[None]]


class UpstreamConnection(Struct, frozen=True):
    """Everything that a call needs to reach one upstream."""

    upstream: Upstream
    backend: Backend
    reader: ReplyReader
    settings: Mapping[str, str] = {}
    shapes: Mapping[str, Shape] = {}
    """The upstream's tables by name."""
    tables: Tables | None = None
    """The workspace database, if it takes the place of the upstream."""
    substitute_backend: Literal["mock", "workspace"] = "workspace"
    """The name of the backend when `tables` is used: tables in memory are a mock."""
    observe: ObserveRequest = ignore_request
    guard: Guard = UNGUARDED

    @property
    def backend_name(self) -> Literal["live", "mock", "workspace"]:
        return self.backend.name if self.tables is None else self.substitute_backend

    def operation(self, operation_id: str) -> UpstreamOperation:
        """The operation of the upstream's contract.

        Raises `InternalError` when it does not exist, because only a handler can name it wrongly.
        """
        operation = self.upstream.find(operation_id)
        if operation is None:
            raise InternalError(f"{self.upstream.name} has no operation {operation_id!r}")
        return operation


class RetryBudget(Protocol):
    """How often a request is tried, and for how long. An operation's contract is one source."""

    @property
    def attempts(self) -> Attempts: ...
    @property
    def timeout_seconds(self) -> float: ...


class Sending:
    """The requests of one call to one or more upstreams, under one deadline."""

    def __init__(
        self,
        clock: Clock,
        budget: RetryBudget,
        effect: Effect,
        sleep: Sleep = asyncio.sleep,
        *,
        is_cut_short: bool = False,
        caller: str = "",
    ) -> None:
        """`is_cut_short`: the caller asked for less time than the contract allows."""
        self._caller = caller
        self._clock = clock
        self._attempts = budget.attempts
        self._effect = effect
        self._is_cut_short = is_cut_short
        self.timeout_seconds = budget.timeout_seconds
        """The time for all of the call."""
        self._deadline = clock.monotonic() + budget.timeout_seconds
        self._sleep = sleep
        self._trials = CallTrials()
        self.changes = CallChanges()
        self.fallbacks: list[str] = []
        """What failed and was passed over."""
        self.left_out: list[str] = []
        """Rows of replies that the result lacks, because they break their contract."""
        self.received = 0
        """The bytes of all replies."""
        self.require_open: Callable[[], None] = lambda: None
        """Raises if the call must not change anything any more. Asked when a request may leave."""

    async def send(
        self,
        connection: UpstreamConnection,
        request: UpstreamRequest,
        *,
        effect: Effect | None = None,
        timeout_seconds: float | None = None,
    ) -> Reply:
        """The upstream's reply, with any status. Transient failures are tried again.

        When no attempt or no time is left, the last failure is returned, or raised if the backend
        raised it. Set `effect` for a request that does less than its call, and `timeout_seconds`
        to give all attempts of this request less time than the call has.
        """
        is_read = (effect or self._effect) is Effect.READ
        is_repeatable = is_read or _is_repeatable(connection.operation(request.operation), request)
        time = self._time(timeout_seconds)
        request = replace(request, departure=Departure(caller=self._caller))
        for attempt in count(1):
            is_last = not is_repeatable or attempt >= self._attempts.max
            is_outcome_certain = is_repeatable and not request.is_key_ours
            outcome = await self._try(
                connection, request, time, is_outcome_certain=is_outcome_certain
            )
            failure = self._transient(connection.reader, outcome)
            wait = 0.0 if failure is None else self._wait(attempt, failure)
            is_over = failure is None or is_last or wait >= self._left(time.until)
            if is_over or isinstance(failure, NotSent) or not connection.guard.may_repeat():
                if not isinstance(outcome, GatewayError):
                    self.received += len(outcome.body)
                    return outcome
                try:
                    raise outcome
                finally:
                    # Its traceback has this frame: a cycle for the garbage collector.
                    del outcome, failure
            await self._sleep(wait)
        raise AssertionError("unreachable")

    async def _try(
        self,
        connection: UpstreamConnection,
        request: UpstreamRequest,
        time: RequestTime,
        *,
        is_outcome_certain: bool,
    ) -> Reply | UpstreamTimeout | UpstreamUnavailable:
        try:
            passage = await self._trials.admitted(
                connection.upstream.name, connection.guard, request.operation, self._usual(time)
            )
        except NotSent as error:
            return error
        if not is_outcome_certain:
            self._require_open(connection, passage)
        request.departure.is_unsent = False
        changes, were_possible = self.changes, self.changes.are_possible
        changes.are_possible = were_possible or not is_outcome_certain
        try:
            reply = await self._observed(connection, request, self._attempt(time), passage)
        except (UpstreamTimeout, UpstreamUnavailable) as error:
            if is_outcome_certain or not error.is_sent:
                changes.are_possible = were_possible
            return error
        except (asyncio.CancelledError, InvalidReply):
            # Of the time limit of the whole call, which ends a little before that of the request;
            # or of the server of the access token.
            if request.departure.is_unsent:
                changes.are_possible = were_possible
            raise
        changes.are_confirmed |= not is_outcome_certain and reply.status < 400
        if reply.status >= 400 and connection.reader.has_surely_not_happened(reply):
            changes.are_possible = were_possible
        return reply

    def _require_open(self, connection: UpstreamConnection, passage: Passage) -> None:
        # A request may have waited for its admission, and the call may have asked meanwhile.
        try:
            self.require_open()
        except BaseException:
            connection.guard.leave(passage, "none")
            self._trials.ended(connection.upstream.name, passage)
            raise

    def _usual(self, time: RequestTime) -> float:
        return min(time.seconds, self._attempts.timeout_seconds or time.seconds)

    def _attempt(self, time: RequestTime) -> AttemptTime:
        left = self._left(time.until)
        limit = min(left, self._attempts.timeout_seconds or left)
        usual = self._usual(time)
        is_cut_short = self._is_cut_short and time.until == self._deadline and limit == left
        is_usual = not is_cut_short and 2 * limit >= usual
        return AttemptTime(limit, is_cut_short, is_usual)

    async def _observed(
        self,
        connection: UpstreamConnection,
        request: UpstreamRequest,
        time: AttemptTime,
        passage: Passage,
    ) -> Reply:
        started, outcome, reply = self._clock.monotonic(), "cancelled", None
        try:
            reply = await connection.backend.send(
                request, timeout_seconds=time.seconds, is_cut_short=time.is_cut_short
            )
            outcome = f"{reply.status // 100}xx"
        except GatewayError as error:
            outcome = _OUTCOMES.get(type(error), "refused")
            raise
        finally:
            passed = self._clock.monotonic() - started
            connection.guard.leave(passage, time.verdict(outcome, passed, reply))
            self._trials.ended(connection.upstream.name, passage)
            connection.observe(outcome, passed)
        if reply.status in _MAY_LIMIT:
            _respect_limit(connection, reply)
        return reply

    def _transient(
        self, reader: ReplyReader, outcome: Reply | UpstreamTimeout | UpstreamUnavailable
    ) -> GatewayError | None:
        """The failure, if it may be gone by the next attempt; else None."""
        if isinstance(outcome, GatewayError):
            return outcome
        if outcome.status < 400:
            return None
        return reader.transient(outcome, self._attempts.on)

    def _wait(self, attempt: int, failure: GatewayError) -> float:
        backoff = self._attempts.backoff_seconds
        wait = backoff[min(attempt, len(backoff)) - 1] if backoff else 0.0
        asked = failure.retry_after_seconds if isinstance(failure, UpstreamRateLimited) else None
        longer = random.uniform(1, 1 + _JITTER)  # noqa: S311 - chance spreads the load, guards nothing
        return max(wait, asked or 0.0) * longer

    def _time(self, timeout_seconds: float | None) -> RequestTime:
        if timeout_seconds is None:
            return RequestTime(self._deadline, self.timeout_seconds)
        until = min(self._deadline, self._clock.monotonic() + timeout_seconds)
        return RequestTime(until, min(self.timeout_seconds, timeout_seconds))

    def _left(self, until: float) -> float:
        return max(until - self._clock.monotonic(), 0.0)


def _respect_limit(connection: UpstreamConnection, reply: Reply) -> None:
    """Send no more requests for the time for which `reply` asks, if it does."""
    failure = connection.reader.failure(reply)
    if isinstance(failure, UpstreamRateLimited) and failure.retry_after_seconds:
        connection.guard.pause(failure.retry_after_seconds)


def _is_repeatable(operation: UpstreamOperation, request: UpstreamRequest) -> bool:
    """Whether the upstream does the same when the request is sent twice as when it is sent once."""
    if request.method in _SAFE_METHODS:
        return True
    header = operation.idempotency_header
    return header is not None and any(name.lower() == header.lower() for name, _ in request.headers)
