"""What the database refuses ends an attempt, and stops no other work, on every engine."""

import asyncio
import secrets
from contextlib import asynccontextmanager

import pytest
from msgspec.structs import replace
from sqlalchemy import text

from gateway.calls.jobs.running import CallRun
from gateway.errors import StoreError
from gateway.job_policy import WORK_POLICY
from gateway.jobs.completer import Batcher, JobCompleter
from gateway.jobs.dead_letters import DeadLetters, account_of
from gateway.jobs.outcome import Failed, Finished
from gateway.jobs.worker import Worker
from gateway.store.protocols import StoreRefused
from gateway.store.records import Changes, Failure, NewCall, NewEvent, Page
from gateway.webhooks.ingest import GroupCommit, NotStored
from tests.clocks import NOW
from tests.eventually import eventually
from tests.work import claim, finish, job, job_counts, message, put

QUICK = replace(WORK_POLICY, poll_seconds=0.02, sweep_seconds=0.05)
CALL_ID = "01936f00-0000-7000-8000-000000000001"
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
async def working(store, on_dead=lambda _job, _failure: Changes(), **runs):
    worker = Worker(
        store.queue,
        runs or {"webhook": run},
        name="w",
        on_dead=on_dead,
        on_settled=lambda _changes: None,
        policy=QUICK,
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
    poison = await put(store, *(message(f"p{n}", provider="poison") for n in range(9)))
    plain = await put(store, *map(message, range(16)))

    async with working(store) as worker:

        async def _all_ended() -> bool | None:
            return (await job_counts(store)) == {
                ("webhook", "completed"): 16,
                ("webhook", "retryable"): 9,
            } or None

        await eventually(_all_ended)
        assert worker.problem is None

    assert await states(store, poison) == {"retryable"}
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


async def refuse_completions(store) -> None:
    """Have the database refuse what announces that a call has succeeded."""
    is_one = "type = 'gateway.job.completed.v1'"
    statement = (
        f"ALTER TABLE events ADD CONSTRAINT none CHECK (NOT {is_one})"
        if store.database.is_postgres
        else f"CREATE TRIGGER none BEFORE INSERT ON events WHEN new.{is_one} "
        "BEGIN SELECT RAISE(ABORT, 'no'); END"
    )
    await store.database.write(lambda to, _: to.execute(text(statement)))


@pytest.mark.parametrize(
    ("is_read", "end", "calls"),
    [(False, ("dead_letter", "outcome_unknown"), 1), (True, ("dead_letter", "store_refused"), 6)],
)
async def test_a_write_whose_end_is_refused_is_made_once(
    store, monkeypatch, is_read, end, calls
) -> None:
    def _at_once(_policy, job) -> float | None:
        return None if job.attempts >= job.max_attempts else 0.0

    monkeypatch.setattr("gateway.jobs.worker.wait_seconds", _at_once)
    await refuse_completions(store)
    await put(store, message(1))
    [parent] = await claim(store)
    asked = NewCall(id=CALL_ID, operation="mail.send", arguments={}, lane="mail.send")
    assert await finish(store, parent, Changes(calls=(asked,)))
    made = []

    async def _call(new) -> None:
        made.append(new.id)

    run_call = CallRun(store.queue, _call, lambda _operation: is_read)
    async with working(store, DeadLetters(lambda: NOW), call=run_call):

        async def _ended() -> bool | None:
            return ("call", "dead_letter") in await job_counts(store) or None

        await eventually(_ended)

    [job_of_call] = await store.queue.jobs(Page(10), kind="call")
    assert (job_of_call.state, job_of_call.error) == end
    assert made == [CALL_ID] * calls
    await store.events.sequence(10)
    assert [each.type for each in await store.events.after(0, 10)] == ["gateway.job.failed.v1"]


async def test_a_dead_letter_whose_announcement_is_refused_is_recorded_all_the_same(
    timed_store, clock
) -> None:
    store = timed_store
    await refuse_long(store, "events", "subject")
    ids = await put(store, message(1), message(2))
    await store.database.write(lambda to, _: to.execute(text("UPDATE jobs SET attempts = 5")))
    first, second = await claim(store, 2)

    def _on_dead(dead, _failure=None):
        account = account_of(dead.subject, "avinode", "avinode", clock.now(), is_dead=True)
        return Changes(events=(event(dead.id, POISON),), audit=account)

    completer = JobCompleter(store.queue, _on_dead, lambda _changes: None)
    await completer.settle(first, Failed(failure=Failure(error="x"), retry_seconds=None))
    clock.advance(31)
    assert await store.queue.sweep(500, 1.0, _on_dead) == (0, 1)

    assert await states(store, ids) == {"dead_letter"}
    assert {each.request_id for each in await store.audit.latest(10)} == {
        first.job.subject,
        second.job.subject,
    }


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
    group_commit = GroupCommit(store.inbox)
    sent = [(message(n, event_type=POISON if n == 3 else "quote_received"),) for n in range(20)]

    answers = await asyncio.gather(*map(group_commit.put, sent), return_exceptions=True)
    await group_commit.close()

    assert [n for n, each in enumerate(answers) if isinstance(each, NotStored)] == [3]
    assert len(await claim(store, 50)) == 19
    assert group_commit.problem is None


async def test_what_a_database_refuses_is_distinguished_from_what_it_cannot_do_now(store) -> None:
    await refuse_long(store, "events", "subject")

    with pytest.raises(StoreRefused):
        await store.events.append([event("1", POISON)])

    async def _fail(_connection, _now) -> None:
        raise TimeoutError

    with pytest.raises(StoreError) as busy:
        await store.database.write(_fail)
    assert not isinstance(busy.value, StoreRefused)


async def test_a_table_that_is_gone_is_no_fault_of_what_is_stored(store) -> None:
    await store.database.write(lambda to, _: to.execute(text("ALTER TABLE events RENAME TO away")))

    with pytest.raises(StoreError) as gone:
        await store.events.append([event("1")])
    assert not isinstance(gone.value, StoreRefused)

    await store.database.write(lambda to, _: to.execute(text("ALTER TABLE away RENAME TO events")))
    await store.events.append([event("1")])


async def test_of_several_who_share_one_answer_only_the_refused_one_is_refused() -> None:
    async def _answer(asked):
        if "poison" in asked:
            raise StoreRefused("no")
        return [each.upper() for each in asked]

    together = Batcher(_answer)

    answers = await asyncio.gather(
        *(together.ask(each) for each in ("a", "poison", "b")), return_exceptions=True
    )

    assert answers[0] == "A"
    assert isinstance(answers[1], StoreRefused)
    assert answers[2] == "B"


async def test_a_store_that_goes_away_while_an_answer_is_parted_is_asked_no_more() -> None:
    asked_alone = []

    async def _answer(asked):
        if len(asked) > 1:
            raise StoreRefused("no")
        asked_alone.extend(asked)
        if asked == ["b"]:
            raise StoreError("away")
        return asked

    together = Batcher(_answer)

    answers = await asyncio.gather(*map(together.ask, "abcd"), return_exceptions=True)

    assert answers[0] == "a"
    assert [str(each) for each in answers[1:]] == ["away"] * 3
    assert not any(isinstance(each, StoreRefused) for each in answers)
    assert asked_alone == ["a", "b"]
