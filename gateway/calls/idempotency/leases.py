"""Extends the leases of calls with an idempotency key, and stores what had to wait."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from gateway.errors import StoreError
from gateway.observability.repeats import ERROR
from gateway.store.keyed import CallEnding, KeyedCalls

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
