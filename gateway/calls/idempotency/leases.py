"""Extends the leases of calls with an idempotency key while they run in this process."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from gateway.errors import StoreError
from gateway.observability.repeats import ERROR
from gateway.store.keyed import KeyedCalls

LEASE_SECONDS: Final = 30.0
"""How long a call counts as running after its process has ended."""
_EXTEND_SECONDS: Final = 10.0
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

    def _plan(self) -> None:
        loop = asyncio.get_running_loop()
        self._next = loop.call_later(self._extend_seconds, self._begin)

    def _begin(self) -> None:
        self._next = None
        if self._running:
            self._extending = asyncio.create_task(self._extend(tuple(self._running)))
            self._plan()

    async def _extend(self, running: tuple[str, ...]) -> None:
        try:
            await self._calls.extend(running, self.lease_seconds)
        except StoreError as error:
            # A repetition cannot look at the lease meanwhile, because the store does not answer.
            name = type(error).__name__
            _log.warning("leases of calls are not extended: %s", error.detail, extra={ERROR: name})
