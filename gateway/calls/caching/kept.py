"""Keeps values in this process, by key and for a limited time."""

import asyncio
import copy
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

import msgspec
from msgspec import Struct

from gateway.clock import Clock

MAX_BYTES: Final = 16 * 2**20
"""The size of one cache, keys included. When it is full, the least recently used entry goes."""
ENTRY_BYTES: Final = 400
"""What an entry takes besides its key and its value. So many small entries count too."""

T = TypeVar("T")
encode_key: Final = msgspec.json.Encoder(order="deterministic").encode


class _Kept(Struct, Generic[T], frozen=True):
    value: T
    until: float
    stale_until: float
    size: int
    group: str


class KeptAnswers(Generic[T]):
    """Values by key, each kept for a limited time.

    A caller that asks for a value while another caller makes it waits for that value. If making it
    fails, all of them get the failure. Failures are not kept.
    """

    def __init__(
        self,
        clock: Clock,
        size_of: Callable[[T], int],
        max_bytes: int = MAX_BYTES,
        made_at: Callable[[T], float] | None = None,
    ) -> None:
        """`made_at`: when a value was made, on the monotonic clock. None: when it is kept."""
        self._clock = clock
        self._size_of = size_of
        self._made_at = made_at
        self._max_bytes = max_bytes
        self._bytes = 0
        self._kept: OrderedDict[bytes, _Kept[T]] = OrderedDict()
        self._groups: dict[str, set[bytes]] = {}
        """The keys of each group."""
        self.hits = 0
        """Callers who got a kept value, or one that another caller made."""
        self.misses = 0
        self.stale_uses = 0
        """Callers who got a value whose time was up."""
        self._under_way: dict[bytes, asyncio.Future[T]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def size_bytes(self) -> int:
        """What all values and their keys take."""
        return self._bytes

    async def get(
        self,
        key: bytes,
        seconds: float,
        make: Callable[[], Awaitable[T]],
        *,
        is_shared: bool = True,
        stale_seconds: float = 0.0,
        group: str = "",
    ) -> T:
        """The value kept under `key`. If there is none, call `make` and keep its value `seconds`.

        If `is_shared` is false, no other caller waits for this `make`, and this caller does not
        wait for another's. For `stale_seconds` after its time, only `stale` returns the value.
        `drop_group` drops it with its `group`.
        """
        while True:
            kept = self._find(key)
            if kept is not None:
                self.hits += 1
                return kept.value
            if not is_shared:
                self.misses += 1
                value = await make()
                self.keep(key, seconds, stale_seconds, value, group)
                return value
            first = self._under_way.get(key)
            if first is None:
                value = await self._make(key, make)
                self.keep(key, seconds, stale_seconds, value, group)
                return value
            await asyncio.wait([first])
            if first.cancelled():
                continue
            if (failure := first.exception()) is not None:
                # Each waiting caller gets a copy: a raise adds to the traceback of its exception.
                raise copy.copy(failure)
            self.hits += 1
            return first.result()

    async def _make(self, key: bytes, make: Callable[[], Awaitable[T]]) -> T:
        self.misses += 1
        first = self._under_way[key] = asyncio.get_running_loop().create_future()
        try:
            value = await make()
        except Exception as error:
            first.set_exception(error)
            first.exception()  # without a waiting caller, asyncio would log it as never retrieved
            raise
        else:
            first.set_result(value)
            return value
        finally:
            del self._under_way[key]
            first.cancel()
            # The future has the exception, whose traceback has this frame: a cycle for the garbage
            # collector, which stops all calls while it looks for them.
            del first

    def stale(self, key: bytes) -> T | None:
        """The value under `key` whose time is up, while its `stale_seconds` last."""
        kept = self._kept.get(key)
        if kept is None or kept.stale_until <= self._clock.monotonic():
            return None
        self.stale_uses += 1
        self._kept.move_to_end(key)
        return kept.value

    def has(self, key: bytes) -> bool:
        """Whether `get` would return a kept value."""
        return self._find(key) is not None

    def _find(self, key: bytes) -> _Kept[T] | None:
        kept = self._kept.get(key)
        if kept is None:
            return None
        now = self._clock.monotonic()
        if kept.until <= now:
            if kept.stale_until <= now:
                self._drop(key)
            return None
        self._kept.move_to_end(key)
        return kept

    def drop_group(self, group: str) -> None:
        """Drop the values of a group, whose keys nobody asks for any more."""
        for key in self._groups.pop(group, ()):
            self._bytes -= self._kept.pop(key).size

    def keep(
        self, key: bytes, seconds: float, stale_seconds: float, value: T, group: str = ""
    ) -> None:
        """Keep a value in place of another one. It lasts this long after it was made."""
        if key in self._kept:
            self._drop(key)
        size = len(key) + self._size_of(value) + ENTRY_BYTES
        if size > self._max_bytes or not seconds:
            return
        while self._bytes + size > self._max_bytes:
            self._drop(next(iter(self._kept)))
        made_at = self._clock.monotonic() if self._made_at is None else self._made_at(value)
        until = made_at + seconds
        self._kept[key] = _Kept(value, until, until + stale_seconds, size, group)
        self._groups.setdefault(group, set()).add(key)
        self._bytes += size

    def _drop(self, key: bytes) -> None:
        kept = self._kept.pop(key)
        self._bytes -= kept.size
        keys = self._groups[kept.group]
        keys.discard(key)
        if not keys:
            del self._groups[kept.group]
