"""The claims that this process holds, kept alive by its heartbeat."""

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
    """One claim, and until when it is ours by this machine's monotonic clock."""

    __slots__ = ("claim", "deadline", "limit", "task")

    def __init__(self, claim: Claim, deadline: float) -> None:
        self.claim = claim
        self.deadline = deadline
        self.task: asyncio.Task[None] | None = None
        self.limit: asyncio.Timeout | None = None
        """Ends the run when the deadline has come."""

    def extend(self, deadline: float) -> None:
        """Count the claim as held until then."""
        self.deadline = deadline
        if self.limit is not None and not self.limit.expired():
            self.limit.reschedule(deadline)

    def lose(self) -> None:
        """Stop the work: somebody else has the job, or it was ended."""
        if self.task is not None:
            self.task.cancel()


class Leases:
    """All of one kind of job, by the id of the job."""

    def __init__(self, queue: Queue, policy: JobPolicy) -> None:
        self._queue = queue
        self._policy = policy
        self._by_job: dict[str, Lease] = {}
        self.lost = 0
        """Claims that ended before their work did."""

    def take(self, claim: Claim, asked_at: float) -> Lease:
        """Hold `claim`, which was asked for at that time of the event loop."""
        lease = Lease(claim, asked_at + self._policy.holding_seconds)
        self._by_job[claim.job.id] = lease
        return lease

    def drop(self, lease: Lease) -> None:
        """Forget it: its work has ended."""
        if self._by_job.get(lease.claim.job.id) is lease:
            del self._by_job[lease.claim.job.id]

    async def beat(self) -> None:
        """Give signs of life for as long as this runs."""
        while True:
            await asyncio.sleep(self._policy.heartbeat_seconds)
            try:
                async with asyncio.timeout(self._policy.heartbeat_seconds):
                    await self.extend()
            except (StoreError, TimeoutError) as error:
                # Nothing is lost by that alone: each claim has its own deadline.
                _log.warning("claims not extended: %s", type(error).__name__)

    async def extend(self) -> None:
        """Extend every claim once; the work whose claim is lost is stopped."""
        leases = [lease for lease in self._by_job.values() if not _is_over(lease)]
        if not leases:
            return
        asked_at = asyncio.get_running_loop().time()
        hit("jobs.in_heartbeat")
        kept = await self._queue.extend(
            [lease.claim for lease in leases], self._policy.lease_seconds
        )
        # Work that has ended meanwhile was dropped, and has no limit to be extended any more.
        for lease in (each for each in leases if self._by_job.get(each.claim.job.id) is each):
            if lease.claim.job.id in kept:
                lease.extend(asked_at + self._policy.holding_seconds)
            else:
                self.lost += 1
                lease.lose()


def _is_over(lease: Lease) -> bool:
    return asyncio.get_running_loop().time() >= lease.deadline
