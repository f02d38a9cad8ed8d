"""Claims that are kept alive while their work goes on, or ends at the same moment."""

import asyncio

from gateway.job_policy import WORK_POLICY
from gateway.jobs.worker import Leases
from gateway.store.records import Claim
from tests.unit.jobs.memory_queue import new_job


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
