"""Looks something up once for all who need it, and again before what is known is too old."""

import asyncio
import copy
from collections.abc import Callable, Coroutine
from typing import Any, Final, Generic, TypeVar

from msgspec import Struct

from gateway.clock import Clock

RETRY_SECONDS: Final = 1.0
"""When a lookup that failed is repeated, while what is known still holds."""

K = TypeVar("K")
V = TypeVar("V")


class Known(Struct, Generic[V]):
    """What a lookup has found. Times are seconds of the monotonic clock."""

    value: V
    refresh_at: float
    """From then on the next who asks begins another lookup, and does not wait for it."""
    until: float
    """From then on the value is used by nobody."""

    def __repr__(self) -> str:
        # The value may be a token.
        return f"Known(until={self.until})"


class Lookups(Generic[K, V]):
    """The lookups under way, at most one of each key. All who need its result wait for the same.

    A lookup that fails fails for those who wait for it, each with an error of its own, and the next
    who asks begins another one. It is not cancelled with those who wait.
    """

    def __init__(
        self, find: Callable[[K], Coroutine[Any, Any, Known[V]]], clock: Clock, name: str
    ) -> None:
        """`find` looks one key up, and keeps what it finds where `current` gets it from."""
        self._find = find
        self._clock = clock
        self._name = name
        self._under_way: dict[K, asyncio.Task[Known[V]]] = {}

    async def current(self, key: K, known: Known[V] | None) -> Known[V]:
        """`known` while it holds, else the result of a lookup. Raises what `find` raises."""
        now = self._clock.monotonic()
        if known is None or known.until <= now:
            return await self.result(self.begin(key))
        if known.refresh_at <= now:
            known.refresh_at = now + RETRY_SECONDS
            self.begin(key)
        return known

    async def result(self, lookup: "asyncio.Task[Known[V]]") -> Known[V]:
        """What `lookup` finds. Raises a copy of what `find` raises."""
        await asyncio.wait([lookup])
        if not lookup.cancelled() and (error := lookup.exception()) is not None:
            # A raise adds to the traceback of its exception.
            raise copy.copy(error) from error.__cause__
        return lookup.result()

    def under_way(self, key: K) -> "asyncio.Task[Known[V]] | None":
        """The lookup of `key` that is under way."""
        return self._under_way.get(key)

    def begin(self, key: K) -> "asyncio.Task[Known[V]]":
        """The lookup of `key` that is under way, or a new one."""
        lookup = self._under_way.get(key)
        if lookup is None:
            lookup = asyncio.create_task(self._find(key), name=self._name)
            self._under_way[key] = lookup
            lookup.add_done_callback(lambda ended: self._end(key, ended))
        return lookup

    def leave(self) -> None:
        """Let those who ask from now on begin other lookups."""
        self._under_way.clear()

    async def close(self) -> None:
        """Cancel all lookups."""
        lookups = list(self._under_way.values())
        for each in lookups:
            each.cancel()
        await asyncio.gather(*lookups, return_exceptions=True)

    def _end(self, key: K, lookup: "asyncio.Task[Known[V]]") -> None:
        if self._under_way.get(key) is lookup:
            del self._under_way[key]
        if not lookup.cancelled():
            # Read the exception, or asyncio logs it when nobody waits for it.
            lookup.exception()
