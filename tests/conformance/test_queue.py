"""Work is claimed once, ends once, and a lost claim changes nothing, on every engine."""

import asyncio
from collections import Counter
from datetime import timedelta

import pytest

from gateway.errors import StoreError
from gateway.store.records import Changes, Failure, Mismatch, NewCall, NewEvent, Page
from gateway.store.sql import queue as queue_module
from gateway.store.sql.engine import open_store
from tests.eventually import PATIENCE_SECONDS
from tests.work import NOTHING, claim, finish, job, job_counts, message, put

WRONG = Failure(error="upstream_unavailable", detail="said 503")


def event(name: str) -> NewEvent:
    return NewEvent(id=name, type="gateway.quote.received.v1", subject="s", source="x", data={})


def call(name: str) -> NewCall:
    return NewCall(id=name, operation="gmail.send", arguments={"to": "\u2603"}, lane="gmail")


async def published(store) -> list[str]:
    await store.events.sequence(1000)
    return [each.id for each in await store.events.after(0, 1000)]


async def test_a_claim_is_one_workers_for_a_time(timed_store, clock) -> None:
    store = timed_store
    [job_id] = await put(store, message(1))

    [claimed] = await claim(store, 5, worker="first")

    assert await claim(store, 5, worker="second") == []
    found = await job(store, job_id)
    assert found == claimed.job
    assert (found.state, found.attempts, found.claim_seq) == ("processing", 1, 1)
    assert (found.claimed_by, claimed.worker) == ("first", "first")
    assert found.lease_until == clock.now() + timedelta(seconds=30)


async def test_only_what_was_asked_for_is_claimed(store) -> None:
    await put(store, message(1))
    assert await store.queue.claim("w", ["delivery", "call"], 5, 30) == []
    assert await store.queue.claim("w", ["webhook"], 0, 30) == []
    assert len(await store.queue.claim("w", ["call", "webhook"], 5, 30)) == 1


async def test_what_waited_longest_in_a_lane_is_claimed_first(timed_store, clock) -> None:
    ids = []
    for number in range(4):
        ids += await put(timed_store, message(number))
        clock.advance(1)

    claims = await claim(timed_store, 3)

    assert [each.job.id for each in claims] == ids[:3]


async def test_finished_work_is_over_with_all_its_changes(store) -> None:
    await put(store, message(1))
    [claimed] = await claim(store)
    changes = Changes(events=(event("e"),), calls=(call("c"),), webhooks=(message(2), message(1)))

    assert await finish(store, claimed, changes) is True
    assert await finish(store, claimed, changes) is False

    found = await job(store, claimed.job.id)
    assert (found.state, found.lease_until, found.error) == ("completed", None, None)
    assert await published(store) == ["e"]
    assert await job_counts(store) == {
        ("webhook", "completed"): 1,
        ("webhook", "pending"): 1,
        ("call", "pending"): 1,
    }
    [attempt] = await store.queue.attempts(claimed.job.id)
    assert (attempt.outcome, attempt.worker, attempt.claim_seq) == ("completed", "w", 1)
    [asked] = await claim(store, kind="call")
    assert await store.queue.call(asked.job.id) == call("c")
    assert await store.queue.call(claimed.job.id) is None


async def test_changes_that_cannot_be_made_leave_the_claim_as_it_was(store, monkeypatch) -> None:
    await put(store, message(1))
    [claimed] = await claim(store)

    async def fail(*_arguments: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr(queue_module, "apply_changes", fail)
    with pytest.raises(StoreError):
        await finish(store, claimed, NOTHING)
    monkeypatch.undo()

    assert await job(store, claimed.job.id) == claimed.job
    assert await store.queue.attempts(claimed.job.id) == []
    assert await finish(store, claimed, NOTHING) is True


async def test_failed_work_waits_for_its_next_attempt(timed_store, clock) -> None:
    store = timed_store
    await put(store, message(1))
    [claimed] = await claim(store)

    assert await store.queue.fail(claimed, WRONG, 120, Changes(events=(event("e"),))) is True

    found = await job(store, claimed.job.id)
    assert (found.state, found.error) == ("retryable", "upstream_unavailable")
    clock.advance(119)
    assert await claim(store) == []
    clock.advance(1)
    [again] = await claim(store)
    assert (again.job.attempts, again.job.claim_seq) == (2, 2)
    assert await published(store) == ["e"]
    [attempt] = await store.queue.attempts(claimed.job.id)
    assert (attempt.outcome, attempt.error, attempt.detail) == (
        "failed",
        "upstream_unavailable",
        "said 503",
    )


async def test_what_cannot_succeed_is_a_dead_letter_at_once(store) -> None:
    await put(store, message(1))
    [claimed] = await claim(store)

    assert await store.queue.fail(claimed, WRONG, None, NOTHING) is True

    assert (await job(store, claimed.job.id)).state == "dead_letter"
    assert await claim(store) == []


async def test_the_last_attempt_makes_a_dead_letter_whatever_is_asked(timed_store, clock) -> None:
    await put(timed_store, message(1))
    for _ in range(6):
        [claimed] = await claim(timed_store)
        await timed_store.queue.fail(claimed, WRONG, 1, NOTHING)
        clock.advance(2)

    found = await job(timed_store, claimed.job.id)
    assert (found.state, found.attempts) == ("dead_letter", 6)
    assert [each.outcome for each in await timed_store.queue.attempts(found.id)] == [
        *["failed"] * 5,
        "dead_letter",
    ]


async def test_what_was_not_begun_is_given_back_and_does_not_count(timed_store, clock) -> None:
    store = timed_store
    await put(store, message(1), message(2))
    claims = await claim(store, 2)

    assert await store.queue.release(claims, 10) == 2
    assert await store.queue.release(claims, 10) == 0
    assert await store.queue.release([]) == 0

    assert await claim(store, 2) == []
    clock.advance(10)
    again = await claim(store, 2)
    assert [(each.job.attempts, each.job.claim_seq) for each in again] == [(1, 2), (1, 2)]
    await store.queue.fail(again[0], WRONG, 0, NOTHING)
    [retried] = await claim(store, 2)
    await store.queue.release([retried])
    assert (await job(store, retried.job.id)).state == "retryable"


async def test_a_heartbeat_keeps_claims_and_reports_of_lost_ones(timed_store, clock) -> None:
    store = timed_store
    await put(store, message(1), message(2))
    kept, lost = await claim(store, 2, lease=10)
    await finish(store, lost, NOTHING)
    clock.advance(8)

    assert await store.queue.extend([kept, lost], 10) == {kept.job.id}
    assert await store.queue.extend([], 10) == frozenset()

    clock.advance(8)
    assert await store.queue.sweep(10, 1, lambda _: NOTHING) == (0, 0)


async def test_expired_claims_are_taken_back_until_there_were_too_many(timed_store, clock) -> None:
    store = timed_store
    [job_id] = await put(store, message(1))
    for number in range(1, 6):
        [claimed] = await claim(store, lease=10, worker=f"w{number}")
        clock.advance(11)
        assert await store.queue.sweep(10, 5, lambda _: NOTHING) == (1, 0)
        assert (await job(store, job_id)).error == "lease_expired"
        assert await claim(store) == []
        clock.advance(5)
    [claimed] = await claim(store, lease=10)
    clock.advance(11)
    dead = []

    def on_dead(each) -> Changes:
        dead.append((each.id, each.state, each.attempts, each.lease_until))
        return Changes(events=(event("dead"),))

    assert await store.queue.sweep(10, 5, on_dead) == (0, 1)
    assert dead == [(claimed.job.id, "dead_letter", 6, None)]
    assert (await job(store, job_id)).state == "dead_letter"
    assert await published(store) == ["dead"]
    attempts = await store.queue.attempts(job_id)
    assert [each.outcome for each in attempts] == ["lease_expired"] * 6
    assert [each.worker for each in attempts[:2]] == ["w1", "w2"]


async def test_a_sweep_takes_no_more_than_it_was_asked_for(timed_store, clock) -> None:
    await put(timed_store, *map(message, range(5)))
    await claim(timed_store, 5, lease=1)
    clock.advance(2)

    swept = [await timed_store.queue.sweep(3, 0, lambda _: NOTHING) for _ in range(3)]

    assert swept == [(3, 0), (2, 0), (0, 0)]


async def test_a_worker_that_comes_back_from_the_dead_changes_nothing(timed_store, clock) -> None:
    """R4: its claim was taken back, and another worker holds the job, or has finished it."""
    store = timed_store
    ids = await put(store, *(message(n) for n in range(10)))
    dead = await claim(store, 10, lease=10, worker="zombie")
    clock.advance(11)
    await store.queue.sweep(100, 0, lambda _: NOTHING)
    alive = await claim(store, 10, worker="alive")
    for each in alive[:5]:
        await finish(store, each, Changes(events=(event(f"alive-{each.job.id}"),)))
    before = [await job(store, job_id) for job_id in ids]
    late = Changes(events=(event("zombie"),), calls=(call("zombie"),), webhooks=(message("z"),))

    for each in dead:
        assert await finish(store, each, late) is False
        assert await store.queue.fail(each, WRONG, 1, late) is False
        assert await store.queue.fail(each, WRONG, None, late) is False
    assert await store.queue.release(dead) == 0
    assert await store.queue.extend(dead, 60) == frozenset()

    assert [await job(store, job_id) for job_id in ids] == before
    assert sorted(await published(store)) == sorted(f"alive-{e.job.id}" for e in alive[:5])
    assert len(await store.inbox.list(Page())) == 10


async def test_a_lost_claim_hides_behind_no_other_claim_of_the_same_job(timed_store, clock) -> None:
    """One worker may hold a job twice: once in vain, and once by its later claim."""
    store = timed_store
    await put(store, message(1), message(2))
    lost = await claim(store, 2, lease=10)
    clock.advance(11)
    await store.queue.sweep(10, 0, lambda _: NOTHING)
    held = await claim(store, 2)
    late, true = Changes(events=(event("late"),)), Changes(events=(event("true"),))

    done = await store.queue.finish_all([(lost[0], late), (held[0], true), (lost[1], late)])

    assert done == [False, True, False]
    assert await published(store) == ["true"]
    assert await store.queue.extend([lost[1]], 10) == frozenset()
    assert await store.queue.extend([lost[1], held[1]], 10) == {held[1].job.id}


async def test_many_workers_run_each_job_once_and_none_of_them_starves(store) -> None:
    """R6, smaller: producers put work in while 16 workers take it out."""
    done: Counter[str] = Counter()
    workers: Counter[str] = Counter()
    expected = 8 * 20
    starts = 0

    async def produce(name: int) -> None:
        for number in range(0, 20, 10):
            await put(store, *(message(f"{name}-{number + n}") for n in range(10)))

    async def consume(name: str) -> None:
        nonlocal starts
        while len(done) < expected:
            claims = await claim(store, 4, worker=name)
            starts += len(claims)
            for each in claims:
                if await finish(store, each, Changes(events=(event(each.job.id),))):
                    done[each.job.id] += 1
                    workers[name] += 1
            await asyncio.sleep(0)

    async with asyncio.timeout(PATIENCE_SECONDS):
        await asyncio.gather(
            *(produce(n) for n in range(8)), *(consume(f"w{n}") for n in range(16))
        )

    assert len(done) == starts == expected
    assert set(done.values()) == {1}
    assert len(workers) == 16
    assert await job_counts(store) == {("webhook", "completed"): expected}
    assert sorted(await published(store)) == sorted(done)


async def test_two_gateways_on_one_database_claim_each_job_once(shared_url) -> None:
    store, other = await open_store(shared_url), await open_store(shared_url)
    ids = await put(store, *map(message, range(100)))

    claims = await asyncio.gather(*(claim(each, 7) for each in (store, other) * 10))

    taken = [each.job.id for batch in claims for each in batch]
    while batch := await claim(other, 7):
        taken += [each.job.id for each in batch]
    assert sorted(taken) == ids
    for each in (store, other):
        await each.close()


async def test_a_lane_with_a_long_backlog_starves_no_other(timed_store, clock) -> None:
    """P20: who came first by far has no more than its share."""
    store = timed_store
    await put(store, *(message(n, provider="slow") for n in range(100)))
    clock.advance(60)
    await put(store, message("a", provider="other"), message("b", provider="third"))

    claims = await claim(store, 6)

    lanes = Counter(each.job.lane for each in claims)
    assert lanes == {"slow": 4, "other": 1, "third": 1}
    await put(store, *(message(f"more {n}", provider="other") for n in range(5)))
    assert Counter(each.job.lane for each in await claim(store, 3)) == {"other": 3}


async def test_a_lane_can_be_kept_to_a_number_at_once(store) -> None:
    await put(store, *(message(n, provider="slow") for n in range(10)))

    async def take() -> int:
        return len(await store.queue.claim("w", ["webhook"], 5, 30, lane_limit=3))

    assert [await take(), await take()] == [3, 0]
    await put(store, message("b", provider="other"))
    assert await take() == 1


async def test_what_was_begun_again_is_no_dead_letter_that_waits(store) -> None:
    """Else an operator would be shown it for ever, and could not redrive all."""
    await put(store, message(1), message(2))
    for claimed in await claim(store, 2):
        await store.queue.fail(claimed, WRONG, None, NOTHING)
    again, left = await store.queue.jobs(Page(), state="dead_letter", is_last=True)

    repeated = await store.queue.redrive(again.id, "ana")

    waiting = await store.queue.jobs(Page(), state="dead_letter", is_last=True)
    assert [each.id for each in waiting] == [left.id]
    assert len(await store.queue.jobs(Page(), state="dead_letter")) == 2
    [claimed] = await claim(store)
    await store.queue.fail(claimed, WRONG, None, NOTHING)
    waiting = await store.queue.jobs(Page(), state="dead_letter", is_last=True)
    assert {each.id for each in waiting} == {left.id, repeated.id}


async def test_ended_work_is_repeated_as_a_new_attempt_set(store) -> None:
    """P16: what happened stays as it was."""
    [job_id] = await put(store, message(1))
    [claimed] = await claim(store)
    await store.queue.fail(claimed, WRONG, None, NOTHING)

    repeated = await store.queue.redrive(job_id, "ana")

    assert (repeated.state, repeated.attempts, repeated.replay_of) == ("pending", 0, job_id)
    assert (repeated.actor, repeated.subject, repeated.lane) == ("ana", job_id, "avinode")
    assert (await job(store, job_id)).state == "dead_letter"
    assert (await store.inbox.find(job_id)).job == repeated
    [again] = await claim(store)
    assert again.job.id == repeated.id
    await finish(store, again, NOTHING)
    assert await store.queue.redrive(job_id, "ana") is None
    assert await store.queue.redrive(repeated.id, "ana") is None
    assert await store.queue.redrive(repeated.id, "ana", force=True) is not None


async def test_what_is_not_over_is_not_repeated(store) -> None:
    [job_id, refused] = [
        receipt.webhook_id
        for receipt in await store.inbox.receive(
            [message(1), message(2, refusals=(Mismatch(pointer="", detail="no"),))]
        )
    ]
    for is_forced in (False, True):
        assert await store.queue.redrive(job_id, "ana", force=is_forced) is None
        assert await store.queue.redrive(refused, "ana", force=is_forced) is None
        assert await store.queue.redrive("nobody", "ana", force=is_forced) is None
    [claimed] = await claim(store)
    assert await store.queue.redrive(job_id, "ana", force=True) is None
    await store.queue.fail(claimed, WRONG, 60, NOTHING)
    assert await store.queue.redrive(job_id, "ana", force=True) is None


async def test_however_many_repeat_it_there_is_one_repetition(store) -> None:
    [job_id] = await put(store, message(1))
    [claimed] = await claim(store)
    await store.queue.fail(claimed, WRONG, None, NOTHING)

    tried = await asyncio.gather(*(store.queue.redrive(job_id, f"{n}") for n in range(8)))

    assert len([each for each in tried if each is not None]) == 1
    assert await job_counts(store) == {("webhook", "dead_letter"): 1, ("webhook", "pending"): 1}


async def test_what_retention_has_emptied_is_not_repeated(timed_store, clock) -> None:
    store = timed_store
    [job_id] = await put(store, message(1))
    [claimed] = await claim(store)
    await store.queue.fail(claimed, WRONG, None, NOTHING)
    clock.advance(10)
    assert await store.inbox.prune(5, 10) == 1

    assert await store.queue.redrive(job_id, "ana", force=True) is None
    assert await job_counts(store) == {("webhook", "dead_letter"): 1}


async def test_a_repeated_webhook_does_not_make_its_calls_again(store) -> None:
    [job_id] = await put(store, message(1))
    changes = Changes(calls=(call("once"), call("twice")), events=(event("e"),))
    [claimed] = await claim(store)
    await finish(store, claimed, changes)
    await store.queue.redrive(job_id, "ana", force=True)

    [again] = await claim(store)
    await finish(store, again, changes)

    assert (await job_counts(store))["call", "pending"] == 2
    assert await published(store) == ["e"]


async def test_waiting_work_can_be_ended(store) -> None:
    first, second = await put(store, message(1), message(2))
    [claimed] = await claim(store)

    assert await store.queue.cancel(claimed.job.id, "ana") is False
    assert await store.queue.cancel(second, "ana") is True
    assert await store.queue.cancel(second, "ana") is False
    assert await store.queue.cancel("nobody", "ana") is False

    found = await job(store, second)
    assert (found.state, found.actor) == ("cancelled", "ana")
    assert await claim(store) == []
    assert await store.queue.redrive(second, "ana") is not None
    assert claimed.job.id == first


async def test_jobs_are_listed_newest_first(store) -> None:
    ids = await put(store, *(message(n, provider="ab"[n % 2]) for n in range(6)))

    page = await store.queue.jobs(Page(limit=2), kind="webhook", lane="b", state="pending")

    assert [each.id for each in page] == [ids[5], ids[3]]
    following = await store.queue.jobs(Page(limit=2, after=page[-1].id), lane="b")
    assert [each.id for each in following] == [ids[1]]
    assert await store.queue.jobs(Page(), kind="delivery") == []
    assert await store.queue.find("nobody") is None


async def test_old_calls_are_pruned_and_stay_made(timed_store, clock) -> None:
    store = timed_store
    [job_id] = await put(store, message(1))
    [claimed] = await claim(store)
    await finish(store, claimed, Changes(calls=(call("c"), call("d"))))
    [asked] = await claim(store, kind="call")
    await finish(store, asked, NOTHING)
    clock.advance(100)

    assert await store.queue.prune(200, 10) == 0
    assert await store.queue.prune(50, 10) == 1
    assert await store.queue.prune(50, 10) == 0
    assert await store.queue.find(asked.job.id) is None
    assert await store.queue.attempts(asked.job.id) == []
    assert (await job(store, job_id)).state == "completed"
    await store.queue.redrive(job_id, "ana", force=True)
    [again] = await claim(store)
    await finish(store, again, Changes(calls=(call("c"),)))
    assert (await job_counts(store))["call", "pending"] == 1


async def test_who_gives_up_waiting_harms_nobody(store) -> None:
    """A cancelled caller leaves no broken connection; in memory that would lose everything."""
    await put(store, *map(message, range(20)))
    tasks = [asyncio.create_task(claim(store, 1)) for _ in range(10)]
    for turns, task in enumerate(tasks):
        # Each leaves at another point of its work.
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)

    claims = await claim(store, 20)

    depths = await job_counts(store)
    assert sum(depths.values()) == 20
    assert depths["webhook", "processing"] >= len(claims)
