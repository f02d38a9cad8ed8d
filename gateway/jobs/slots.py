"""The slots of a worker for one kind of job: which are free, and which lanes may have them."""

import asyncio
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Final

from gateway.job_policy import JobPolicy
from gateway.jobs.leases import Lease

_SLOW_SHARE: Final = 4
"""A lane with slow jobs has at most this fraction of the slots (4: a quarter)."""


class JobSlots:
    """Slots and the running jobs in them. Slow jobs have none, and hold back only their own lane.

    A job is slow when it runs for longer than `JobPolicy.slow_after_seconds`. So jobs of one lane
    that hang keep other lanes waiting for that time at most, and each lane has at most as many jobs
    as there are slots.
    """

    def __init__(self, policy: JobPolicy, size: int, running: Collection[Lease]) -> None:
        """`running`: the running jobs, as they are at any time."""
        self.number = policy.slots * size
        self._slow_after = policy.slow_after_seconds
        self._running = running

    @property
    def used(self) -> int:
        """How many slots are not free."""
        if self._slow_after is None:
            return len(self._running)
        now = asyncio.get_running_loop().time()
        return sum(now - each.taken_at < self._slow_after for each in self._running)

    def is_slow(self, lease: Lease) -> bool:
        """Whether the job of `lease` has run for so long that it has no slot any more."""
        now = asyncio.get_running_loop().time()
        return self._slow_after is not None and now - lease.taken_at >= self._slow_after

    def rooms(self) -> Mapping[str, int]:
        """How many more jobs each lane with slow jobs may have. Others have no limit."""
        slow = {each.claim.job.lane for each in self._running if self.is_slow(each)}
        if not slow:
            return {}
        running = Counter(each.claim.job.lane for each in self._running)
        most = max(1, self.number // _SLOW_SHARE)
        return {lane: max(0, most - running[lane]) for lane in slow}
