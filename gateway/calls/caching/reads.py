"""Caches results of reads, for as long as the contracts allow."""

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Collection
from functools import partial
from typing import Final

import msgspec

from gateway.auth.principal import Permit
from gateway.calls.caching.answers import Failures, KeptAnswers, KeptResult, encode_key
from gateway.calls.caching.shared import Found, SharedResults
from gateway.calls.call import Arguments, Result, ResultAge
from gateway.clock import Clock
from gateway.contract.operation import Effect, Operation
from gateway.errors import (
    CallerError,
    GatewayError,
    ToolFailed,
    UpstreamError,
    UpstreamRejected,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from gateway.observability.repeats import ERROR

# The writes of each connector, which end what is kept of its results.


class ConnectorWrites:
    """What the writes that this process has made mean for the results of their connectors.

    All generations share it: a write that the old one ends is seen by the new one.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ended: Counter[str] = Counter()
        self._unsettled: dict[str, float] = {}
        """Until when a write with an unknown outcome may still happen, by connector."""

    def number(self, connector: str) -> int:
        """The number of ended writes. A result that was kept before the latest one is not used."""
        return self._ended[connector]

    def end(self, connector: str, unsettled_seconds: float = 0.0) -> None:
        """Note that a write has ended, and for how long it may still happen."""
        self._ended[connector] += 1
        if unsettled_seconds:
            until = self._clock.monotonic() + unsettled_seconds
            self._unsettled[connector] = max(until, self._unsettled.get(connector, 0.0))

    def are_settled(self, connector: str) -> bool:
        """Whether no write of unknown outcome may still happen."""
        return self._unsettled.get(connector, 0.0) <= self._clock.monotonic()


_log: Final = logging.getLogger(__name__)
STALE_PAUSE_SECONDS: Final = 5.0
"""While results may be stale, how long a failed upstream is not asked again for the same one."""
_decode: Final = msgspec.json.Decoder().decode


class ReadCache:
    """Results of reads, by operation and arguments, where the contract sets `x-policy.cache`.

    When a write of a connector ends, successfully or not, the results kept for that connector are
    no longer used, also in other processes that share them. So callers never get a result that is
    older than a change that was answered before they asked. When the outcome of a write is unknown,
    it may still happen: until its time limit has passed once more, no result is kept. Changes made
    outside the gateway become visible when the result expires.
    """

    def __init__(
        self,
        clock: Clock,
        changing: Collection[str] = (),
        writes: ConnectorWrites | None = None,
        *,
        others_write: bool = False,
        shared: SharedResults | None = None,
    ) -> None:
        """`changing`: the connectors with tools that write. `writes`: None if no other cache of the
        process has to know them. `others_write`: other processes write too, and this one does not
        see it. So of a connector in `changing`, only `shared` results are used.
        """
        self.kept: KeptAnswers[KeptResult] = KeptAnswers(
            clock, lambda answer: answer.size, made_at=lambda answer: answer.made_at
        )
        self._clock = clock
        self._changing = frozenset(changing)
        self._failures = Failures(clock)
        self._writes = writes or ConnectorWrites(clock)
        self._unseen = self._changing if others_write else frozenset()
        """The connectors whose writes this process does not see."""
        self._shared = shared
        self._last: dict[str, tuple[int, bytes | None]] = {}
        """The last write of each connector that a read has seen, in this process and elsewhere."""

    def answer(
        self,
        permit: Permit,
        arguments: Arguments,
        run: Callable[[], Awaitable[Result]],
        *,
        is_shared: bool = True,
    ) -> Awaitable[Result]:
        """The result for `arguments`, from the cache or from `run`.

        Calls with the same arguments at the same time share one `run`. A call for which
        `is_shared` is false runs its own.
        """
        operation = permit.entry.operation
        if arguments.effect is not Effect.READ:
            return self._write(operation, run)
        if not operation.cache_seconds:
            return run()
        return self._kept(permit, arguments, run, is_shared)

    async def _kept(
        self,
        permit: Permit,
        arguments: Arguments,
        run: Callable[[], Awaitable[Result]],
        is_shared: bool,
    ) -> Result:
        operation = permit.entry.operation
        name = encode_key([operation.id, arguments.values])
        is_unseen = operation.connector in self._unseen
        found = await self._found(operation, name, is_unseen)
        if found is None and is_unseen:
            return await run()
        return await self._read(permit, name, found, run, is_shared)

    async def _write(self, operation: Operation, run: Callable[[], Awaitable[Result]]) -> Result:
        connector, shared = operation.connector, self._shared
        announced = None if shared is None else await shared.announce(connector)
        unsettled_seconds = 0.0
        try:
            return await run()
        except BaseException as error:
            unsettled_seconds = 0.0 if _is_settled(error) else operation.timeout_seconds
            raise
        finally:
            self._writes.end(connector, unsettled_seconds)
            if shared is not None and announced is not None:
                await shared.end(connector, announced, unsettled_seconds)

    async def _found(self, operation: Operation, name: bytes, is_unseen: bool) -> Found | None:
        """What other processes share, unless it cannot be used or is not needed.

        Files are not shared: a result holds little beside the bytes.
        """
        if self._shared is None or operation.sensitive or operation.file_types:
            return None
        connector = operation.connector
        if not is_unseen and self.kept.has(self._own_key(connector, name)):
            return None
        return await self._shared.find(operation, name)

    def _own_key(self, connector: str, name: bytes) -> bytes:
        return b"%d %b" % (self._writes.number(connector), name)

    async def _read(
        self,
        permit: Permit,
        name: bytes,
        found: Found | None,
        run: Callable[[], Awaitable[Result]],
        is_shared: bool,
    ) -> Result:
        operation = permit.entry.operation
        connector, stale_seconds = operation.connector, operation.stale_seconds
        key, is_settled = self._own_key(connector, name), self._writes.are_settled(connector)
        if found is not None and connector in self._unseen:
            # A read must not wait for one that a write has overtaken, in whichever process.
            is_settled = is_settled and found.finding.is_settled
            key = b"%b %d %b" % (found.finding.state, is_settled, key)
        self._drop_ended(connector, None if found is None else found.finding.state)
        seconds = operation.cache_seconds if is_settled else 0.0
        making = _Making(key, run, self._clock)
        if found is not None and self._shared is not None:
            making.share = partial(self._share, self._shared, operation, found)
            if found.answer is not None and not self.kept.has(key):
                self.kept.keep(key, seconds, stale_seconds, found.answer, connector)
        if is_shared and stale_seconds:
            making.failures = self._failures
        try:
            kept = await self.kept.get(
                key,
                seconds,
                making.make,
                is_shared=is_shared,
                stale_seconds=stale_seconds,
                group=connector,
            )
        except UpstreamError as error:
            stale = self.kept.stale(key) if stale_seconds and error.is_retryable else None
            if stale is None:
                raise
            return self._stale(stale, operation, error)
        since = kept.first_told(permit.grant.principal.subject, self._clock.monotonic())
        return self._result(kept, operation, since)

    def _stale(self, kept: KeptResult, operation: Operation, failure: UpstreamError) -> Result:
        """Its age is told to everybody: who believed it to be new would be misled."""
        label = type(failure).__name__
        _log.warning("a stale result of %s is used", operation.id, extra={ERROR: label})
        return self._result(kept, operation, kept.made_at, failure)

    def _drop_ended(self, connector: str, state: bytes | None) -> None:
        """Drop what a write has ended. No key finds it, and its room would be used for days."""
        last = self._writes.number(connector), state if connector in self._unseen else None
        if self._last.get(connector) != last:
            self._last[connector] = last
            self.kept.drop_group(connector)

    async def _share(
        self, shared: SharedResults, operation: Operation, found: Found, answer: KeptResult
    ) -> None:
        seconds = operation.cache_seconds + operation.stale_seconds
        await shared.keep(operation.connector, found, answer, seconds)

    def _result(
        self,
        kept: KeptResult,
        operation: Operation,
        since: float | None,
        failure: UpstreamError | None = None,
    ) -> Result:
        """`since`: when the caller knew it. None: not before, so it looks as if made for them."""
        now = self._clock.monotonic()
        age = ResultAge(
            seconds=0.0 if since is None else max(0.0, now - since),
            fresh_seconds=operation.cache_seconds,
            is_public=operation.is_cache_public,
            may_be_kept=operation.connector not in self._changing,
            is_reused=since is not None,
            failure=failure,
        )
        # Decoded again: the caller that gets the values may change them.
        values = _decode(kept.text)
        return Result(
            values,
            kept.text,
            kept.backend,
            kept.hidden_characters,
            kept.file,
            age=age,
            left_out=kept.left_out,
        )


class _Making:
    """Makes the answer of one call, unless its upstream has just failed."""

    def __init__(self, key: bytes, run: Callable[[], Awaitable[Result]], clock: Clock) -> None:
        self._key = key
        self._run = run
        self._clock = clock
        self.failures: Failures | None = None
        """Where failures are remembered. None: they are not."""
        self.share: Callable[[KeptResult], Awaitable[None]] | None = None
        """Gives a new answer to other processes. None: nothing does."""

    async def make(self) -> KeptResult:
        """The new answer."""
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

    async def _made(self) -> KeptResult:
        result = await self._run()
        made_at = self._clock.monotonic()
        answer = KeptResult(
            result.text,
            result.backend,
            result.hidden_characters,
            made_at,
            result.file,
            result.left_out,
        )
        # Other processes would not know that something is left out.
        if self.share is not None and not result.left_out:
            await self.share(answer)
        return answer


def _is_settled(error: BaseException) -> bool:
    """Whether a write that ended with `error` cannot happen later.

    That a request may be repeated, because of its caller's idempotency key, does not say so.
    """
    if isinstance(error, UpstreamTimeout | UpstreamUnavailable):
        return not error.is_sent
    if isinstance(error, CallerError | ToolFailed | UpstreamRejected):
        return True
    return isinstance(error, GatewayError) and error.is_retryable
