"""What the database refuses ends an attempt, and stops no other work, on every engine."""

import asyncio
import secrets
from contextlib import asynccontextmanager

import pytest
from sqlalchemy import text

from gateway.errors import NotStored, StoreError
from gateway.jobs.outcome import Finished
from gateway.jobs.pace import Pace
from gateway.jobs.together import Together
from gateway.jobs.worker import Worker
from gateway.store.records import Changes, NewEvent
from gateway.store.refused import StoreRefused
from gateway.webhooks.arrivals import Arrivals
from tests.eventually import eventually
from tests.work import claim, job, message, put

QUICK = Pace(poll_seconds=0.02, sweep_seconds=0.05)
POISON = secrets.token_urlsafe(3000)
_TOO_LONG = "BEFORE INSERT ON {} WHEN length(new.{}) > 3000 BEGIN SELECT RAISE(ABORT, 'no'); END"


async def refuse_long(store, table, column) -> None:
    """Have the database refuse long values of a column, as an index or a constraint may."""
    name = f"poison_{table}_{column}"
    statement = f"CREATE TRIGGER {name} {_TOO_LONG.format(table, column)}"
    if store.database.is_postgres:
        # A B-tree's entry has at most 2,704 bytes: SQLSTATE 54000.
        statement = f"CREATE INDEX {name} ON {table} ({column})"
    await store.database.write(lambda to, _: to.execute(text(statement)))


def event(job_id, subject="s") -> NewEvent:
    return NewEvent(
        id=f"e-{job_id}", type="gateway.quote.received.v1", subject=subject, source="x", data={}
    )


async def run(claim) -> Finished:
    """A message of the provider `poison` has an outcome that cannot be stored."""
    subject = POISON if claim.job.lane == "poison" else "fine"
    return Finished(changes=Changes(events=(event(claim.job.id, subject),)))


@asynccontextmanager
async def working(store, on_dead=lambda _job, _failure: Changes()):
    worker = Worker(
        store.queue,
        {"webhook": run},
        name="w",
        on_dead=on_dead,
        on_settled=lambda _changes: None,
        pace=QUICK,
    )
    task = asyncio.create_task(worker.work())
    try:
        yield worker
    finally:
        worker.stop()
        await task


async def states(store, ids) -> set[str]:
    return {(await job(store, each)).state for each in ids}


async def test_an_outcome_that_is_refused_ends_its_attempt_and_no_other_ones(store) -> None:
    await refuse_long(store, "events", "subject")
    poison = await put(store, *(message(f"p{n}", provider="poison") for n in range(33)))
    plain = await put(store, *map(message, range(50)))

    async with working(store) as worker:

        async def _all_ended() -> bool | None:
            return (await store.queue.depths()) == {
                ("webhook", "completed"): 50,
                ("webhook", "failed"): 33,
            } or None

        await eventually(_all_ended)
        assert worker.problem is None

    assert await states(store, poison) == {"failed"}
    assert await states(store, plain) == {"completed"}
    [attempt] = await store.queue.attempts(poison[0])
    assert attempt.error == "store_refused"
    code = "54000" if store.database.is_postgres else "SQLITE_CONSTRAINT"
    assert code in attempt.detail
    assert POISON not in attempt.detail


async def test_the_last_attempt_of_a_poison_message_is_a_dead_letter(store) -> None:
    """Also when the announcement of that is refused."""
    await refuse_long(store, "events", "subject")
    [job_id] = await put(store, message(1, provider="poison"))
    last = text("UPDATE jobs SET attempts = 5")
    await store.database.write(lambda to, _: to.execute(last))

    async with working(store, lambda j, _: Changes(events=(event(f"dead-{j.id}", POISON),))):

        async def _dead() -> bool | None:
            return (await job(store, job_id)).state == "dead_letter" or None

        await eventually(_dead)

    assert (await job(store, job_id)).error == "store_refused"


async def test_a_sweep_is_not_stopped_by_an_announcement_that_is_refused(timed_store, clock):
    store = timed_store
    await refuse_long(store, "events", "subject")
    ids = await put(store, message(1), message(2))
    await store.database.write(lambda to, _: to.execute(text("UPDATE jobs SET attempts = 5")))
    await claim(store, 2)
    clock.advance(31)

    def _on_dead(dead):
        return Changes(events=(event(dead.id, POISON if dead.id == ids[0] else "fine"),))

    assert await store.queue.sweep(500, 1.0, _on_dead) == (0, 2)

    assert await states(store, ids) == {"dead_letter"}
    assert await store.events.sequence(10) == 1


async def test_a_message_that_is_refused_takes_no_other_one_with_it(store) -> None:
    await refuse_long(store, "webhooks", "event_type")
    arrivals = Arrivals(store.inbox)
    sent = [message(n, event_type=POISON if n == 3 else "quote_received") for n in range(20)]

    answers = await asyncio.gather(*map(arrivals.put, sent), return_exceptions=True)
    await arrivals.close()

    assert [n for n, each in enumerate(answers) if isinstance(each, NotStored)] == [3]
    assert len(await claim(store, 50)) == 19
    assert arrivals.problem is None


async def test_what_a_database_refuses_is_told_from_what_it_cannot_do_now(store) -> None:
    await refuse_long(store, "events", "subject")

    with pytest.raises(StoreRefused):
        await store.events.append([event("1", POISON)])

    async def _fail(_connection, _now) -> None:
        raise TimeoutError

    with pytest.raises(StoreError) as busy:
        await store.database.write(_fail)
    assert not isinstance(busy.value, StoreRefused)


async def test_of_several_who_share_one_answer_only_the_refused_one_is_refused() -> None:
    async def _answer(asked):
        if "poison" in asked:
            raise StoreRefused("no")
        return [each.upper() for each in asked]

    together = Together(_answer)

    answers = await asyncio.gather(
        *(together.ask(each) for each in ("a", "poison", "b")), return_exceptions=True
    )

    assert answers[0] == "A"
    assert isinstance(answers[1], StoreRefused)
    assert answers[2] == "B"
