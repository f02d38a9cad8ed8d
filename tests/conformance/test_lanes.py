"""Lanes after a crash, and endpoints with very many deliveries, on every engine."""

import asyncio
from collections import Counter
from uuid import uuid4

import pytest
from sqlalchemy import text

from gateway.ids import private_id
from gateway.store.records import Changes, DeliveryOutcome, Endpoint, Failure, NewEvent, NewTask
from gateway.store.sql import endpoints
from gateway.store.sql.store import SqlStore
from tests.clocks import NOW, ManualClock
from tests.work import claim, job, job_counts, message, put

BATCH = 40


def endpoint(name: str) -> Endpoint:
    return Endpoint(
        id=name,
        url="https://example.com/",
        description="",
        event_types=(),
        secret=b"s",
        previous_secret=None,
        previous_until=None,
        state="active",
        disabled_because=None,
        failing_since=None,
        created_at=NOW,
        updated_at=NOW,
    )


async def waiting(store, name: str, count: int) -> None:
    """That many deliveries wait for an endpoint."""
    await store.endpoints.add(endpoint(name))
    kind = "gateway.quote.received.v1"
    await store.events.append(
        [
            NewEvent(id=str(uuid4()), type=kind, subject="s", source="x", data={})
            for _ in range(count)
        ]
    )
    while await store.events.sequence(1000):
        pass
    assert (await job_counts(store))["delivery", "pending"] == count


class Longest:
    """The most rows that one transaction says it has changed."""

    def __init__(self, store) -> None:
        self.rows = 0
        self._write = store.database.write
        store.database.write = self._noted

    async def _noted(self, work):
        answer = await self._write(work)
        self.rows = max(self.rows, answer if isinstance(answer, int) else 0)
        return answer


async def test_what_a_dead_worker_holds_keeps_a_lane_for_half_a_lease_at_most(
    timed_store, clock
) -> None:
    store = timed_store
    await put(store, *map(message, range(4)))

    async def _claim(worker: str) -> int:
        return len(await store.queue.claim(worker, ["webhook"], 5, 30, lane_limit=2))

    assert await _claim("dead") == 2
    clock.advance(14)
    assert await _claim("alive") == 0
    clock.advance(2)
    assert await _claim("alive") == 2


async def test_a_lane_gets_no_more_jobs_than_it_has_room_for(store) -> None:
    await put(store, *(message(n, provider="slow") for n in range(6)))
    await put(store, *(message(n, provider="quick") for n in range(6, 9)))

    claims = await store.queue.claim("w", ["webhook"], 9, 30, rooms={"slow": 2, "other": 0})
    lanes = Counter(each.job.lane for each in claims)
    more = await store.queue.claim("w", ["webhook"], 9, 30, rooms={"slow": 0})

    assert lanes == {"slow": 2, "quick": 3}
    assert more == []


async def submitted(store: SqlStore, count: int, owner: str, operation: str) -> None:
    for _ in range(count):
        task = NewTask(
            job_id=private_id(NOW),
            subject=owner,
            agent="booker",
            operation=operation,
            arguments=b"{}",
            is_read=False,
        )
        assert await store.tasks.add(task, 1000) is None


async def claimed_by_owner(store: SqlStore, limit: int) -> Counter[tuple[str, str]]:
    claims = await store.queue.claim("w", ["task"], limit, 30, lane_limit=9)
    found = [await store.tasks.find(each.job.id) for each in claims]
    return Counter((each.operation, each.subject) for each in found if each is not None)


async def test_the_owners_in_a_lane_take_turns(timed_store: SqlStore, clock: ManualClock) -> None:
    """Who has submitted most, and first, does not make the others wait."""
    for number, (owner, operation) in enumerate([("a", "x"), ("b", "x"), ("b", "y"), ("a", "y")]):
        await submitted(timed_store, 20 if number in {0, 2} else 2, owner, operation)
        clock.advance(1)

    first = await claimed_by_owner(timed_store, 4)
    second = await claimed_by_owner(timed_store, 8)
    third = await claimed_by_owner(timed_store, 20)

    assert first == {(operation, owner): 1 for operation in "xy" for owner in "ab"}
    # Each has two of its lane now, or as many as there were and the other one the rest.
    assert first + second == {("x", "a"): 4, ("x", "b"): 2, ("y", "a"): 2, ("y", "b"): 4}
    # The limit is that of the lane.
    assert third == {("x", "a"): 3, ("y", "b"): 3}


async def test_an_owner_whose_work_runs_lets_the_others_go_first(timed_store: SqlStore) -> None:
    await submitted(timed_store, 9, "a", "x")
    assert await claimed_by_owner(timed_store, 3) == {("x", "a"): 3}
    await submitted(timed_store, 9, "b", "x")

    assert await claimed_by_owner(timed_store, 3) == {("x", "b"): 3}


async def test_workers_that_claim_at_once_keep_the_limit_of_a_lane(store: SqlStore) -> None:
    """None of them sees what another one is claiming."""
    for number in range(4):
        lanes = [f"{number}x", f"{number}y"]
        for lane in lanes:
            await submitted(store, 20, "a", lane)
        claims = (store.queue.claim(f"w{n}", ["task"], 8, 30, lane_limit=3) for n in range(8))
        claimed = await asyncio.gather(*claims)
        assert Counter(each.job.lane for some in claimed for each in some) == dict.fromkeys(
            lanes, 3
        )


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Transactions of few rows, so that few are many transactions."""
    monkeypatch.setattr(endpoints, "BATCH", BATCH)


async def test_disabling_an_endpoint_ends_all_that_waits_in_short_transactions(store) -> None:
    count = 3 * BATCH + 7
    await waiting(store, "a", count)
    longest = Longest(store)

    assert await store.endpoints.change("a", {"state": "disabled"}) is True

    assert await job_counts(store) == {("delivery", "cancelled"): count}
    assert 0 < longest.rows <= BATCH


async def test_an_endpoint_that_is_gone_makes_dead_letters_in_short_transactions(store) -> None:
    count = 2 * BATCH + 7
    await waiting(store, "a", count)
    [claimed] = await claim(store, kind="delivery")
    longest = Longest(store)
    gone = DeliveryOutcome(endpoint_id="a", is_success=False, disable_because="gone")

    assert await store.queue.fail(claimed, Failure(error="gone"), None, Changes(delivery=gone))
    assert await job_counts(store) == {
        ("delivery", "pending"): count - 1,
        ("delivery", "dead_letter"): 1,
    }
    await store.queue.end_undelivered("a")

    assert await job_counts(store) == {("delivery", "dead_letter"): count}
    assert longest.rows <= BATCH
    assert (await job(store, claimed.job.id)).error == "gone"


async def test_only_what_waits_for_a_disabled_endpoint_is_ended(store) -> None:
    """It may have been enabled again before that is done."""
    await waiting(store, "a", 2)
    disable = text("UPDATE endpoints SET state = 'disabled'")

    await store.queue.end_undelivered("a")
    assert await job_counts(store) == {("delivery", "pending"): 2}

    await store.database.write(lambda to, _: to.execute(disable))
    await store.queue.end_undelivered("b")
    assert await job_counts(store) == {("delivery", "pending"): 2}
    await store.queue.end_undelivered("a")
    assert await job_counts(store) == {("delivery", "dead_letter"): 2}


async def test_what_is_published_after_an_endpoint_is_enabled_again_is_delivered(store) -> None:
    await waiting(store, "a", 3)
    await store.endpoints.change("a", {"state": "disabled"})
    await store.endpoints.change("a", {"state": "active"})
    kind = "gateway.quote.received.v1"
    await store.events.append([NewEvent(id="later", type=kind, subject="s", source="x", data={})])
    await store.events.sequence(10)

    assert await job_counts(store) == {("delivery", "cancelled"): 3, ("delivery", "pending"): 1}


async def test_events_for_many_endpoints_are_published_in_short_transactions(store) -> None:
    for number in range(50):
        await store.endpoints.add(endpoint(f"e{number}"))
    kind = "gateway.quote.received.v1"
    await store.events.append(
        [NewEvent(id=str(n), type=kind, subject="s", source="x", data={}) for n in range(100)]
    )

    placed = [await store.events.sequence(500) for _ in range(4)]

    assert placed == [40, 40, 20, 0]
    assert (await job_counts(store))["delivery", "pending"] == 5000
    assert await store.events.prune(-1, 500) == 0, "none may go before it is delivered"
