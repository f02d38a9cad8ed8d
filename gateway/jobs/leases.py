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
        hold = Lease(claim, asked_at + self._policy.holding_seconds)
        self._by_job[claim.job.id] = hold
        return hold

    def drop(self, hold: Lease) -> None:
        """Forget it: its work has ended."""
        if self._by_job.get(hold.claim.job.id) is hold:
            del self._by_job[hold.claim.job.id]

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
        holds = [hold for hold in self._by_job.values() if not _is_over(hold)]
        if not holds:
            return
        asked_at = asyncio.get_running_loop().time()
        hit("jobs.in_heartbeat")
        kept = await self._queue.extend([hold.claim for hold in holds], self._policy.lease_seconds)
        # Work that has ended meanwhile was dropped, and has no limit to be extended any more.
        for hold in (each for each in holds if self._by_job.get(each.claim.job.id) is each):
            if hold.claim.job.id in kept:
                hold.extend(asked_at + self._policy.holding_seconds)
            else:
                self.lost += 1
                hold.lose()


def _is_over(hold: Lease) -> bool:
    return asyncio.get_running_loop().time() >= hold.deadline
