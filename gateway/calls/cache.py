"""Results of reads that may be used again, in this process."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final

import msgspec
from msgspec import Struct

from gateway.auth.principal import Permit
from gateway.calls.call import Arguments, Result
from gateway.clock import Clock
from gateway.contract.operation import Effect

MAX_BYTES: Final = 16 * 2**20
"""Results kept, counted as JSON text with their arguments; the least recently used go first."""

_encode: Final = msgspec.json.Encoder(order="deterministic").encode
_decode: Final = msgspec.json.Decoder().decode


class _Kept(Struct, frozen=True):
    result: Result
    until: float
    size: int


class ReadCache:
    """Answers from memory where the contract says for how long (`x-policy.cache`).

    Calls with the same arguments that arrive while the first is under way wait for its result.
    What fails is not kept.
    """

    def __init__(self, clock: Clock, max_bytes: int = MAX_BYTES) -> None:
        self._clock = clock
        self._max_bytes = max_bytes
        self._bytes = 0
        self._kept: OrderedDict[bytes, _Kept] = OrderedDict()
        self._under_way: dict[bytes, asyncio.Future[None]] = {}

    async def answer(
        self, permit: Permit, arguments: Arguments, run: Callable[[], Awaitable[Result]]
    ) -> Result:
        """The result for `arguments`: kept from an earlier call, or of `run`."""
        operation = permit.entry.operation
        if not operation.cache_seconds or arguments.effect is not Effect.READ:
            return await run()
        key = _encode([operation.id, arguments.values])
        while True:
            found = self._find(key)
            if found is not None:
                return found
            first = self._under_way.get(key)
            if first is None:
                return await self._run(key, operation.cache_seconds, run)
            await asyncio.wait([first])
            if not first.cancelled():
                # The first one's result, which is kept now, or its failure.
                first.result()

    async def _run(
        self, key: bytes, seconds: float, run: Callable[[], Awaitable[Result]]
    ) -> Result:
        first = self._under_way[key] = asyncio.get_running_loop().create_future()
        try:
            result = await run()
        except Exception as error:
            first.set_exception(error)
            first.exception()  # there may be nobody who waits for it
            raise
        else:
            self._keep(key, seconds, result)
            first.set_result(None)
            return result
        finally:
            del self._under_way[key]
            first.cancel()

    def _find(self, key: bytes) -> Result | None:
        kept = self._kept.get(key)
        if kept is None:
            return None
        if kept.until <= self._clock.monotonic():
            self._drop(key)
            return None
        self._kept.move_to_end(key)
        # Decoded anew: whoever gets the values may change them.
        return Result(_decode(kept.result.text), kept.result.text, kept.result.backend)

    def _keep(self, key: bytes, seconds: float, result: Result) -> None:
        size = len(key) + len(result.text)
        if size > self._max_bytes:
            return
        while self._bytes + size > self._max_bytes:
            self._drop(next(iter(self._kept)))
        self._kept[key] = _Kept(result, self._clock.monotonic() + seconds, size)
        self._bytes += size

    def _drop(self, key: bytes) -> None:
        self._bytes -= self._kept.pop(key).size
