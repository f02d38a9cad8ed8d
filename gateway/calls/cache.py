"""Caches results of reads in this process, for as long as the contracts allow."""

import asyncio
import copy
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

import msgspec
from msgspec import Struct

from gateway.auth.principal import Permit
from gateway.calls.call import Arguments, BackendName, Result
from gateway.clock import Clock
from gateway.contract.operation import Effect

MAX_BYTES: Final = 16 * 2**20
"""The size of one cache, keys included. When it is full, the least recently used entry goes."""

T = TypeVar("T")
encode_key: Final = msgspec.json.Encoder(order="deterministic").encode
_decode: Final = msgspec.json.Decoder().decode


class _Kept(Struct, Generic[T], frozen=True):
    value: T
    until: float
    size: int


class KeptAnswers(Generic[T]):
    """Values by key, each kept for a limited time.

    A caller that asks for a value while another caller makes it waits for that value. If making it
    fails, all of them get the failure. Failures are not kept.
    """

    def __init__(
        self, clock: Clock, size_of: Callable[[T], int], max_bytes: int = MAX_BYTES
    ) -> None:
        self._clock = clock
        self._size_of = size_of
        self._max_bytes = max_bytes
        self._bytes = 0
        self._kept: OrderedDict[bytes, _Kept[T]] = OrderedDict()
        self.hits = 0
        """Callers who got a kept value, or one that another caller made."""
        self.misses = 0
        self._under_way: dict[bytes, asyncio.Future[T]] = {}

    async def get(
        self,
        key: bytes,
        seconds: float,
        make: Callable[[], Awaitable[T]],
        *,
        is_shared: bool = True,
    ) -> T:
        """The value kept under `key`. If there is none, call `make` and keep its value `seconds`.

        If `is_shared` is false, no other caller waits for this `make`, and this caller does not
        wait for another's.
        """
        while True:
            kept = self._find(key)
            if kept is not None:
                self.hits += 1
                return kept.value
            if not is_shared:
                self.misses += 1
                value = await make()
                self._keep(key, seconds, value)
                return value
            first = self._under_way.get(key)
            if first is None:
                return await self._make(key, seconds, make)
            await asyncio.wait([first])
            if first.cancelled():
                continue
            if (failure := first.exception()) is not None:
                # Each waiting caller gets a copy: a raise adds to the traceback of its exception.
                raise copy.copy(failure)
            self.hits += 1
            return first.result()

    async def _make(self, key: bytes, seconds: float, make: Callable[[], Awaitable[T]]) -> T:
        self.misses += 1
        first = self._under_way[key] = asyncio.get_running_loop().create_future()
        try:
            value = await make()
        except Exception as error:
            first.set_exception(error)
            first.exception()  # without a waiting caller, asyncio would log it as never retrieved
            raise
        else:
            self._keep(key, seconds, value)
            first.set_result(value)
            return value
        finally:
            del self._under_way[key]
            first.cancel()

    def _find(self, key: bytes) -> _Kept[T] | None:
        kept = self._kept.get(key)
        if kept is None:
            return None
        if kept.until <= self._clock.monotonic():
            self._drop(key)
            return None
        self._kept.move_to_end(key)
        return kept

    def _keep(self, key: bytes, seconds: float, value: T) -> None:
        if key in self._kept:
            self._drop(key)
        size = len(key) + self._size_of(value)
        if size > self._max_bytes:
            return
        while self._bytes + size > self._max_bytes:
            self._drop(next(iter(self._kept)))
        self._kept[key] = _Kept(value, self._clock.monotonic() + seconds, size)
        self._bytes += size

    def _drop(self, key: bytes) -> None:
        self._bytes -= self._kept.pop(key).size


class _Answer(Struct, frozen=True):
    """What is kept of a result: its text. The decoded values would take ten times the memory."""

    text: bytes
    backend: BackendName
    hidden_characters: int


class ReadCache:
    """Results of reads, by operation and arguments, where the contract sets `x-policy.cache`.

    When a write of a connector ends, successfully or not, the results kept for that connector are
    no longer used. So callers never get a result that is older than their own change. Changes
    made outside the gateway become visible when the result expires.
    """

    def __init__(self, clock: Clock) -> None:
        self.kept: KeptAnswers[_Answer] = KeptAnswers(clock, lambda answer: len(answer.text))
        self._writes: Counter[str] = Counter()
        """The number of ended writes, by connector."""

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
            try:
                return await run()
            finally:
                self._writes[operation.connector] += 1
        if not operation.cache_seconds:
            return await run()
        key = encode_key([operation.id, self._writes[operation.connector], arguments.values])

        async def make() -> _Answer:
            result = await run()
            return _Answer(result.text, result.backend, result.hidden_characters)

        seconds = operation.cache_seconds
        kept = await self.kept.get(key, seconds, make, is_shared=is_shared)
        # Decoded again: the caller that gets the values may change them.
        return Result(_decode(kept.text), kept.text, kept.backend, kept.hidden_characters)
