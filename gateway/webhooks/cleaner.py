"""What is forgotten, and when: bodies, keys, events, ended jobs and audit records."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from msgspec import Struct

from gateway.errors import StoreError
from gateway.store.protocols import Store

_log: Final = logging.getLogger(__name__)
_DAY: Final = 86_400.0
_BATCH: Final = 500
_BREATH_SECONDS: Final = 0.05
"""Between two batches, so that the others' transactions pass."""

Prune = Callable[[float, int], Awaitable[int]]
"""Removes at most so many of what is older than so many seconds; how many."""


class Retention(Struct, frozen=True, kw_only=True):
    """For how many days things are kept."""

    body_days: float
    """Bodies and headers of messages, after their work has ended."""
    key_days: float
    """What is left of a message, and by which a repetition is known."""
    event_days: float
    """Events, once they are delivered."""
    job_days: float
    """Ended deliveries and calls, and the attempts at them."""
    audit_days: float
    """Audit records."""


class Cleaner:
    """Forgets, in small batches, what is older than the retention says."""

    def __init__(self, store: Store, retention: Retention) -> None:
        inbox, queue = store.inbox, store.queue
        self._steps: Mapping[str, tuple[Prune, float]] = {
            # Jobs before events, which are kept for as long as they are to be delivered.
            "bodies": (inbox.prune, retention.body_days),
            "keys": (inbox.prune_keys, retention.key_days),
            "jobs": (queue.prune, retention.job_days),
            "events": (store.events.prune, retention.event_days),
            "audit": (store.audit.prune, retention.audit_days),
        }

    async def work(self, every_seconds: float = 3600.0) -> None:
        """Forget now and then, until cancelled."""
        while True:
            try:
                pruned = await self.prune()
            except StoreError as error:
                _log.error("old rows cannot be removed (%s)", error.detail)
            else:
                if any(pruned.values()):
                    _log.info("removed: %s", pruned)
            await asyncio.sleep(every_seconds)

    async def prune(self) -> dict[str, int]:
        """Forget all that is old enough; how much of each. Raises `StoreError`."""
        return {
            name: await _all_of(step, days * _DAY) for name, (step, days) in self._steps.items()
        }


async def _all_of(step: Prune, seconds: float) -> int:
    total = 0
    while count := await step(seconds, _BATCH):
        total += count
        await asyncio.sleep(_BREATH_SECONDS)
    return total
