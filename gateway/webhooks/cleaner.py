"""Deletes old data: webhooks, events, ended jobs, keys, limits, subscriptions, audit records."""

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
_PAUSE_SECONDS: Final = 0.05
"""The pause between two batches, so that other transactions can run."""

Prune = Callable[[float, int], Awaitable[int]]
"""Deletes rows older than the first argument in seconds, at most as many as the second. Returns how
many."""


class Retention(Struct, frozen=True, kw_only=True):
    """How many days data is kept."""

    body_days: float
    """For bodies and headers of webhooks, after their jobs have ended."""
    key_days: float
    """For the rest of a webhook, with its id by which a duplicate is detected."""
    event_days: float
    """For events, once they are delivered."""
    job_days: float
    """For ended deliveries and calls, with their attempts."""
    audit_days: float
    """For audit records."""
    idempotency_key_days: float = 1.0
    """For idempotency keys, with the answers of their calls."""
    task_days: float = 1.0
    """For results of calls that became jobs, and for questions without an answer. The jobs are kept
    for `job_days`."""
    subscription_days: float = 1.0
    """For subscriptions of MCP sessions that have no stream."""


class Cleaner:
    """Deletes data that is older than its retention, in small batches."""

    def __init__(self, store: Store, retention: Retention) -> None:
        inbox, queue = store.inbox, store.queue
        self._steps: Mapping[str, tuple[Prune, float]] = {
            # Jobs before events: an event is kept while a job must deliver it.
            "bodies": (inbox.prune, retention.body_days),
            "keys": (inbox.prune_keys, retention.key_days),
            "unanswered": (store.tasks.end_unanswered, retention.task_days),
            "tasks": (store.tasks.prune, retention.task_days),
            "jobs": (queue.prune, retention.job_days),
            "events": (store.events.prune, retention.event_days),
            # A counter says by itself when it holds nothing any more.
            "limits": (store.usage.prune, 0.0),
            "idempotency keys": (store.keyed_calls.prune, retention.idempotency_key_days),
            "subscriptions": (store.subscriptions.prune, retention.subscription_days),
            "audit": (store.audit.prune, retention.audit_days),
        }

    async def work(self, every_seconds: float = 3600.0) -> None:
        """Delete old data every `every_seconds`, until cancelled."""
        while True:
            pruned = await self.prune()
            if any(pruned.values()):
                _log.info("removed: %s", pruned)
            await asyncio.sleep(every_seconds)

    async def prune(self) -> dict[str, int]:
        """Delete all old data. Returns the numbers of rows. A step that fails ends no other one."""
        pruned = {}
        for name, (step, days) in self._steps.items():
            try:
                pruned[name] = await _prune_all(step, days * _DAY)
            except StoreError as error:
                _log.error("old rows cannot be removed: %s (%s)", name, error.detail)
        return pruned


async def _prune_all(step: Prune, seconds: float) -> int:
    total = 0
    while count := await step(seconds, _BATCH):
        total += count
        await asyncio.sleep(_PAUSE_SECONDS)
    return total
