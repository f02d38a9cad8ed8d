"""What a process asks the store while nothing happens, and what it notices all the same."""

import asyncio
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from msgspec.structs import replace

from gateway.events.feed import Sequencer, SequencerConfig
from gateway.job_policy import WORK_POLICY
from gateway.jobs.outcome import Finished
from gateway.jobs.worker import Lookout, Worker
from gateway.store.records import Changes, WorkLeft
from tests.unit.events.logs import FakeLog
from tests.unit.jobs.memory_queue import MemoryQueue, new_job

pytestmark = pytest.mark.usefixtures("time_leaps")

KINDS = tuple(WORK_POLICY.jobs)
POLICY = replace(WORK_POLICY, idle_poll_seconds=60.0)
SELDOM = SequencerConfig(idle_poll_seconds=60.0)


class WithEvents:
    """The queue, which also sees the events of the log."""

    def __init__(self, queue, log):
        self._queue = queue
        self._log = log

    async def waiting(self):
        found = await self._queue.waiting()
        return WorkLeft(has_due_jobs=found.has_due_jobs, has_events=self._log.unplaced > 0)


@asynccontextmanager
async def at_work(queue, log):
    """The work of a process, which nobody wakes but the lookout."""

    async def run(claim):
        return Finished()

    worker = Worker(
        queue,
        dict.fromkeys(KINDS, run),
        name="w",
        on_dead=lambda *_: Changes(),
        on_settled=lambda _: None,
        policy=POLICY,
    )
    sequencer = Sequencer(log, lambda: None, SELDOM)
    wakes = worker.wake, sequencer.wake
    lookout = Lookout(WithEvents(queue, log), *wakes, WORK_POLICY.poll_seconds)
    working = asyncio.create_task(worker.work())
    watches = [asyncio.create_task(each.run()) for each in (sequencer, lookout)]
    try:
        # Until the waits between polls have grown.
        await asyncio.sleep(200)
        yield worker
    finally:
        for each in watches:
            each.cancel()
        worker.stop()
        await working


@pytest.fixture
def queue():
    return MemoryQueue()


@pytest.fixture
def log():
    return FakeLog()


async def test_while_nothing_happens_one_question_is_asked_for_all(queue, log):
    async with at_work(queue, log):
        looks, claims, sequenced = queue.looks, queue.asked_for_claims, log.sequenced
        await asyncio.sleep(600)
        assert abs(queue.looks - looks - 1200) <= 1
        assert queue.asked_for_claims - claims <= 11 * len(KINDS)
        assert log.sequenced - sequenced <= 11


@pytest.mark.parametrize("kind", KINDS)
async def test_a_job_of_another_process_begins_within_a_poll(queue, log, kind):
    async with at_work(queue, log):
        queue.add(new_job("theirs", kind=kind))
        await asyncio.sleep(2 * WORK_POLICY.poll_seconds)
        assert queue.states() == {"theirs": "completed"}


async def test_a_job_is_found_when_its_time_comes(queue, log):
    async with at_work(queue, log):
        job = new_job("later")
        queue.add(replace(job, state="retryable", run_at=job.run_at + timedelta(seconds=600)))
        await asyncio.sleep(599)
        assert queue.states() == {"later": "retryable"}
        await asyncio.sleep(2)
        assert queue.states() == {"later": "completed"}


async def test_events_of_another_process_get_positions_within_a_poll(queue, log):
    async with at_work(queue, log):
        log.unplaced = 3
        await asyncio.sleep(2 * WORK_POLICY.poll_seconds)
        assert len(log.events) == 3


async def test_who_works_notices_at_once_that_the_store_fails_and_that_it_is_back(queue, log):
    async with at_work(queue, log) as worker:
        queue.failure = "the database is away"
        await asyncio.sleep(2 * WORK_POLICY.poll_seconds)
        assert worker.problem is not None
        await asyncio.sleep(60)
        queue.failure = None
        await asyncio.sleep(10)
        assert worker.problem is None


async def test_a_store_that_fails_is_not_asked_more_often(queue, log):
    async with at_work(queue, log):
        queue.failure = "the database is away"
        claims = queue.asked_for_claims
        await asyncio.sleep(120)
        assert queue.asked_for_claims - claims <= len(KINDS) * 120 / 5 + 20
