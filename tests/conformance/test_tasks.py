"""Calls that become jobs, in every database."""

import asyncio

import pytest
from msgspec.structs import replace

from gateway.calls.jobs.owned import is_expired, view_of
from gateway.errors import StoreError
from gateway.ids import private_id
from gateway.store.protocols import TaskUncertain, TooManyTasks
from gateway.store.records import (
    CallEnding,
    Changes,
    Claim,
    Failure,
    KeyedCall,
    NewTask,
    Page,
    TaskAnswers,
    TaskSettlement,
)
from gateway.store.sql.store import SqlStore
from tests.clocks import ManualClock

DAY = 86_400.0
RESULT = CallEnding(outcome="result", body=b'{"ok":true}', backend="mock", file=b"\x00")
UNKNOWN = CallEnding(outcome="unknown")
MOST = 3


@pytest.fixture
def new(clock: ManualClock):
    """Makes tasks, each with its own id."""

    def make(key: str | None = None, **facts: object) -> NewTask:
        task = NewTask(
            job_id=private_id(clock.now()),
            subject="key_1",
            agent="booker",
            operation="golf.book_tee_time",
            arguments=b'{"players":2}',
            is_read=False,
            time_limit_seconds=2.5,
            key=key,
            fingerprint="f",
        )
        return replace(task, **facts)

    return make


async def claimed(store: SqlStore) -> Claim:
    """The claim of the only job that is due."""
    (claim,) = await store.queue.claim("worker", ["task"], 5, 30.0)
    return claim


async def end(store: SqlStore, claim: Claim, *, frees_key: bool = False) -> None:
    settled = TaskSettlement(job_id=claim.job.id, ending=RESULT, frees_key=frees_key)
    assert await store.queue.finish_all([(claim, Changes(task=settled))]) == [True]


async def test_a_task_is_a_job_of_its_owner(timed_store: SqlStore, new) -> None:
    task = new()
    assert await timed_store.tasks.add(task, MOST) is None

    found = await timed_store.tasks.find(task.job_id, "key_1")

    assert found is not None
    assert (found.job.kind, found.job.state, found.job.lane) == ("task", "pending", task.operation)
    assert (found.arguments, found.time_limit_seconds) == (b'{"players":2}', 2.5)
    assert found.ending is None
    assert await timed_store.tasks.find(task.job_id, "key_2") is None
    assert await timed_store.tasks.list("key_2", Page()) == []


async def test_the_result_takes_the_place_of_the_arguments(timed_store: SqlStore, new) -> None:
    task = new()
    await timed_store.tasks.add(task, MOST)
    await end(timed_store, await claimed(timed_store))

    found = await timed_store.tasks.find(task.job_id)

    assert found is not None
    assert (found.job.state, found.ending, found.arguments) == ("completed", RESULT, b"")


async def test_a_key_names_its_job_until_the_job_frees_it(timed_store: SqlStore, new) -> None:
    tasks, first = timed_store.tasks, new("k")
    await tasks.add(first, MOST)
    known = await tasks.add(new("k"), MOST)
    by_call = await timed_store.keyed_calls.begin(
        KeyedCall(
            id="call", subject="key_1", key="k", operation="o", fingerprint="g", lease_seconds=1
        )
    )
    await end(timed_store, await claimed(timed_store), frees_key=True)

    assert known is not None
    assert by_call is not None
    assert (known.job_id, by_call.job_id, known.fingerprint) == (first.job_id, first.job_id, "f")
    assert await tasks.add(new("k"), MOST) is None
    assert await tasks.add(new("k", subject="key_2"), MOST) is None


async def test_the_key_of_a_job_is_not_cut_off(timed_store: SqlStore, new) -> None:
    tasks, calls, first = timed_store.tasks, timed_store.keyed_calls, new("k")
    await tasks.add(first, MOST)

    for is_only_process in (True, False):
        await calls.cut_off(is_only_process=is_only_process)

    known = await tasks.add(new("k"), MOST)
    assert known is not None
    assert (known.job_id, known.ending) == (first.job_id, None)


async def test_a_key_is_kept_for_as_long_as_the_result_of_its_job(timed_store, new, clock) -> None:
    tasks, calls, first = timed_store.tasks, timed_store.keyed_calls, new("k")
    await tasks.add(first, MOST)
    clock.advance(2 * DAY)
    assert await calls.prune(DAY, 10) == 0

    await end(timed_store, await claimed(timed_store))
    clock.advance(DAY - 1)
    assert (await tasks.prune(DAY, 10), await calls.prune(DAY, 10)) == (0, 0)
    known = await tasks.add(new("k"), MOST)
    clock.advance(2)

    assert (await tasks.prune(DAY, 10), await calls.prune(DAY, 10)) == (1, 1)
    assert known is not None
    assert (known.job_id, await tasks.add(new("k"), MOST)) == (first.job_id, None)


async def test_a_caller_has_a_limit_of_jobs_that_go_on(timed_store: SqlStore, new) -> None:
    for _ in range(MOST):
        await timed_store.tasks.add(new(), MOST)

    with pytest.raises(TooManyTasks):
        await timed_store.tasks.add(new("refused"), MOST)

    (claim, *_) = await timed_store.queue.claim("worker", ["task"], 1, 30.0)
    await end(timed_store, claim)
    assert await timed_store.tasks.add(new(subject="key_2"), MOST) is None
    assert await timed_store.tasks.add(new("refused"), MOST) is None


async def test_calls_at_once_keep_the_limit_of_jobs(store: SqlStore, new) -> None:
    """None of them sees what another one is adding."""

    async def is_added(subject: str) -> bool:
        try:
            return await store.tasks.add(new(subject=subject), MOST) is None
        except TooManyTasks:
            return False

    added = await asyncio.gather(*(is_added(f"key_{n % 2}") for n in range(40)))

    assert sum(added) == 2 * MOST


async def test_a_running_call_becomes_a_job_that_is_held(timed_store, new, clock) -> None:
    keyed = KeyedCall(
        id="call", subject="key_1", key="k", operation="o", fingerprint="f", lease_seconds=60
    )
    await timed_store.keyed_calls.begin(keyed)
    task = replace(new("k"), call_id=keyed.id)
    claim = await timed_store.tasks.adopt(task, "here", 30.0)

    assert await timed_store.queue.claim("worker", ["task"], 5, 30.0) == []
    assert await timed_store.queue.extend([claim], 30.0) == {task.job_id}
    known = await timed_store.keyed_calls.begin(replace(keyed, id="again"))
    assert known is not None
    assert known.job_id == task.job_id
    clock.advance(31)
    assert await timed_store.queue.sweep(10, 0.0, lambda _: Changes()) == (1, 0)
    clock.advance(1)
    again = await claimed(timed_store)
    assert (again.job.error, again.job.attempts) == ("lease_expired", 2)
    assert await timed_store.queue.finish_all([(claim, Changes())]) == [False]


@pytest.mark.parametrize(("is_running", "outcome"), [(False, "cancelled"), (True, "unknown")])
async def test_cancelling_takes_the_claim_away(timed_store, new, is_running, outcome) -> None:
    task = new()
    await timed_store.tasks.add(task, MOST)
    claims = [await claimed(timed_store)] if is_running else []

    assert await timed_store.tasks.cancel(task.job_id, UNKNOWN, "booker")

    found = await timed_store.tasks.find(task.job_id)
    assert (found.job.state, found.ending.outcome, found.arguments) == ("cancelled", outcome, b"")
    assert await timed_store.queue.extend(claims, 30.0) == frozenset()
    assert not await timed_store.tasks.cancel(task.job_id, UNKNOWN, "booker")
    assert await timed_store.queue.claim("worker", ["task"], 5, 30.0) == []


async def test_an_operator_cancels_a_waiting_job_and_repeats_none(timed_store, new) -> None:
    task = new()
    await timed_store.tasks.add(task, MOST)

    assert await timed_store.queue.cancel(task.job_id, "operator")

    found = await timed_store.tasks.find(task.job_id)
    assert (found.ending.outcome, found.arguments) == ("cancelled", b"")
    assert await timed_store.queue.redrive(task.job_id, "operator") is None


@pytest.mark.parametrize(("is_read", "outcome"), [(False, "unknown"), (True, "cancelled")])
async def test_a_write_whose_worker_died_may_have_happened_when_it_is_cancelled(
    timed_store, new, clock, is_read, outcome
) -> None:
    task = new(is_read=is_read)
    await timed_store.tasks.add(task, MOST)
    await claimed(timed_store)
    clock.advance(31)
    assert await timed_store.queue.sweep(10, 60.0, lambda _: Changes()) == (1, 0)

    assert await timed_store.queue.cancel(task.job_id, "operator")

    assert (await timed_store.tasks.find(task.job_id)).ending.outcome == outcome


async def test_a_result_is_kept_for_a_day_and_its_job_longer(timed_store, new, clock) -> None:
    task = new()
    await timed_store.tasks.add(task, MOST)
    await end(timed_store, await claimed(timed_store))
    clock.advance(DAY - 1)
    kept = await timed_store.tasks.find(task.job_id)
    assert await timed_store.tasks.prune(DAY, 10) == 0
    clock.advance(2)
    expired = await timed_store.tasks.find(task.job_id)
    assert await timed_store.tasks.prune(DAY, 10) == 1
    assert await timed_store.tasks.prune(DAY, 10) == 0
    emptied = await timed_store.tasks.find(task.job_id)

    assert not is_expired(kept)
    assert is_expired(expired)
    assert is_expired(emptied)
    assert (emptied.ending.body, emptied.ending.file) == (b"", None)
    clock.advance(31 * DAY)
    assert await timed_store.queue.prune(30 * DAY, 10) == 1
    assert await timed_store.tasks.find(task.job_id) is None


async def test_progress_is_that_of_the_claim(timed_store, new) -> None:
    await timed_store.tasks.add(task := new(), MOST)
    claim = await claimed(timed_store)

    await timed_store.tasks.report(claim, 3.0, "holes")
    lost = replace(claim, job=replace(claim.job, claim_seq=7))
    await timed_store.tasks.report(lost, 9.0, "wrong")

    view = view_of(await timed_store.tasks.find(task.job_id), None)
    assert (view.progress.done, view.progress.message) == (3.0, "holes")


async def test_a_mark_changes_with_what_the_owner_sees(timed_store, new, clock) -> None:
    task, other = new(), new()
    await timed_store.tasks.add(task, MOST)
    marks = []

    async def look() -> None:
        found = await timed_store.tasks.find(task.job_id)
        marks.append((await timed_store.tasks.marks([task.job_id, other.job_id]))[task.job_id])
        assert marks[-1] == found.mark, "a look at one and a look at all see the same"

    await look()
    claim = await claimed(timed_store)
    await look()
    for done, text in ((1.0, "the first of two"), (1.0, "the first of three")):
        await timed_store.tasks.report(claim, done, text)
        await look()
    clock.advance(1)
    await timed_store.queue.wait_for_answers(claim, b"{}", b"{}")
    await look()
    clock.advance(1)
    answered = TaskAnswers(b"{}", b"{}", is_complete=False)
    await timed_store.tasks.answer(task.job_id, lambda _questions, _answers: answered)
    await look()
    clock.advance(1)
    await timed_store.tasks.cancel(task.job_id, UNKNOWN, "ann")
    await look()
    assert len(set(marks)) == len(marks) == 7
    assert await timed_store.tasks.marks([other.job_id]) == {}


async def test_the_end_as_a_dead_letter_is_written_with_the_task(timed_store, new) -> None:
    await timed_store.tasks.add(task := new(), MOST)
    claim = await claimed(timed_store)
    changes = Changes(task=TaskSettlement(job_id=task.job_id, ending=UNKNOWN))

    assert await timed_store.queue.fail(claim, Failure(error="outcome_unknown"), None, changes)

    found = await timed_store.tasks.find(task.job_id)
    assert (found.job.state, found.ending) == ("dead_letter", UNKNOWN)


async def away(*_: object) -> None:
    raise StoreError("cannot be reached")


def losing(write):
    """`write`, whose answer is lost after the commit."""

    async def lose(work):
        await write(work)
        raise StoreError("the connection was lost")

    return lose


def undoing(write):
    """`write`, whose commit fails."""

    async def undo(work):
        async def undone(connection, now):
            await work(connection, now)
            raise StoreError("the disk is full")

        await write(undone)

    return undo


async def test_a_task_is_stored_though_the_answer_to_its_commit_is_lost(
    timed_store: SqlStore, new, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks, database, task = timed_store.tasks, timed_store.database, new()
    monkeypatch.setattr(database, "write", losing(database.write))

    assert await tasks.add(task, MOST) is None
    assert await tasks.find(task.job_id) is not None


@pytest.mark.parametrize("fail", [undoing, lambda _: away], ids=["commit", "begin"])
async def test_a_task_that_is_not_stored_is_no_uncertain_one(
    timed_store: SqlStore, new, monkeypatch: pytest.MonkeyPatch, fail
) -> None:
    tasks, database, task = timed_store.tasks, timed_store.database, new()
    monkeypatch.setattr(database, "write", fail(database.write))

    with pytest.raises(StoreError) as failed:
        await tasks.add(task, MOST)
    assert not isinstance(failed.value, TaskUncertain)
    assert await tasks.find(task.job_id) is None


async def test_a_task_that_cannot_be_looked_for_is_uncertain(
    timed_store: SqlStore, new, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks, database = timed_store.tasks, timed_store.database
    monkeypatch.setattr(database, "write", losing(database.write))
    monkeypatch.setattr(database, "rows_at", away)

    with pytest.raises(TaskUncertain):
        await tasks.add(new(), MOST)
