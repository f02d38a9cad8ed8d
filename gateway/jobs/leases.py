"""The claims that this process holds. A heartbeat extends them."""

import asyncio
import logging
from typing import Final

from gateway.errors import StoreError
from gateway.failpoints import hit
from gateway.job_policy import JobPolicy
from gateway.store.protocols import Queue
from gateway.store.records import Claim

_log: Final = logging.getLogger(__name__)


class Lease:
    """One claim, and its deadline by this machine's monotonic clock."""

    __slots__ = ("claim", "deadline", "limit", "taken_at", "task")

    def __init__(self, claim: Claim, taken_at: float, deadline: float) -> None:
        self.claim = claim
        self.taken_at = taken_at
        self.deadline = deadline
        self.task: asyncio.Task[None] | None = None
        self.limit: asyncio.Timeout | None = None
        """Cancels the run at the deadline."""

    def extend(self, deadline: float) -> None:
        """Set a new deadline."""
        self.deadline = deadline
        if self.limit is not None and not self.limit.expired():
            self.limit.reschedule(deadline)

    def lose(self) -> None:
        """Cancel the run: another worker has the job, or the job has ended."""
        if self.task is not None:
            self.task.cancel()


class Leases:
    """All leases of one kind of job, by the id of the job."""

    def __init__(self, queue: Queue, policy: JobPolicy) -> None:
        self._queue = queue
        self._policy = policy
        self._by_job: dict[str, Lease] = {}
        self.lost = 0
        """The number of claims that ended before their run did."""

    def take(self, claim: Claim, asked_at: float) -> Lease:
        """Hold `claim`, which was requested at the time `asked_at` of the event loop."""
        lease = Lease(claim, asked_at, asked_at + self._policy.holding_seconds)
        self._by_job[claim.job.id] = lease
        return lease

    def drop(self, lease: Lease) -> None:
        """Remove the lease, because its run has ended."""
        if self._by_job.get(lease.claim.job.id) is lease:
            del self._by_job[lease.claim.job.id]

    async def beat(self) -> None:
        """Extend all claims regularly, until cancelled."""
        while True:
            await asyncio.sleep(self._policy.heartbeat_seconds)
            try:
                async with asyncio.timeout(self._policy.heartbeat_seconds):
                    await self.extend()
            except (StoreError, TimeoutError) as error:
                # The claims are not lost yet: each has its own deadline.
                _log.warning("claims not extended: %s", type(error).__name__)

    async def extend(self) -> None:
        """Extend every claim once. Cancel runs whose claim is lost."""
        leases = [lease for lease in self._by_job.values() if not _is_over(lease)]
        if not leases:
            return
        asked_at = asyncio.get_running_loop().time()
        hit("jobs.in_heartbeat")
        kept = await self._queue.extend(
            [lease.claim for lease in leases], self._policy.lease_seconds
        )
        # Leases of runs that ended meanwhile were dropped and cannot be extended.
        for lease in (each for each in leases if self._by_job.get(each.claim.job.id) is each):
            if lease.claim.job.id in kept:
                lease.extend(asked_at + self._policy.holding_seconds)
            else:
                self.lost += 1
                lease.lose()


def _is_over(lease: Lease) -> bool:
    return asyncio.get_running_loop().time() >= lease.deadline
