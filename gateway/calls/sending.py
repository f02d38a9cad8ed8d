"""Sends one call's requests, as often as its contract promises and is safe."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from typing import Final, Literal, Protocol

from msgspec import Struct

from gateway.backends.base import Backend
from gateway.calls.replies import ReplyReader
from gateway.clock import Clock
from gateway.contract.operation import Attempts, Effect
from gateway.contract.rows.rows import Shape
from gateway.contract.rows.tables import Tables
from gateway.contract.upstream import Reply, Upstream, UpstreamOperation, UpstreamRequest
from gateway.errors import (
    GatewayError,
    InternalError,
    UpstreamError,
    UpstreamRateLimited,
    UpstreamTimeout,
    UpstreamUnavailable,
)

_SAFE_METHODS: Final = frozenset({"GET", "HEAD"})
_JITTER: Final = 0.25
"""Waits are up to this much longer, so that callers who failed together do not return together."""

Sleep = Callable[[float], Awaitable[None]]


class UpstreamConnection(Struct, frozen=True):
    """Everything that leads to one upstream."""

    upstream: Upstream
    backend: Backend
    reader: ReplyReader
    settings: Mapping[str, str] = {}
    shapes: Mapping[str, Shape] = {}
    """The upstream's tables by name."""
    tables: Tables | None = None
    """The workspace database, where that takes the upstream's place."""
    stand_in: Literal["mock", "workspace"] = "workspace"
    """What `tables` counts as: rows in memory are a mock."""

    @property
    def backend_name(self) -> Literal["live", "mock", "workspace"]:
        return self.backend.name if self.tables is None else self.stand_in

    def operation(self, operation_id: str) -> UpstreamOperation:
        """The operation of the contract. Raises `InternalError`: only a handler can be wrong."""
        operation = self.upstream.find(operation_id)
        if operation is None:
            raise InternalError(f"{self.upstream.name} has no operation {operation_id!r}")
        return operation


class RetryBudget(Protocol):
    """How often and how long is tried: an operation's contract says it."""

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
    ) -> None:
        """`is_cut_short`: the caller wants it to take less time than the contract allows."""
        self._clock = clock
        self._attempts = budget.attempts
        self._effect = effect
        self._is_cut_short = is_cut_short
        self._deadline = clock.monotonic() + budget.timeout_seconds
        self._sleep = sleep
        self.may_have_acted = False
        """Whether a request was sent that changes something and that no later call may repeat."""
        self.has_acted = False
        """Whether the upstream has confirmed such a request."""
        self.acts_unseen = False
        """Whether the handler changes things by other ways than requests."""

    async def send(
        self,
        connection: UpstreamConnection,
        request: UpstreamRequest,
        *,
        effect: Effect | None = None,
        patience_seconds: float | None = None,
    ) -> Reply:
        """The upstream's reply, whatever its status: the first that is no passing failure.

        `effect` is what this request does, where that is less than the call does, and
        `patience_seconds` the time for all its attempts, where that is less than the call's. Raises
        what the backend raises, once attempts or time have run out.
        """
        is_read = (effect or self._effect) is Effect.READ
        is_repeatable = is_read or _is_repeatable(connection.operation(request.operation), request)
        until = self._until(patience_seconds)
        for attempt in count(1):
            is_last = not is_repeatable or attempt >= self._attempts.max
            is_outcome_certain = is_repeatable and not request.is_key_ours
            outcome = await self._try(
                connection, request, until, is_outcome_certain=is_outcome_certain
            )
            failure = self._transient(connection.reader, outcome)
            wait = 0.0 if failure is None else self._wait(attempt, failure)
            if failure is None or is_last or wait >= self._left(until):
                if isinstance(outcome, GatewayError):
                    raise outcome
                return outcome
            await self._sleep(wait)
        raise AssertionError("unreachable")

    def leaves_outcome_unknown(self, error: UpstreamError) -> bool:
        """Whether repeating the call that ended in `error` could do again what it may have done."""
        if self.has_acted:
            return True
        if not error.is_retryable:
            return False
        is_doubtful = self.may_have_acted or (self.acts_unseen and error.is_sent)
        return is_doubtful and isinstance(error, UpstreamTimeout | UpstreamUnavailable)

    async def _try(
        self,
        connection: UpstreamConnection,
        request: UpstreamRequest,
        until: float,
        *,
        is_outcome_certain: bool,
    ) -> Reply | UpstreamTimeout | UpstreamUnavailable:
        acted_before = self.may_have_acted
        self.may_have_acted = acted_before or not is_outcome_certain
        left = self._left(until)
        limit = min(left, self._attempts.timeout_seconds or left)
        is_cut_short = self._is_cut_short and until == self._deadline and limit == left
        try:
            reply = await connection.backend.send(
                request, timeout_seconds=limit, is_cut_short=is_cut_short
            )
        except (UpstreamTimeout, UpstreamUnavailable) as error:
            if is_outcome_certain or not error.is_sent:
                self.may_have_acted = acted_before
            return error
        self.has_acted |= not is_outcome_certain and reply.status < 400
        return reply

    def _transient(
        self, reader: ReplyReader, outcome: Reply | UpstreamTimeout | UpstreamUnavailable
    ) -> GatewayError | None:
        """The failure that may have passed by the next attempt, or None."""
        if isinstance(outcome, GatewayError):
            return outcome
        if outcome.status < 400:
            return None
        return reader.passing(outcome, self._attempts.on)

    def _wait(self, attempt: int, failure: GatewayError) -> float:
        backoff = self._attempts.backoff_seconds
        wait = backoff[min(attempt, len(backoff)) - 1] if backoff else 0.0
        asked = failure.retry_after_seconds if isinstance(failure, UpstreamRateLimited) else None
        longer = random.uniform(1, 1 + _JITTER)  # noqa: S311 - chance spreads the load, guards nothing
        return max(wait, asked or 0.0) * longer

    def _until(self, patience_seconds: float | None) -> float:
        if patience_seconds is None:
            return self._deadline
        return min(self._deadline, self._clock.monotonic() + patience_seconds)

    def _left(self, until: float) -> float:
        return max(until - self._clock.monotonic(), 0.0)


def _is_repeatable(operation: UpstreamOperation, request: UpstreamRequest) -> bool:
    """Whether sending it twice does no more than sending it once."""
    if request.method in _SAFE_METHODS:
        return True
    header = operation.idempotency_header
    return header is not None and any(name.lower() == header.lower() for name, _ in request.headers)
