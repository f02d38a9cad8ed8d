"""The task that publishes: it gives committed events their places in the log."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from msgspec import Struct

from gateway.errors import StoreError
from gateway.store.protocols import EventLog

_log: Final = logging.getLogger(__name__)


class SequencerConfig(Struct, frozen=True, kw_only=True):
    """How often the sequencer looks."""

    poll_seconds: float = 0.25
    """Looking is what counts: another process may have committed. Waking only makes it sooner."""
    batch: int = 500
    """Events that get their positions in one transaction."""
    longest_backoff_seconds: float = 5.0
    """Between two attempts while the store fails."""


class Sequencer:
    """Runs `EventLog.sequence` when it is woken, and by itself every `poll_seconds`.

    Any number of processes may run one: the store lets one at a time through.
    """

    def __init__(
        self, log: EventLog, on_published: Callable[[], None], config: SequencerConfig | None = None
    ) -> None:
        self._log = log
        self._on_published = on_published
        """Called when events got positions, so that followers need not wait for their poll."""
        self._config = config or SequencerConfig()
        self._woken = asyncio.Event()
        self.problem: str | None = None
        """Why events are not being published, in words for the operator, or None."""

    def wake(self) -> None:
        """Look now: something was committed that may have published events."""
        self._woken.set()

    async def run(self) -> None:
        """Sequence until cancelled. A store that fails is tried again, ever more slowly."""
        failures = 0
        while True:
            self._woken.clear()
            try:
                await self._drain()
                failures = 0
                self.problem = None
            except StoreError as error:
                failures += 1
                self.problem = "Events cannot be published."
                _report(error, failures)
            await self._pause(failures)

    async def _drain(self) -> None:
        """Give every event that is committed by now its position."""
        # The store may place fewer than it is asked to, so that its transactions stay short.
        while await self._log.sequence(self._config.batch):
            self._on_published()

    async def _pause(self, failures: int) -> None:
        if failures:
            # Not cut short by being woken: commits would otherwise overload a failing store.
            longest = self._config.longest_backoff_seconds
            await asyncio.sleep(min(longest, self._config.poll_seconds * 2 ** min(failures, 16)))
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(self._config.poll_seconds):
                await self._woken.wait()


def _report(error: StoreError, failures: int) -> None:
    """Once per outage, not once per attempt."""
    if failures == 1:
        _log.error("events cannot be published, trying again: %s", error.detail)
