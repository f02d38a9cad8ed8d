"""A worker over a queue in memory: what it claims, runs, keeps alive and lets go."""

import asyncio
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from msgspec.structs import replace

from gateway.job_policy import WORK_POLICY
from gateway.jobs.outcome import Failed, Finished, Released
from gateway.jobs.worker import Worker
from gateway.observability.defects import DEFECT
from gateway.store.records import Changes, DeliveryOutcome, Failure, NewEvent
from tests.eventually import PATIENCE_SECONDS
from tests.unit.jobs.memory_queue import MemoryQueue, new_job

pytestmark = pytest.mark.usefixtures("time_leaps")


def policy_of(lease_seconds=30.0, timeout_seconds=120.0, **values):
    rows = WORK_POLICY.in_each_row(lease_seconds=lease_seconds, timeout_seconds=timeout_seconds)
    return replace(rows, **values)


FAST = policy_of(
    size=4,
    lease_seconds=60,
    sweep_seconds=5,
    poll_seconds=1,
    timeout_seconds=500,
    grace_seconds=100,
)


def died(job, failure):
    event = NewEvent(id=job.id, type="dead", subject=job.subject, source="/", data={})
    return Changes(events=(event,))


@asynccontextmanager
async def working(queue, run, policy=FAST, kinds=("webhook",), settled=lambda changes: None):
    worker = Worker(
        queue, dict.fromkeys(kinds, run), name="w", on_dead=died, on_settled=settled, policy=policy
    )
    task = asyncio.create_task(worker.work())
    try:
        yield worker
    finally:
        worker.stop()
        await asyncio.wait_for(task, PATIENCE_SECONDS)


async def until(condition, seconds=PATIENCE_SECONDS):
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - a condition of somebody else's making
            await asyncio.sleep(0.1)


@pytest.fixture
def queue():
    return MemoryQueue()


SLOTS = FAST.jobs["webhook"].slots * FAST.size


async def finish(claim):
    return Finished()


async def test_every_job_is_run_once(queue):
    queue.add(*(new_job(str(n)) for n in range(50)))
    ran = []

    async def run(claim):
        ran.append(claim.job.id)
        return Finished()

    async with working(queue, run):
        await until(lambda: set(queue.states().values()) == {"completed"})
    assert sorted(ran, key=int) == [str(n) for n in range(50)]


async def test_no_more_run_at_once_than_there_are_slots(queue):
    queue.add(*(new_job(str(n), kind="call") for n in range(20)))
    under_way, most = 0, 0

    async def run(claim):
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.01)
        under_way -= 1
        return Finished()

    async with working(queue, run, kinds=("call",)):
        await until(lambda: set(queue.states().values()) == {"completed"})
    assert most == 4


async def test_a_full_lane_goes_on_as_soon_as_it_has_room(queue):
    queue.add(*(new_job(str(n), kind="delivery", lane="one endpoint") for n in range(40)))
    patient = replace(FAST, poll_seconds=60)

    async with working(queue, finish, patient, kinds=("delivery",)):
        await until(lambda: set(queue.states().values()) == {"completed"}, seconds=30)


async def test_one_sweep_takes_back_all_that_the_dead_have_left(queue):
    dead = {"state": "processing", "attempts": 1, "claimed_by": "dead"}
    ended = new_job("0").run_at - timedelta(seconds=1)
    jobs = (new_job(str(n), kind="call") for n in range(1200))
    queue.add(*(replace(job, lease_until=ended, **dead) for job in jobs))
    rare = replace(FAST, sweep_seconds=15)

    async with working(queue, finish, rare, kinds=("delivery",)):
        await until(lambda: set(queue.states().values()) == {"retryable"}, seconds=25)


async def test_an_exception_is_a_failed_attempt_of_which_only_the_class_is_kept(queue, caplog):
    queue.add(new_job("bad"), new_job("good"))

    async def run(claim):
        if claim.job.id == "bad":
            raise ValueError("card 4111111111111111")
        return Finished()

    async with working(queue, run):
        await until(lambda: queue.states() == {"bad": "retryable", "good": "completed"})
    assert queue.failures == {"bad": ["value_error"]}
    assert "4111" not in caplog.text
    (line,) = [each for each in caplog.records if hasattr(each, DEFECT)]
    assert repr(getattr(line, DEFECT)) == "ValueError", "it is reported as a defect"


@pytest.mark.parametrize("error", [SystemExit(1), MemoryError(), RecursionError(), TimeoutError()])
async def test_whatever_a_run_raises_the_worker_goes_on(queue, error):
    queue.add(new_job("bad"))

    async def run(claim):
        if claim.job.id == "bad":
            raise error
        return Finished()

    async with working(queue, run):
        await until(lambda: queue.states()["bad"] == "retryable")
        queue.add(new_job("later"))
        await until(lambda: queue.states()["later"] == "completed")


async def test_a_run_that_hangs_is_a_failed_attempt(queue):
    queue.add(new_job("hang"))

    async def run(claim):
        await asyncio.Event().wait()

    policy = policy_of(
        size=1, lease_seconds=30, sweep_seconds=5, poll_seconds=1, timeout_seconds=50
    )
    async with working(queue, run, policy):
        await until(lambda: queue.states()["hang"] == "retryable")
    assert queue.failures == {"hang": ["run_timeout"]}
    assert queue.jobs["hang"].attempts == 1, "the heartbeat kept the claim while it hung"


async def test_the_last_attempt_ends_in_the_dead_letter_with_its_event(queue):
    queue.add(new_job("bad", attempts=5))

    async def run(claim):
        raise ValueError

    async with working(queue, run):
        await until(lambda: queue.states()["bad"] == "dead_letter")
    assert [event.type for changes in queue.changes for event in changes.events] == ["dead"]


async def test_what_will_not_get_better_is_a_dead_letter_at_once(queue):
    queue.add(new_job("bad"))

    async def run(claim):
        return Failed(failure=Failure(error="unmappable", detail="/x"), retry_seconds=None)

    async with working(queue, run):
        await until(lambda: queue.states()["bad"] == "dead_letter")
    assert queue.jobs["bad"].attempts == 1


async def test_a_released_job_does_not_count_the_attempt(queue):
    queue.add(new_job("later"))
    runs = 0

    async def run(claim):
        nonlocal runs
        runs += 1
        return Released(delay_seconds=0.01) if runs == 1 else Finished()

    async with working(queue, run):
        await until(lambda: queue.states()["later"] == "completed")
    assert queue.jobs["later"].attempts == 1


async def test_the_heartbeat_keeps_a_long_run(queue):
    queue.add(new_job("long"))

    async def run(claim):
        await asyncio.sleep(100)
        return Finished()

    async with working(queue, run) as worker:
        await until(lambda: queue.states()["long"] == "completed")
    assert (queue.claims, worker.lost, worker.fenced) == (1, 0, 0)


async def test_a_lost_claim_cancels_its_run(queue):
    queue.add(new_job("mine"))
    cancelled = asyncio.Event()

    async def run(claim):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async with working(queue, run) as worker:
        await until(lambda: queue.states()["mine"] == "processing")
        queue.jobs["mine"] = new_job("mine", attempts=1, kind="call")  # somebody else's now
        await asyncio.wait_for(cancelled.wait(), PATIENCE_SECONDS)
        await until(lambda: worker.lost == 1)


async def test_without_heartbeat_the_run_ends_before_its_lease(queue):
    queue.add(new_job("mine"))
    ended_at = []

    async def run(claim):
        queue.failure = "the database is gone"
        began = asyncio.get_running_loop().time()
        try:
            await asyncio.Event().wait()
        finally:
            ended_at.append(asyncio.get_running_loop().time() - began)
            queue.failure = None
            queue.jobs["mine"] = new_job("mine", kind="call")

    async with working(queue, run) as worker:
        await until(lambda: worker.lost == 1)
    assert ended_at[0] < FAST.jobs["webhook"].lease_seconds


async def test_a_late_outcome_is_refused(queue):
    queue.add(new_job("mine"))

    async def run(claim):
        queue.jobs["mine"] = new_job("mine", attempts=1, kind="call")
        return Finished()

    async with working(queue, run) as worker:
        await until(lambda: worker.fenced == 1)
    assert queue.states() == {"mine": "pending"}


async def test_a_store_that_fails_makes_the_worker_wait_and_nothing_else(queue):
    queue.failure = "the database is gone"
    async with working(queue, finish):
        await asyncio.sleep(10)
        queue.failure = None
        queue.add(new_job("later"))
        await until(lambda: queue.states()["later"] == "completed")


async def test_an_outcome_is_stored_when_the_store_answers_again(queue):
    queue.add(new_job("mine"))
    policy = policy_of(size=1, lease_seconds=5, poll_seconds=0.01)

    async def run(claim):
        queue.failure = "the database is gone"
        return Finished()

    async with working(queue, run, policy):
        await until(lambda: queue.failure)
        await asyncio.sleep(1)
        queue.failure = None
        await until(lambda: queue.states()["mine"] == "completed")
    assert queue.jobs["mine"].attempts == 1


async def test_changes_that_the_store_cannot_take_are_a_failed_attempt_of_that_job_alone(queue):
    queue.add(new_job("mine"), new_job("beside"))

    finish_all = queue.finish_all

    async def refuse(finished):
        if any(claim.job.id == "mine" for claim, _ in finished):
            raise KeyError("no such table")
        return await finish_all(finished)

    queue.finish_all = refuse
    async with working(queue, finish):
        await until(lambda: queue.states() == {"mine": "retryable", "beside": "completed"})
    assert queue.failures == {"mine": ["key_error"]}


async def test_stopping_waits_for_what_runs(queue):
    queue.add(new_job("mine"))
    begun = asyncio.Event()

    async def run(claim):
        begun.set()
        await asyncio.sleep(20)
        return Finished()

    async with working(queue, run):
        await begun.wait()
    assert queue.states() == {"mine": "completed"}


@pytest.mark.parametrize(
    ("kind", "state", "attempts"), [("webhook", "pending", 0), ("call", "processing", 1)]
)
async def test_what_is_cut_off_is_given_back_if_it_is_safe(queue, kind, state, attempts, caplog):
    queue.add(new_job("mine", kind=kind))
    begun = asyncio.Event()

    async def run(claim):
        begun.set()
        await asyncio.Event().wait()

    policy = policy_of(size=1, grace_seconds=0.05, poll_seconds=0.01)
    async with working(queue, run, policy, kinds=(kind,)):
        await begun.wait()
    assert (queue.states(), queue.jobs["mine"].attempts) == ({"mine": state}, attempts)
    assert f"1 {kind} jobs were cut off: mine" in caplog.text


async def test_the_grace_period_counts_from_the_first_stop(queue):
    queue.add(new_job("mine"))
    begun = asyncio.Event()

    async def run(claim):
        begun.set()
        await asyncio.Event().wait()

    worker = Worker(
        queue,
        {"webhook": run},
        name="w",
        on_dead=died,
        on_settled=lambda _: None,
        policy=policy_of(size=1, grace_seconds=0.2, poll_seconds=0.01),
    )

    async def stop_again_and_again():
        while True:
            worker.stop()
            await asyncio.sleep(0.01)

    task = asyncio.create_task(worker.work())
    await begun.wait()
    stopping = asyncio.create_task(stop_again_and_again())
    await asyncio.wait_for(task, PATIENCE_SECONDS)
    stopping.cancel()


async def test_a_dead_workers_job_is_taken_over_and_dies_with_its_event(queue):
    dead = new_job("dead", attempts=5)
    queue.add(dead, new_job("alive"))
    await queue.claim("dead worker", ["webhook"], 2, 0.05)
    async with working(queue, finish):
        await until(lambda: queue.states() == {"dead": "dead_letter", "alive": "completed"})
    assert [event.id for changes in queue.changes for event in changes.events] == ["dead"]


async def test_a_job_under_suspicion_runs_alone(queue):
    suspects = [new_job(f"s{n}", attempts=2, error="lease_expired") for n in range(2)]
    queue.add(*(new_job(str(n)) for n in range(3)), *suspects)
    under_way, beside = set(), []

    async def run(claim):
        under_way.add(claim.job.id)
        if claim.job.id.startswith("s"):
            beside.append(sorted(under_way))
        await asyncio.sleep(0.02)
        under_way.discard(claim.job.id)
        return Finished()

    async with working(queue, run):
        queue.add(new_job("later"))
        await until(lambda: set(queue.states().values()) == {"completed"})
    assert beside == [["s0"], ["s1"]]


async def test_one_endpoint_leaves_the_others_slots(queue):
    queue.add(*(new_job(f"slow{n}", "delivery", "slow") for n in range(30)))
    queue.add(*(new_job(f"fast{n}", "delivery", f"fast{n}") for n in range(5)))

    async def run(claim):
        if claim.job.lane == "slow":
            await asyncio.sleep(2)
        return Finished()

    policy = policy_of(size=1, poll_seconds=0.01, grace_seconds=0)
    async with working(queue, run, policy, kinds=("delivery",)):
        fast = {f"fast{n}" for n in range(5)}
        await until(lambda: all(queue.jobs[name].state == "completed" for name in fast))
        assert sum(job.state == "completed" for job in queue.jobs.values()) == 5


async def test_calls_that_a_job_asks_for_are_begun_without_delay(queue):
    reported = []
    queue.add(new_job("hook"))

    async def run(claim):
        queue.add(new_job("call", kind="call"))
        return Finished(changes=Changes(webhooks=("derived",)))

    slow = policy_of(size=1, poll_seconds=60)
    runs = {"webhook": run, "call": finish}
    worker = Worker(queue, runs, name="w", on_dead=died, on_settled=reported.append, policy=slow)
    task = asyncio.create_task(worker.work())
    await until(lambda: queue.states().get("call") == "completed", seconds=30)
    worker.stop()
    await asyncio.wait_for(task, PATIENCE_SECONDS)
    assert reported[0].webhooks == ("derived",)


async def test_what_waits_for_a_disabled_endpoint_is_ended_beside_the_work(queue, monkeypatch):
    """An error there repeats no outcome, and is not an error of the claim."""
    monkeypatch.setattr("gateway.jobs.completer._ENDING_RETRY_SECONDS", 0.01)
    queue.add(new_job("gone", "delivery", "a"))
    queue.failing_endings = 2
    gone = DeliveryOutcome(endpoint_id="a", is_success=False, disable_because="gone")

    async def run(claim):
        failure = Failure(error="endpoint_gone")
        return Failed(failure=failure, retry_seconds=None, changes=Changes(delivery=gone))

    async with working(queue, run, kinds=("delivery",)) as worker:
        await until(lambda: len(queue.endings) == 3)
        await asyncio.sleep(0.2)
        assert (worker.lost, worker.fenced, worker.problem) == (0, 0, None)
    assert queue.endings == ["a", "a", "a"]
    assert queue.failures == {"gone": ["endpoint_gone"]}


async def test_jobs_that_hang_leave_their_slots_to_other_lanes(queue):
    queue.add(*(new_job(f"hangs {n}", lane="dead provider") for n in range(100)))
    ended = asyncio.Event()

    async def run(claim):
        if claim.job.lane == "dead provider":
            await ended.wait()
        return Finished()

    def under_way():
        return sum(each == "processing" for each in queue.states().values())

    rows = {**FAST.jobs, "webhook": replace(FAST.jobs["webhook"], slow_after_seconds=0.05)}
    async with working(queue, run, replace(FAST, jobs=rows)):
        await until(lambda: under_way() == SLOTS)
        for n in range(50):
            queue.add(new_job(f"runs {n}", lane="live provider"))
        await until(lambda: all(queue.states()[f"runs {n}"] == "completed" for n in range(50)))
        assert under_way() == SLOTS
        ended.set()
        await until(lambda: set(queue.states().values()) == {"completed"})
