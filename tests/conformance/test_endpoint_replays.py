"""Events that are delivered to one endpoint again, by the time of the event, on every engine."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from gateway.backends.http.outbound import Outbound
from gateway.clock import SystemClock
from gateway.errors import InvalidArguments, StateConflict
from gateway.events.endpoints import EndpointRegistry, ReplayPage, ReplaySpan, replay_events
from gateway.store import publishing
from gateway.store.records import Changes, Claim, Failure, Job, NewEvent, Page
from gateway.store.sql import events as stored_events
from gateway.store.sql.store import SqlStore
from tests.delivering import HERE
from tests.unit.events.shelf import KEYRING
from tests.work import claim, finish

QUOTE, TRIP = "gateway.quote.received.v1", "gateway.trip.created.v1"
EUROS = {"properties": {"currency": {"const": "EUR"}}, "required": ["currency"]}
EVER = datetime(2020, 1, 1, tzinfo=UTC)
FAILED = Failure(error="endpoint_refuses")


@pytest.fixture
async def book(store: SqlStore) -> AsyncIterator[EndpointRegistry]:
    published: dict[str, dict[str, object]] = {name: {} for name in (QUOTE, TRIP)}
    outbound = Outbound(HERE.refusal)
    yield EndpointRegistry(store.endpoints, KEYRING, outbound, SystemClock(), published)
    await outbound.close()


async def publish(store: SqlStore, *names: str, kind: str = QUOTE, currency: str = "EUR") -> None:
    made = [
        NewEvent(id=each, type=kind, subject="s", source="/x", data={"currency": currency})
        for each in names
    ]
    await store.events.append(made)
    while await store.events.sequence(100):
        pass


async def deliver_all(store: SqlStore) -> None:
    """End all deliveries that wait."""
    while found := await claim(store, 100, kind="delivery"):
        for each in found:
            assert await finish(store, each)


async def open_events(store: SqlStore, endpoint_id: str) -> list[str]:
    """The ids of the events that wait to be delivered."""
    found = await store.endpoints.deliveries(endpoint_id, Page(1000), state="pending")
    return sorted(each.event.id for each in found)


async def replay(
    store: SqlStore,
    endpoint_id: str,
    since: datetime = EVER,
    until: datetime | None = None,
    after: str | None = None,
) -> ReplayPage:
    span = ReplaySpan(since, until, after)
    found = await replay_events(store.events, endpoint_id, span, "ada")
    assert found is not None
    return found


async def whole(store: SqlStore, endpoint_id: str) -> list[ReplayPage]:
    """Every page of a replay of everything."""
    pages = [await replay(store, endpoint_id)]
    while pages[-1].next is not None:
        pages.append(await replay(store, endpoint_id, after=pages[-1].next))
    return pages


async def test_an_endpoint_gets_what_its_subscription_would_have_had_and_no_more(
    store: SqlStore, book: EndpointRegistry
) -> None:
    """Also what it never had, because it was added or changed later."""
    every = (await book.add("http://127.0.0.1:9/")).endpoint.id
    await publish(store, "one", "two")
    await publish(store, "dollars", currency="USD")
    await publish(store, "trip", kind=TRIP)
    await deliver_all(store)
    late = await book.add("http://127.0.0.1:9/", event_types=[QUOTE], content=EUROS)
    [page] = await whole(store, late.endpoint.id)
    assert (page.started, page.skipped) == (2, 0)
    assert await open_events(store, late.endpoint.id) == ["one", "two"]
    assert await open_events(store, every) == []
    [page] = await whole(store, every)
    assert (page.started, page.skipped) == (4, 0)
    assert await open_events(store, every) == ["dollars", "one", "trip", "two"]


async def test_a_replay_is_by_the_time_of_the_event_and_says_whose_it_is(
    store: SqlStore, book: EndpointRegistry
) -> None:
    endpoint_id = (await book.add("http://127.0.0.1:9/")).endpoint.id
    for name in ("before", "first", "last", "after"):
        await publish(store, name)
        await asyncio.sleep(0.002)
    await deliver_all(store)
    times = {each.id: each.time for each in await store.events.after(0, 10)}
    delivered = {
        each.event.id: each for each in await store.endpoints.deliveries(endpoint_id, Page())
    }
    page = await replay(store, endpoint_id, times["first"], times["after"])
    assert (page.started, page.next) == (2, None)
    assert await open_events(store, endpoint_id) == ["first", "last"]
    again = {each.event.id: each for each in await store.endpoints.deliveries(endpoint_id, Page())}
    assert again["first"].id == delivered["first"].id
    new = again["first"].job
    assert (new.replay_of, new.actor) == (delivered["first"].job.id, "ada")
    assert (new.attempts, new.max_attempts) == (0, 10)
    assert again["before"].job == delivered["before"].job


async def test_what_waits_or_runs_is_not_delivered_twice(
    store: SqlStore, book: EndpointRegistry
) -> None:
    endpoint_id = (await book.add("http://127.0.0.1:9/")).endpoint.id
    await publish(store, *(f"{number}" for number in range(4)))
    dead, retried, running = await claim(store, 3, kind="delivery")
    await fail(store, dead, None)
    await fail(store, retried, 60.0)
    [page] = await whole(store, endpoint_id)
    assert (page.started, page.skipped) == (1, 3)
    states = {each.id: each.job for each in await store.endpoints.deliveries(endpoint_id, Page())}
    found = [states[each.job.subject].state for each in (dead, retried, running)]
    assert found == ["pending", "retryable", "processing"]
    assert states[dead.job.subject].replay_of == dead.job.id
    assert sum(job.replay_of is None for job in states.values()) == 3


async def fail(store: SqlStore, held: Claim, seconds: float | None) -> None:
    assert await store.queue.fail(held, FAILED, seconds, Changes())


async def test_no_event_comes_twice_in_one_replay(
    store: SqlStore, book: EndpointRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that is asked for again finds what was delivered since the replay began."""
    monkeypatch.setattr(stored_events, "REPLAYED_AT_ONCE", 2)
    endpoint_id = (await book.add("http://127.0.0.1:9/", event_types=[QUOTE])).endpoint.id
    for number in range(4):
        await publish(store, f"{number}")
        await publish(store, f"trip {number}", kind=TRIP)
    await publish(store, "4")
    await deliver_all(store)
    first = await replay(store, endpoint_id)
    assert (first.started, await open_events(store, endpoint_id)) == (2, ["0", "1"])
    await deliver_all(store)
    second = await replay(store, endpoint_id, after=first.next)
    assert await open_events(store, endpoint_id) == ["2", "3"]
    await deliver_all(store)
    again = await replay(store, endpoint_id, after=first.next)
    assert (again.started, again.skipped, again.next) == (0, 2, second.next)
    third = await replay(store, endpoint_id, after=again.next)
    assert await open_events(store, endpoint_id) == ["4"]
    assert {each.replay for each in (first, second, again, third)} == {first.replay}
    assert third.next is None
    await deliver_all(store)
    assert [page.started for page in await whole(store, endpoint_id)] == [2, 2, 1]


async def test_a_page_looks_at_a_limited_number_of_events(
    store: SqlStore, book: EndpointRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "LOOKED_AT", 3)
    endpoint_id = (await book.add("http://127.0.0.1:9/", event_types=[QUOTE])).endpoint.id
    await publish(store, *(f"trip {number}" for number in range(7)), kind=TRIP)
    await publish(store, "quote")
    await deliver_all(store)
    pages = await whole(store, endpoint_id)
    assert [page.started for page in pages] == [0, 0, 1]
    assert await open_events(store, endpoint_id) == ["quote"]


async def test_replays_and_redrives_at_once_deliver_each_event_once(
    store: SqlStore, book: EndpointRegistry
) -> None:
    endpoint_id = (await book.add("http://127.0.0.1:9/")).endpoint.id
    await publish(store, *(f"{number}" for number in range(20)))
    for held in await claim(store, 100, kind="delivery"):
        await fail(store, held, None)
    dead = [each.job.id for each in await store.endpoints.deliveries(endpoint_id, Page())]
    late = (await book.add("http://127.0.0.1:9/")).endpoint.id
    asked = [replay(store, each) for each in (endpoint_id, late) for _ in range(4)]
    await asyncio.gather(*asked, *(store.queue.redrive(each, "bob") for each in dead))
    for each in (endpoint_id, late):
        assert len(await open_events(store, each)) == 20
    waiting = await jobs_of(store, "pending")
    assert len(waiting) == 40
    assert len({job.subject for job in waiting}) == 40


async def jobs_of(store: SqlStore, state: str) -> list[Job]:
    found = await store.queue.jobs(Page(1000), kind="delivery")
    return [each for each in found if each.state == state]


async def test_what_cannot_be_replayed_says_why(store: SqlStore, book: EndpointRegistry) -> None:
    now = SystemClock().now()
    endpoint_id = (await book.add("http://127.0.0.1:9/")).endpoint.id
    page = await replay(store, endpoint_id)
    assert (page.started, page.skipped, page.next) == (0, 0, None)
    assert await replay_events(store.events, "none", ReplaySpan(EVER, None, None), "ada") is None
    for since, until in ((now, now), (now, now - timedelta(days=1))):
        with pytest.raises(InvalidArguments) as caught:
            await replay(store, endpoint_id, since, until)
        assert [each.pointer for each in caught.value.violations] == ["/until"]
    for after in ("", "x", "e30=", "é", "eyJyZXBsYXkiOiIifQ=="):
        with pytest.raises(InvalidArguments) as caught:
            await replay(store, endpoint_id, after=after)
        assert [each.pointer for each in caught.value.violations] == ["/after"]
    await book.disable(endpoint_id)
    with pytest.raises(StateConflict, match="enable it"):
        await replay(store, endpoint_id)


async def test_a_range_that_begins_before_the_log_is_refused_with_its_beginning(
    store: SqlStore, book: EndpointRegistry
) -> None:
    endpoint_id = (await book.add("http://127.0.0.1:9/", event_types=[TRIP])).endpoint.id
    await publish(store, "one", "two", "three")
    [page] = await whole(store, endpoint_id)
    assert page.started == 0, "nothing was removed from the log yet"
    assert await store.events.prune(0, 1) == 1
    [first, _] = await store.events.after(0, 10)
    with pytest.raises(InvalidArguments) as caught:
        await replay(store, endpoint_id)
    [violation] = caught.value.violations
    assert violation.pointer == "/since"
    said = violation.detail.rpartition(" ")[2]
    beginning = datetime.fromisoformat(said)
    assert timedelta() <= first.time - beginning < timedelta(milliseconds=1)
    await replay(store, endpoint_id, beginning)


async def test_an_event_whose_delivery_was_forgotten_is_delivered_anew(
    store: SqlStore, book: EndpointRegistry
) -> None:
    endpoint_id = (await book.add("http://127.0.0.1:9/")).endpoint.id
    await publish(store, "one")
    await deliver_all(store)
    assert await store.queue.prune(0, 10) == 1
    await replay(store, endpoint_id)
    [delivery] = await store.endpoints.deliveries(endpoint_id, Page())
    assert (delivery.event.id, delivery.job.state) == ("one", "pending")
    assert (delivery.job.replay_of, delivery.job.actor) == (None, "ada")
