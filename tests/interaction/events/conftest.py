"""A log with its sequencer and its feed, for the site under test."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.events.feed import Feed, FeedLimits, Sequencer, SequencerConfig
from gateway.store.publishing import SubscriptionStore
from gateway.store.sql.engine import open_store
from gateway.store.sql.store import SqlStore
from tests.interaction.events.published import LIMITS


@pytest.fixture
def limits() -> FeedLimits:
    return LIMITS


@pytest.fixture
async def store(tmp_path: Any) -> AsyncIterator[SqlStore]:
    opened = await open_store(f"sqlite:///{tmp_path}/gateway.db")
    yield opened
    await opened.close()


@pytest.fixture
def subscriptions(store: SqlStore) -> SubscriptionStore:
    return store.subscriptions


@pytest.fixture
async def feed(store: SqlStore, limits: FeedLimits) -> AsyncIterator[Feed]:
    """A feed over a real log, with its tasks running."""
    made = Feed(store.events, limits)
    sequencer = Sequencer(store.events, made.wake, SequencerConfig(poll_seconds=0.01))
    tasks = [asyncio.create_task(made.run()), asyncio.create_task(sequencer.run())]
    yield made
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
