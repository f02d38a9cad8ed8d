"""Events to publish, and how to wait for what they bring about."""

import asyncio
from collections.abc import Callable
from typing import Any

from gateway.events.feed import FeedLimits
from gateway.store.records import NewEvent
from gateway.store.sql.store import SqlStore
from tests.eventually import PATIENCE_SECONDS

QUOTE = "gateway.quote.received.v1"
LIMITS = FeedLimits(poll_seconds=0.02, page=20, followers=40, followers_of_one=30)


def event(number: int, event_type: str = QUOTE, **data: Any) -> NewEvent:
    return NewEvent(
        id=f"event-{number}",
        type=event_type,
        subject=f"subject-{number}",
        source="/webhooks/avinode",
        data={"number": number, **data},
    )


async def until(is_true: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not is_true():  # noqa: ASYNC110 - a condition of somebody else's making
            await asyncio.sleep(0.005)


async def publish(store: SqlStore, *events: NewEvent) -> None:
    """Publish, and return when they have their positions."""
    await store.events.append(events)
    newest = events[-1].id
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not any(each.id == newest for each in await store.events.after(0, 10_000)):  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.005)
