"""The task that publishes: it looks by itself, sooner when woken, and outlives a sick store."""

import asyncio
import logging

import pytest

from gateway.events.feed import Sequencer, SequencerConfig
from tests.unit.events.logs import FakeLog

pytestmark = pytest.mark.usefixtures("time_leaps")


NEVER = SequencerConfig(poll_seconds=3600)
SOON = SequencerConfig(poll_seconds=0.001, batch=10)


async def running(log: FakeLog, pace: SequencerConfig, seconds: float = 0.2) -> int:
    """How often it reported that something was published, in that time."""
    reported: list[None] = []
    sequencer = Sequencer(log, lambda: reported.append(None), pace)
    task = asyncio.create_task(sequencer.run())
    await asyncio.sleep(seconds)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    return len(reported)


async def test_it_places_all_there_is_in_batches_and_reports_each() -> None:
    log = FakeLog()
    log.unplaced = 25
    assert await running(log, SequencerConfig(poll_seconds=3600, batch=10)) == 3
    assert (log.unplaced, len(log.events)) == (0, 25)


async def test_it_looks_by_itself() -> None:
    log = FakeLog()
    await running(log, SOON)
    assert log.sequenced > 5


async def test_it_looks_when_woken() -> None:
    log = FakeLog()
    sequencer = Sequencer(log, lambda: None, NEVER)
    task = asyncio.create_task(sequencer.run())
    await asyncio.sleep(0.01)
    assert log.sequenced == 1
    log.unplaced = 3
    sequencer.wake()
    await asyncio.sleep(0.01)
    assert len(log.events) == 3
    task.cancel()


async def test_a_store_that_fails_is_tried_again_and_reported_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log = FakeLog()
    log.unplaced, log.failures = 4, 3
    with caplog.at_level(logging.ERROR):
        assert await running(log, SOON, 0.5) == 1
    assert len(log.events) == 4
    assert len(caplog.records) == 1
    assert "the database is away" in caplog.text


async def test_waking_does_not_hurry_a_store_that_fails() -> None:
    log = FakeLog()
    log.failures = 1000
    sequencer = Sequencer(log, lambda: None, NEVER)
    task = asyncio.create_task(sequencer.run())
    for _ in range(50):
        sequencer.wake()
        await asyncio.sleep(0.001)
    task.cancel()
    assert log.sequenced == 1
