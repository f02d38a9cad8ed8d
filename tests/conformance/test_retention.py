"""What is forgotten in time, and what stays because something still needs it, on every engine."""

import asyncio

import pytest
from sqlalchemy import text

from gateway.calls.jobs.running import CallRun
from gateway.store.records import Changes, Failure, NewCall
from gateway.store.sql.engine import open_store
from gateway.store.sql.queue import redrive_job
from gateway.store.sql.store import SqlStore
from tests.conformance.waiting import blocked
from tests.work import NOTHING, claim, finish, job, message, put

WRONG = Failure(error="upstream_unavailable", detail="said 503")
ARGUMENTS = {"to": "ana@example.com"}


def call(name: str) -> NewCall:
    return NewCall(id=name, operation="gmail.send", arguments=ARGUMENTS, lane="gmail")


async def ended_call(store) -> str:
    """The job of a call that has ended in the dead letter."""
    await put(store, message(1))
    [claimed] = await claim(store)
    await finish(store, claimed, Changes(calls=(call("c"),)))
    [asked] = await claim(store, kind="call")
    await store.queue.fail(asked, WRONG, None, NOTHING)
    return asked.job.id


async def test_arguments_stay_for_as_long_as_a_repetition_of_the_call_needs_them(
    timed_store, clock
) -> None:
    store = timed_store
    old = await ended_call(store)
    clock.advance(100)
    again = await store.queue.redrive(old, "ana")
    assert again is not None

    assert await store.queue.prune(50, 10) == 1

    assert await store.queue.find(old) is None
    assert await store.queue.call(again.id) == call("c")
    [asked] = await claim(store, kind="call")
    await store.queue.fail(asked, WRONG, None, NOTHING)
    assert await store.queue.redrive(again.id, "ana") is not None


async def test_a_call_whose_arguments_are_gone_is_neither_repeated_nor_run(store) -> None:
    old = await ended_call(store)
    again = await store.queue.redrive(old, "ana")
    assert again is not None
    emptied = text("UPDATE calls SET arguments = 'null'")
    await store.database.write(lambda to, _: to.execute(emptied))

    assert await store.queue.call(again.id) is None
    [asked] = await claim(store, kind="call")
    outcome = await CallRun(store.queue, pytest.fail, lambda _: True)(asked)
    assert outcome.failure.error == "forgotten"
    await store.queue.fail(asked, outcome.failure, None, NOTHING)
    assert await store.queue.redrive(again.id, "ana") is None
    assert (await job(store, again.id)).state == "dead_letter"


async def two(url: str) -> tuple[SqlStore, SqlStore]:
    return await open_store(url), await open_store(url)


@pytest.mark.postgres
async def test_a_body_stays_when_its_work_is_begun_again_at_that_moment(migrated_url) -> None:
    """The transaction that starts it again locks its row; what retention has read before says
    nothing."""
    store, other = await two(migrated_url)
    [job_id] = await put(store, message(1))
    [claimed] = await claim(store)
    await store.queue.fail(claimed, WRONG, None, NOTHING)
    has_begun, may_end = asyncio.Event(), asyncio.Event()

    async def _begin_again(to, now) -> None:
        await redrive_job(to, now, job_id, "ana", is_forced=False)
        has_begun.set()
        await may_end.wait()

    beginning = asyncio.create_task(other.database.change(_begin_again))
    await has_begun.wait()
    forgetting = asyncio.create_task(store.inbox.prune(0, 10))
    await blocked(other, forgetting)
    may_end.set()
    await beginning

    assert await forgetting == 0
    assert (await store.inbox.find(job_id)).body is not None
    await store.close()
    await other.close()
