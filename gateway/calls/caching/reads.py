"""Caches results of reads, for as long as the contracts allow."""

import logging
from collections.abc import Awaitable, Callable, Collection
from typing import Final

import msgspec
from msgspec import Struct

from gateway.auth.principal import Permit
from gateway.calls.caching.kept import KeptAnswers, encode_key
from gateway.calls.caching.writes import ConnectorWrites
from gateway.calls.call import Arguments, BackendName, Result, ResultAge
from gateway.calls.failures import Failures
from gateway.clock import Clock
from gateway.contract.operation import Effect, Operation
from gateway.errors import CallerError, GatewayError, ToolFailed, UpstreamError, UpstreamRejected
from gateway.observability.repeats import ERROR

_log: Final = logging.getLogger(__name__)
STALE_PAUSE_SECONDS: Final = 5.0
"""While results may be stale, how long a failed upstream is not asked again for the same one."""
_decode: Final = msgspec.json.Decoder().decode


class _Answer(Struct, frozen=True):
    """What is kept of a result: its text. The decoded values would take ten times the memory."""

    text: bytes
    backend: BackendName
    hidden_characters: int
    made_at: float
    """Seconds of the monotonic clock."""


class ReadCache:
    """Results of reads, by operation and arguments, where the contract sets `x-policy.cache`.

    When a write of a connector ends, successfully or not, the results kept for that connector are
    no longer used. So callers never get a result that is older than their own change. When its
    outcome is unknown, it may still happen: until its time limit has passed once more, no result is
    kept. Changes made outside the gateway become visible when the result expires.
    """

    def __init__(
        self,
        clock: Clock,
        changing: Collection[str] = (),
        writes: ConnectorWrites | None = None,
        *,
        others_write: bool = False,
    ) -> None:
        """`changing`: the connectors with tools that write. `writes`: None if no other cache of the
        process has to know them. `others_write`: other processes write too, and this one does not
        see it, so that no result of a connector in `changing` is kept.
        """
        self.kept: KeptAnswers[_Answer] = KeptAnswers(clock, lambda answer: len(answer.text))
        self._clock = clock
        self._changing = frozenset(changing)
        self._failures = Failures(clock)
        self._writes = writes or ConnectorWrites(clock)
        self._unseen = self._changing if others_write else frozenset()
        """The connectors whose writes this process does not see."""

    async def answer(
        self,
        permit: Permit,
        arguments: Arguments,
        run: Callable[[], Awaitable[Result]],
        *,
        is_shared: bool = True,
    ) -> Result:
        """The result for `arguments`, from the cache or from `run`.

        Calls with the same arguments at the same time share one `run`. A call for which
        `is_shared` is false runs its own.
        """
        operation = permit.entry.operation
        if arguments.effect is not Effect.READ:
            return await self._write(operation, run)
        if not operation.cache_seconds or operation.connector in self._unseen:
            return await run()
        return await self._read(operation, arguments, run, is_shared)

    async def _write(self, operation: Operation, run: Callable[[], Awaitable[Result]]) -> Result:
        unsettled_seconds = 0.0
        try:
            return await run()
        except BaseException as error:
            unsettled_seconds = 0.0 if _is_settled(error) else operation.timeout_seconds
            raise
        finally:
            self._writes.end(operation.connector, unsettled_seconds)

    async def _read(
        self,
        operation: Operation,
        arguments: Arguments,
        run: Callable[[], Awaitable[Result]],
        is_shared: bool,
    ) -> Result:
        connector, stale_seconds = operation.connector, operation.stale_seconds
        key = encode_key([operation.id, self._writes.number(connector), arguments.values])
        making = _Making(key, run, self._clock)
        if is_shared and stale_seconds:
            making.failures = self._failures
        seconds = operation.cache_seconds if self._writes.are_settled(connector) else 0.0
        try:
            kept = await self.kept.get(
                key, seconds, making.make, is_shared=is_shared, stale_seconds=stale_seconds
            )
        except UpstreamError as error:
            stale = self.kept.stale(key) if stale_seconds and error.is_retryable else None
            if stale is None:
                raise
            name = type(error).__name__
            _log.warning("a stale result of %s is used", operation.id, extra={ERROR: name})
            return self._result(stale, operation, is_reused=True, failure=error)
        return self._result(kept, operation, is_reused=not making.is_begun)

    def _result(
        self,
        kept: _Answer,
        operation: Operation,
        *,
        is_reused: bool,
        failure: UpstreamError | None = None,
    ) -> Result:
        age = ResultAge(
            seconds=max(0.0, self._clock.monotonic() - kept.made_at),
            fresh_seconds=operation.cache_seconds,
            is_public=operation.is_cache_public,
            may_be_kept=operation.connector not in self._changing,
            is_reused=is_reused,
            failure=failure,
        )
        # Decoded again: the caller that gets the values may change them.
        values = _decode(kept.text)
        return Result(values, kept.text, kept.backend, kept.hidden_characters, age=age)


class _Making:
    """Makes the answer of one call, unless its upstream has just failed."""

    def __init__(self, key: bytes, run: Callable[[], Awaitable[Result]], clock: Clock) -> None:
        self._key = key
        self._run = run
        self._clock = clock
        self.is_begun = False
        self.failures: Failures | None = None
        """Where failures are remembered. None: they are not."""

    async def make(self) -> _Answer:
        """The new answer."""
        self.is_begun = True
        if self.failures is None:
            return await self._made()
        self.failures.check(self._key, STALE_PAUSE_SECONDS)
        try:
            answer = await self._made()
        except UpstreamError as error:
            if error.is_retryable:
                self.failures.remember(self._key, STALE_PAUSE_SECONDS, error)
            raise
        self.failures.forget(self._key)
        return answer

    async def _made(self) -> _Answer:
        result = await self._run()
        made_at = self._clock.monotonic()
        return _Answer(result.text, result.backend, result.hidden_characters, made_at)


def _is_settled(error: BaseException) -> bool:
    """Whether a write that ended with `error` cannot happen later."""
    if isinstance(error, CallerError | ToolFailed | UpstreamRejected):
        return True
    return isinstance(error, GatewayError) and error.is_retryable
