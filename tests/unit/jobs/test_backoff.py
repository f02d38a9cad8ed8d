"""How long failed work waits, and claims that are kept alive while work goes on."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.job_policy import WORK_POLICY
from gateway.jobs import outcome
from gateway.jobs.worker import Leases
from gateway.store.records import Claim, Job
from tests.unit.jobs.memory_queue import EPOCH, new_job

SCHEDULES = {kind: row.waits_seconds for kind, row in WORK_POLICY.jobs.items()}


def wait_seconds(job, asked=None):
    return outcome.wait_seconds(WORK_POLICY.jobs[job.kind], job, asked)


def job(kind, attempts, max_attempts=99):
    return Job(
        id="j",
        kind=kind,
        subject="s",
        lane="l",
        state="processing",
        attempts=attempts,
        max_attempts=max_attempts,
        run_at=EPOCH,
        lease_until=EPOCH,
        claim_seq=1,
        claimed_by="w",
        error=None,
        replay_of=None,
        actor=None,
        created_at=EPOCH,
        updated_at=EPOCH,
    )


def test_a_webhook_waits_two_to_the_power_of_its_attempts_minutes():
    assert SCHEDULES["webhook"] == (120, 240, 480, 960, 1920)


def test_ten_deliveries_take_75_hours_and_35_minutes():
    assert len(SCHEDULES["delivery"]) + 1 == 10
    assert sum(SCHEDULES["delivery"]) == 75 * 3600 + 35 * 60 + 5


kinds = st.sampled_from(sorted(SCHEDULES))


@given(kinds, st.integers(1, 9))
def test_jitter_is_a_fifth_at_most(kind, attempts):
    base = SCHEDULES[kind][min(attempts, len(SCHEDULES[kind])) - 1]
    assert 0.8 * base <= wait_seconds(job(kind, attempts)) <= 1.2 * base


def test_jobs_that_failed_together_part():
    assert len({wait_seconds(job("webhook", 1)) for _ in range(20)}) > 1


@given(kinds, st.integers(1, 9), st.floats(min_value=0, allow_infinity=True))
def test_retry_after_lengthens_the_wait_up_to_an_hour(kind, attempts, asked):
    base = SCHEDULES[kind][min(attempts, len(SCHEDULES[kind])) - 1]
    wait = wait_seconds(job(kind, attempts), asked)
    assert 0.8 * base <= wait <= max(3600.0, 1.2 * base)
    if 1.2 * base < asked <= 3600:
        assert wait == asked


@pytest.mark.parametrize("kind", SCHEDULES)
def test_there_is_no_wait_after_the_last_attempt(kind):
    assert wait_seconds(job(kind, 6, 6)) is None
    assert wait_seconds(job(kind, 5, 6)) is not None


async def test_work_that_ends_while_its_claim_is_extended_ends_nothing_else():
    """The store has extended the claim; before that is known here, the work is done."""
    ends = asyncio.Event()

    class Slow:
        async def extend(self, claims, _lease_seconds):
            ends.set()
            await work
            return frozenset(claim.job.id for claim in claims)

    leases = Leases(Slow(), WORK_POLICY.jobs["webhook"])
    lease = leases.take(
        Claim(job=new_job("1"), worker="w"), asked_at=asyncio.get_running_loop().time()
    )

    async def _work():
        async with asyncio.timeout_at(lease.deadline) as lease.limit:
            await ends.wait()
        leases.drop(lease)

    work = asyncio.create_task(_work())
    await asyncio.sleep(0)
    await leases.extend()
    assert work.done()
    assert leases.lost == 0
