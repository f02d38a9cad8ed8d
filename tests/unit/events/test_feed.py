"""One reader for all followers, and what each of them is sent."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import LimitExceeded
from gateway.events.cloudevents import LogPosition, TypeFilter
from gateway.events.feed import Feed, FeedLimits, RecentEvents, StreamRequest, stream_events
from gateway.store import publishing
from tests.eventually import PATIENCE_SECONDS
from tests.unit.events.logs import FakeLog, stored

pytestmark = pytest.mark.usefixtures("time_leaps")


LIMITS = FeedLimits(poll_seconds=0.01, page=10)
EVERYTHING = TypeFilter()
B_ONLY = TypeFilter.of(["b.*"])


@pytest.fixture
def log() -> FakeLog:
    return FakeLog()


@pytest.fixture
async def feed(log: FakeLog) -> AsyncIterator[Feed]:
    made = Feed(log, LIMITS)
    task = asyncio.create_task(made.run())
    yield made
    task.cancel()


async def until(is_true: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not is_true():  # noqa: ASYNC110 - a condition of somebody else's making
            await asyncio.sleep(0.002)


async def pieces_of(stream: Any, count: int) -> list[bytes]:
    async with asyncio.timeout(PATIENCE_SECONDS):
        return [await anext(stream) for _ in range(count)]


async def test_nobody_is_read_for_when_nobody_follows(feed: Feed, log: FakeLog) -> None:
    await asyncio.sleep(0.05)
    assert log.reads == 0
    with feed.seat("agent"):
        await until(lambda: feed.end is not None)
    assert feed.end is None


async def test_a_hundred_followers_cost_the_reads_of_one(feed: Feed, log: FakeLog) -> None:
    with feed.seat("agent"):
        await until(lambda: feed.end == LogPosition(0))
        log.publish(5)
        await until(lambda: feed.end is not None and feed.end.position == 5)
        before = log.reads
        for _ in range(100):
            page = await feed.since(LogPosition(0), EVERYTHING)
            assert [event.place.position for event in page.events] == [1, 2, 3, 4, 5]
        assert log.reads - before < 5


async def test_a_place_before_what_is_remembered_is_read_from_the_log(
    feed: Feed, log: FakeLog
) -> None:
    log.publish(25)
    with feed.seat("agent"):
        await until(lambda: feed.end == LogPosition(25, "event-25"))
        place, seen = LogPosition(0), []
        while place.position < 25:
            page = await feed.since(place, EVERYTHING)
            seen += [event.place.position for event in page.events]
            place = page.place
    assert seen == list(range(1, 26))


async def test_a_rare_type_is_not_looked_for_twice(feed: Feed, log: FakeLog) -> None:
    log.publish(30)
    log.publish(1, "b.c.v1")
    log.publish(30)
    with feed.seat("agent"):
        await until(lambda: feed.end is not None)
        page = await feed.since(LogPosition(0), B_ONLY)
    assert [event.place.position for event in page.events] == [31]
    assert page.place == LogPosition(61, "event-61")


async def test_a_type_that_is_rarer_than_one_read_looks_is_found(
    feed: Feed, log: FakeLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "LOOKED_AT", 25)
    log.publish(60)
    log.publish(1, "b.c.v1")
    log.publish(20)
    place, found = LogPosition(0), []
    with feed.seat("agent"):
        await until(lambda: feed.end is not None)
        while place.position < 81:
            page = await feed.since(place, B_ONLY)
            assert page.place.position > place.position
            found += [event.place.position for event in page.events]
            place = page.place
    assert found == [61]
    assert place == LogPosition(81, "event-81")


async def test_who_falls_behind_retention_is_reported(feed: Feed, log: FakeLog) -> None:
    log.publish(30)
    with feed.seat("agent"):
        await until(lambda: feed.end is not None)
        await log.prune(0, 20)
        page = await feed.since(LogPosition(5, "event-5"), EVERYTHING)
    assert page.reset is not None
    assert (page.reset.reason, page.place, page.events) == ("expired", LogPosition(20), ())


async def test_a_log_that_fails_is_read_again(feed: Feed, log: FakeLog) -> None:
    with feed.seat("agent"):
        await until(lambda: feed.end is not None)
        log.publish(3)
        log.failures = 3
        await until(lambda: feed.end is not None and feed.end.position == 3)


async def test_seats_are_counted_by_agent_and_in_total(log: FakeLog) -> None:
    feed = Feed(log, FeedLimits(followers=3, followers_of_one=2))
    with feed.seat("a"), feed.seat("a"), feed.seat("b"):
        for agent in ("a", "b", "c"):
            with pytest.raises(LimitExceeded), feed.seat(agent):
                pass
    with feed.seat("a"), feed.seat("a"):
        pass
    assert feed.followers == 0


async def test_silence_is_broken_by_a_comment(feed: Feed) -> None:
    with feed.seat("agent"):
        stream = stream_events(feed, StreamRequest(), keep_alive_seconds=0.05)
        first, second, third = await pieces_of(stream, 3)
        await stream.aclose()
    assert first == b"retry: 2000\n\n"
    assert second == third == b": keep-alive\n\n"


async def test_a_sign_of_life_carries_the_place_when_others_events_passed_by(
    feed: Feed, log: FakeLog
) -> None:
    with feed.seat("agent"):
        await until(lambda: feed.end is not None)
        stream = stream_events(feed, StreamRequest(wanted=B_ONLY), keep_alive_seconds=0.1)
        await pieces_of(stream, 1)
        log.publish(3)
        (alive,) = await pieces_of(stream, 1)
        await stream.aclose()
        cursor = LogPosition(3, "event-3").cursor(B_ONLY)
        assert alive == b": keep-alive\nid: %b\n\n" % cursor.encode()
        assert (await feed.resume(cursor, B_ONLY)).reset is None


async def test_a_busy_log_does_not_silence_a_narrow_filter(feed: Feed, log: FakeLog) -> None:
    async def publish_always() -> None:
        while True:
            log.publish(1)
            feed.wake()
            await asyncio.sleep(0.005)

    busy = asyncio.create_task(publish_always())
    with feed.seat("agent"):
        stream = stream_events(feed, StreamRequest(wanted=B_ONLY), keep_alive_seconds=0.1)
        pieces = await pieces_of(stream, 3)
        await stream.aclose()
    busy.cancel()
    assert all(piece.startswith(b": keep-alive\nid: ") for piece in pieces[1:])


@given(st.lists(st.integers(1, 30), max_size=30), st.integers(1, 20), st.integers(100, 4000))
def test_what_is_remembered_is_the_end_of_the_log_without_gaps(
    sizes: list[int], kept: int, kept_bytes: int
) -> None:
    recent = RecentEvents(LogPosition(0), kept_events=kept, kept_bytes=kept_bytes)
    end = 0
    for size in sizes:
        recent.append([stored(end + number) for number in range(1, size + 1)])
        end += size
        assert recent.end.position == end
        found = recent.since(recent.begin, 10_000)
        assert found is not None
        assert [event.place.position for event in found] == list(range(recent.begin + 1, end + 1))
        assert len(found) <= kept
        assert len(found) <= 1 or sum(len(event.text) for event in found) <= kept_bytes
        assert recent.since(recent.begin - 1, 1) is None
        assert recent.since(end, 1) == []


def test_a_gap_begins_the_memory_again() -> None:
    recent = RecentEvents(LogPosition(0))
    recent.append([stored(1), stored(2)])
    recent.append([stored(5), stored(6)])
    assert (recent.begin, recent.end.position) == (4, 6)
    assert recent.since(2, 10) is None
