"""The task that publishes events: it gives committed events their positions in the log."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from msgspec import Struct

from gateway.clock import Polls
from gateway.errors import StoreError
from gateway.store.publishing import EventLog

_log: Final = logging.getLogger(__name__)


class SequencerConfig(Struct, frozen=True, kw_only=True):
    """How often the sequencer looks."""

    poll_seconds: float = 0.25
    """Polling is required, because another process may have committed. Waking only saves time."""
    idle_poll_seconds: float = 0.0
    """The longest time between two polls while there are no events. It may be long where no other
    process commits any. At 0 it is `poll_seconds`."""
    batch: int = 500
    """Events that get their positions in one transaction."""
    longest_backoff_seconds: float = 5.0
    """The longest wait between two attempts while the store fails."""


class Sequencer:
    """Runs `EventLog.sequence` when it is woken, and every `poll_seconds`.

    Many processes may run one. The store lets only one of them work at a time.
    """

    def __init__(
        self, log: EventLog, on_published: Callable[[], None], config: SequencerConfig | None = None
    ) -> None:
        self._log = log
        self._on_published = on_published
        """Called when events got positions, so that followers need not wait for their poll."""
        self._config = config or SequencerConfig()
        self._polls = Polls(self._config.poll_seconds, self._config.idle_poll_seconds)
        self._woken = asyncio.Event()
        self.problem: str | None = None
        """Why events cannot be published, described for the operator, or None."""

    def wake(self) -> None:
        """Run now, because a transaction with events may have committed."""
        self._polls.note_work()
        self._woken.set()

    async def run(self) -> None:
        """Sequence until cancelled. When the store fails, try again with growing waits."""
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
        """Give all committed events their positions."""
        # The store may place fewer than it is asked to, so that its transactions stay short.
        while await self._log.sequence(self._config.batch):
            self._polls.note_work()
            self._on_published()

    async def _pause(self, failures: int) -> None:
        if failures:
            # Waking does not end this wait. Otherwise commits would overload a failing store.
            longest = self._config.longest_backoff_seconds
            await asyncio.sleep(min(longest, self._config.poll_seconds * 2 ** min(failures, 16)))
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(self._polls.wait_seconds()):
                await self._woken.wait()


def _report(error: StoreError, failures: int) -> None:
    """Log once per outage, not once per attempt."""
    if failures == 1:
        _log.error("events cannot be published, trying again: %s", error.detail)
