"""One order for what many transactions publish, on every engine, and each delivery once."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack
from datetime import datetime
from functools import partial
from typing import Any

import msgspec
import pytest
from sqlalchemy import select, update
from sqlmodel.ext.asyncio.session import AsyncSession

from gateway.store.publishing import EventLog
from gateway.store.records import Delivery, DeliveryOutcome, Endpoint, NewEvent, Page, StoredEvent
from gateway.store.sql.endpoints import note_outcome
from gateway.store.sql.engine import open_store
from gateway.store.sql.events import insert_events
from gateway.store.sql.queue import redrive_job
from gateway.store.sql.store import SqlStore
from gateway.store.tables import EVENTS, JOBS
from tests.clocks import NOW, ManualClock
from tests.conformance.waiting import blocked
from tests.eventually import PATIENCE_SECONDS


@pytest.fixture
async def store(store_url: str, clock: ManualClock) -> AsyncIterator[SqlStore]:
    opened = await open_store(store_url, clock=clock)
    yield opened
    await opened.close()


@pytest.fixture
def log(store: SqlStore) -> EventLog:
    return store.events


def event(number: int, **changes: Any) -> NewEvent:
    plain = NewEvent(
        id=f"event-{number}",
        type="gateway.quote.received.v1",
        subject=f"quote-{number}",
        source="/webhooks/avinode",
        data={"number": number, "text": "\u0000 \u2603"},
        webhook_id=None,
    )
    return msgspec.structs.replace(plain, **changes)


def endpoint(name: str, *types: str, state: Any = "active") -> Endpoint:
    return Endpoint(
        id=name,
        url=f"https://{name}.example/hook",
        description="",
        event_types=types,
        secret=b"\x00sealed",
        previous_secret=None,
        previous_until=None,
        state=state,
        disabled_because=None,
        failing_since=None,
        created_at=NOW,
        updated_at=NOW,
    )


async def ids_after(log: EventLog, position: int = 0, types: tuple[str, ...] = ()) -> list[str]:
    return [each.id for each in await log.after(position, 1000, types)]


async def end_jobs(store: SqlStore, state: str) -> None:
    async def end(connection: Any, now: Any) -> None:
        await connection.execute(update(JOBS).values(state=state))

    await store.database.write(end)


async def test_an_empty_log_has_neither_events_nor_bounds(log: EventLog) -> None:
    assert await log.bounds() == (1, 0)
    assert await log.sequence(10) == 0
    assert await log.after(0, 10) == []
    assert await log.prune(0, 10) == 0


async def test_what_has_no_position_is_not_published(log: EventLog) -> None:
    await log.append([event(1), event(2)])
    assert await log.after(0, 10) == []
    assert await log.sequence(1) == 1
    assert await ids_after(log) == ["event-1"]
    assert await log.sequence(10) == 1
    assert await log.bounds() == (1, 2)
    assert await log.sequence(10) == 0


async def test_an_event_is_read_as_it_was_written(log: EventLog, store: SqlStore) -> None:
    await log.append([event(1, subject="", webhook_id="w")])
    await log.sequence(10)
    (read,) = await log.after(0, 10)
    assert (read.position, read.id, read.subject, read.webhook_id) == (1, "event-1", "", "w")
    assert read.data == {"number": 1, "text": "\u0000 \u2603"}
    assert read.time.tzinfo is not None


async def test_an_id_is_published_once(log: EventLog) -> None:
    await log.append([event(1)])
    await log.append([event(1, subject="other"), event(2), event(2, subject="other")])
    await log.sequence(10)
    await log.append([event(1, subject="later")])
    assert await log.sequence(10) == 0
    assert [each.subject for each in await log.after(0, 10)] == ["quote-1", "quote-2"]
    assert await log.bounds() == (1, 2)


async def test_more_than_one_statement_takes_are_numbered_in_order(log: EventLog) -> None:
    await log.append([event(number) for number in range(1, 1203)])
    assert [await log.sequence(500) for _ in range(4)] == [500, 500, 202, 0]
    assert await ids_after(log) == [f"event-{number}" for number in range(1, 1001)]
    assert await ids_after(log, 1000) == [f"event-{number}" for number in range(1001, 1203)]


async def test_a_filter_takes_types_and_prefixes_to_the_letter(log: EventLog) -> None:
    types = ["gateway.quote.received.v1", "gateway.quote.expired.v1", "gateway.Quote.x.v1", "a%b_c"]
    await log.append([event(number, type=each) for number, each in enumerate(types)])
    await log.sequence(10)
    assert await ids_after(log, 0, ("gateway.quote.*",)) == ["event-0", "event-1"]
    assert await ids_after(log, 0, ("gateway.quote.expired.v1", "a%*")) == ["event-1", "event-3"]
    assert await ids_after(log, 0, ("a_b*", "gateway.quote")) == []
    assert len(await ids_after(log, 0, ("*",))) == 4


async def test_commits_in_any_order_never_pass_a_reader(store: SqlStore, log: EventLog) -> None:
    """R14: transactions stay open while others commit; a reader that follows misses none."""
    numbers = [range(writer * 12, writer * 12 + 12) for writer in range(8)]
    every = {f"event-{number}" for writer in numbers for number in writer}
    async with asyncio.timeout(PATIENCE_SECONDS), asyncio.TaskGroup() as tasks:
        sequencers = [tasks.create_task(sequence_for_ever(log)) for _ in range(2)]
        following = tasks.create_task(follow(log, len(every)))
        await asyncio.gather(*(publish_slowly(store, writer) for writer in numbers))
        seen = await following
        for sequencer in sequencers:
            sequencer.cancel()
    assert [each.position for each in seen] == list(range(1, len(every) + 1))
    assert {each.id for each in seen} == every


async def publish_slowly(store: SqlStore, numbers: Iterable[int]) -> None:
    async def write(connection: Any, now: Any, number: int) -> None:
        await insert_events(connection, [event(number)], now)
        # The row has its `seq` by now, and commits after others that got a later one.
        for _ in range((number * 7) % 13):
            await asyncio.sleep(0)

    for number in numbers:
        await store.database.write(partial(write, number=number))


async def sequence_for_ever(log: EventLog) -> None:
    while True:
        await log.sequence(5)
        await asyncio.sleep(0)


async def follow(log: EventLog, count: int) -> list[StoredEvent]:
    seen: list[StoredEvent] = []
    while len(seen) < count:
        seen += await log.after(len(seen), 7)
        await asyncio.sleep(0)
    return seen


@pytest.mark.postgres
async def test_a_transaction_held_open_is_numbered_when_it_commits(migrated_url: str) -> None:
    """The naive cursor on `seq` fails here: event-1 would lie behind a reader of event-2."""
    async with AsyncExitStack() as stack:
        store = await open_store(migrated_url)
        stack.push_async_callback(store.close)
        log = store.events
        inserted, may_commit = asyncio.Event(), asyncio.Event()

        async def hold(connection: Any, now: Any) -> None:
            await insert_events(connection, [event(1)], now)
            inserted.set()
            await may_commit.wait()

        held = asyncio.create_task(store.database.write(hold))
        await inserted.wait()
        await log.append([event(2)])
        assert await log.sequence(10) == 1
        assert await ids_after(log) == ["event-2"]
        may_commit.set()
        await held
        assert await log.sequence(10) == 1
        assert await ids_after(log, 1) == ["event-1"]
        rows = await store.database.read(_seqs)
        assert rows["event-1"] < rows["event-2"]


async def _seqs(connection: Any) -> dict[str, int]:
    found = await connection.execute(select(EVENTS.c.id, EVENTS.c.seq))
    return {row.id: row.seq for row in found}


@pytest.mark.postgres
async def test_two_processes_number_each_event_once(migrated_url: str) -> None:
    async with AsyncExitStack() as stack:
        stores = [await open_store(migrated_url) for _ in range(3)]
        for store in stores:
            stack.push_async_callback(store.close)
        await stores[0].endpoints.add(endpoint("one"))
        await stores[0].events.append([event(number) for number in range(100)])
        while any(await asyncio.gather(*(store.events.sequence(3) for store in stores))):
            pass
        positions = [each.position for each in await stores[0].events.after(0, 1000)]
        assert positions == list(range(1, 101))
        assert len(await stores[0].endpoints.deliveries("one", Page(limit=1000))) == 100


async def test_each_active_endpoint_gets_what_it_asked_for_once(
    store: SqlStore, log: EventLog
) -> None:
    await store.endpoints.add(endpoint("all"))
    await store.endpoints.add(endpoint("quotes", "gateway.quote.*"))
    await store.endpoints.add(endpoint("trips", "gateway.trip.created.v1"))
    await store.endpoints.add(endpoint("off", state="disabled"))
    await log.append([event(1), event(2, type="gateway.trip.created.v1"), event(3)])
    for _ in range(3):
        await log.sequence(2)
    found = {
        name: [each.event.id for each in reversed(await store.endpoints.deliveries(name, Page()))]
        for name in ("all", "quotes", "trips", "off")
    }
    assert {name: sorted(ids) for name, ids in found.items()} == {
        "all": ["event-1", "event-2", "event-3"],
        "quotes": ["event-1", "event-3"],
        "trips": ["event-2"],
        "off": [],
    }


async def test_a_delivery_is_a_job_in_the_lane_of_its_endpoint(
    store: SqlStore, log: EventLog
) -> None:
    await store.endpoints.add(endpoint("all"))
    await log.append([event(1)])
    await log.sequence(10)
    (delivery,) = await store.endpoints.deliveries("all", Page())
    assert isinstance(delivery, Delivery)
    job = delivery.job
    assert (job.kind, job.subject, job.lane) == ("delivery", delivery.id, "all")
    assert (job.state, job.attempts, job.max_attempts, job.claim_seq) == ("pending", 0, 10, 0)
    assert delivery.event.position == 1
    assert await store.endpoints.delivery(delivery.id) == delivery
    assert await store.endpoints.delivery("nothing") is None


async def test_deliveries_come_in_pages_and_by_state(store: SqlStore, log: EventLog) -> None:
    await store.endpoints.add(endpoint("all"))
    await log.append([event(number) for number in range(5)])
    await log.sequence(10)
    first = await store.endpoints.deliveries("all", Page(limit=3))
    rest = await store.endpoints.deliveries("all", Page(limit=3, after=first[-1].id))
    assert len({each.id for each in (*first, *rest)}) == 5
    assert len(rest) == 2
    assert len(await store.endpoints.deliveries("all", Page(), state="pending")) == 5
    assert await store.endpoints.deliveries("all", Page(), state="completed") == []


async def test_retention_removes_the_oldest_but_neither_the_newest_nor_a_hole(
    store: SqlStore, log: EventLog, clock: ManualClock
) -> None:
    await log.append([event(number) for number in range(1, 6)])
    await log.sequence(10)
    assert await log.prune(3600, 10) == 0
    assert await log.prune(-3600, 2) == 2
    assert await log.bounds() == (3, 5)
    assert await log.prune(-3600, 10) == 2
    assert await log.bounds() == (5, 5)
    assert await log.prune(-3600, 10) == 0
    await log.append([event(6)])
    await log.sequence(10)
    assert await log.bounds() == (5, 6)


@pytest.mark.parametrize("state", ["pending", "retryable"])
async def test_what_is_still_to_be_delivered_is_kept_and_all_after_it(
    store: SqlStore, log: EventLog, state: str
) -> None:
    await log.append([event(1)])
    await log.sequence(10)
    await store.endpoints.add(endpoint("all"))
    await log.append([event(2), event(3)])
    await log.sequence(10)
    await end_jobs(store, state)
    assert await log.prune(-3600, 10) == 1
    assert await log.bounds() == (2, 3)
    await end_jobs(store, "dead_letter")
    assert await log.prune(-3600, 10) == 1
    assert await log.bounds() == (3, 3)
    assert [each.event.id for each in await store.endpoints.deliveries("all", Page())] == [
        "event-3"
    ]


async def test_a_delivery_that_is_redriven_at_the_same_moment_is_kept(
    store: SqlStore, log: EventLog
) -> None:
    """Its row is waited for, and then looked at as it is after that."""
    await store.endpoints.add(endpoint("all"))
    await log.append([event(1), event(2)])
    await log.sequence(10)
    await end_jobs(store, "dead_letter")
    every = await store.endpoints.deliveries("all", Page())
    (oldest,) = [each for each in every if each.event.id == "event-1"]
    is_redriven, may_commit = asyncio.Event(), asyncio.Event()

    async def redrive(session: AsyncSession, now: datetime) -> None:
        assert await redrive_job(session, now, oldest.job.id, "ada", is_forced=False)
        is_redriven.set()
        await may_commit.wait()

    redriving = asyncio.create_task(store.database.change(redrive))
    await is_redriven.wait()
    pruning = asyncio.create_task(log.prune(-3600, 10))
    await blocked(store, pruning)
    may_commit.set()
    assert await pruning == 0
    await redriving
    assert await store.endpoints.delivery(oldest.id) is not None
    assert await log.bounds() == (1, 2)


async def test_an_endpoint_is_kept_changed_and_removed(store: SqlStore, log: EventLog) -> None:
    endpoints = store.endpoints
    await endpoints.add(endpoint("one", "gateway.*"))
    assert await endpoints.find("one") == endpoint("one", "gateway.*")
    assert await endpoints.find("two") is None
    assert await endpoints.change("one", {"description": "CRM", "event_types": ("a.b", "c.*")})
    assert not await endpoints.change("two", {"description": "CRM"})
    (changed,) = await endpoints.all()
    assert (changed.description, changed.event_types) == ("CRM", ("a.b", "c.*"))
    await endpoints.change("one", {"event_types": ()})
    await log.append([event(1)])
    await log.sequence(10)
    (delivery,) = await endpoints.deliveries("one", Page())
    assert await endpoints.remove("one")
    assert not await endpoints.remove("one")
    cancelled = await endpoints.delivery(delivery.id)
    assert cancelled is not None
    assert cancelled.job.state == "cancelled"
    await log.append([event(2)])
    await log.sequence(10)
    assert await endpoints.all() == []


async def test_outcomes_begin_and_end_a_row_of_failures(store: SqlStore) -> None:
    await store.endpoints.add(endpoint("one"))

    async def note(is_success: bool, because: str | None = None) -> Endpoint:
        outcome = DeliveryOutcome(endpoint_id="one", is_success=is_success, disable_because=because)
        await store.database.write(lambda to, now: note_outcome(to, outcome, now))
        found = await store.endpoints.find("one")
        assert found is not None
        return found

    assert (await note(True)).failing_since is None
    since = (await note(False)).failing_since
    assert since is not None
    assert (await note(False)).failing_since == since
    assert (await note(True)).failing_since is None
    disabled = await note(False, "gone")
    assert (disabled.state, disabled.disabled_because) == ("disabled", "gone")
    assert (await note(False, "failing")).disabled_because == "gone"
