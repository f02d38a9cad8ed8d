"""The part of a worker that handles one kind of job."""

import asyncio
import logging
from collections import deque
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Final

from gateway.clock import Polls
from gateway.errors import StoreError
from gateway.failpoints import hit
from gateway.job_policy import JobKind, WorkPolicy
from gateway.jobs.executor import JobExecutor
from gateway.jobs.leases import Lease, Leases
from gateway.jobs.slots import JobSlots
from gateway.observability.defects import defect
from gateway.store.protocols import Queue
from gateway.store.records import LEASE_EXPIRED, Claim

_log: Final = logging.getLogger(__name__)
_GATHER_SECONDS: Final = 0.02
_LISTED: Final = 20
"""Of jobs that are cut off, at most so many are named."""
"""How long to wait for more free slots if few are free: one claim for several jobs costs less."""
_ERROR_WAIT_SECONDS: Final = (0.5, 1.0, 2.0, 5.0)


class JobFetcher:
    """Claims jobs of one kind and runs several of them at the same time."""

    def __init__(
        self, kind: JobKind, name: str, queue: Queue, leases: Leases, policy: WorkPolicy
    ) -> None:
        row = policy.jobs[kind]
        share = row.lane_share
        self._kind: JobKind = kind
        self._policy = row
        self._polls = Polls(policy.poll_seconds, policy.idle_poll_seconds)
        self._running: dict[asyncio.Task[None], Lease] = {}
        self._slots = JobSlots(row, policy.size, self._running.values())
        self._lane_limit = None if share is None else max(1, self._slots.number // share)
        self._name = name
        self._queue = queue
        self._leases = leases
        self._waiting: deque[Lease] = deque()
        """Claimed jobs that have not started: suspicious ones, which must run alone."""
        self._is_alone = False
        """Whether the running job must run alone."""
        self._is_stopping = False
        self._is_cut = asyncio.Event()
        self.is_failing = False
        """Whether the latest claim failed."""
        self._work_may_be_there = asyncio.Event()
        self._room_may_be_there = asyncio.Event()

    def wake(self) -> None:
        """Look for jobs now."""
        self._polls.note_work()
        self._work_may_be_there.set()

    def stop(self) -> None:
        """Stop claiming."""
        self._is_stopping = True
        self._work_may_be_there.set()
        self._room_may_be_there.set()

    def cut(self) -> None:
        """Let running jobs have no time in `finish`, also if it has begun."""
        self._is_cut.set()

    async def work(self, executor: JobExecutor) -> None:
        """Claim and run jobs until `stop`. Jobs that still run then are left to `finish`."""
        errors = 0
        while not self._is_stopping:
            self._work_may_be_there.clear()
            try:
                has_filled = await self._fill(executor)
                errors = 0
                self.is_failing = False
            except StoreError as error:
                _log.error("no %s jobs can be claimed (%s)", self._kind, error.detail)
                has_filled = False
                self.is_failing = True
                await _wait(self._work_may_be_there, _ERROR_WAIT_SECONDS[min(errors, 3)])
                errors += 1
            if has_filled:
                await self._room()
            else:
                if self._running:
                    self._polls.note_work()
                await _wait(self._work_may_be_there, self._polls.wait_seconds())
        await self._give_back(self._waiting)

    async def finish(self, seconds: float) -> None:
        """Wait at most `seconds` for running jobs, then cancel them, and say so.

        Jobs that are safe to repeat are released. A cancelled call may have happened, so it keeps
        its lease. When the lease expires, the next attempt sees this.
        """
        if not self._running:
            return
        await self._await_running(seconds)
        leases = list(self._running.values())
        late = list(self._running)
        if late:
            ids = " ".join(lease.claim.job.id for lease in leases[:_LISTED])
            _log.warning("%d %s jobs were cut off: %s", len(late), self._kind, ids)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
        if self._policy.is_repeatable:
            await self._give_back(leases)

    async def _await_running(self, seconds: float) -> None:
        """Return when no job runs, or after `seconds`, or at `cut`."""
        every = asyncio.ensure_future(asyncio.wait(self._running))
        cut = asyncio.ensure_future(self._is_cut.wait())
        try:
            await asyncio.wait((every, cut), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            every.cancel()
            cut.cancel()

    async def _fill(self, executor: JobExecutor) -> bool:
        """Fill the free slots. Returns whether there were enough jobs for all slots."""
        if self._waiting and not self._running:
            self._begin(self._waiting.popleft(), executor)
            self._is_alone = True
            return True
        free = 0 if self._waiting or self._is_alone else self._slots.number - self._slots.used
        if not free:
            return True
        asked_at = asyncio.get_running_loop().time()
        claims = await self._queue.claim(
            self._name,
            [self._kind],
            free,
            self._policy.lease_seconds,
            lane_limit=self._lane_limit,
            rooms=self._slots.rooms(),
        )
        if claims:
            hit("jobs.after_claim")
        await self._sort([self._leases.take(claim, asked_at) for claim in claims], executor)
        return len(claims) == free

    async def _sort(self, leases: Sequence[Lease], executor: JobExecutor) -> None:
        """Start the jobs that may start now, and keep one suspicious job for later.

        Other suspicious jobs are released before it runs. If they were held and the worker died,
        they would lose an attempt too.
        """
        suspicious = [lease for lease in leases if self._is_suspicious(lease.claim)]
        plain = [lease for lease in leases if lease not in suspicious]
        kept = 0 if self._is_stopping else 1
        self._waiting.extend(suspicious[:kept])
        await self._give_back([*suspicious[kept:], *(plain if self._is_stopping else ())])
        for lease in () if self._is_stopping else plain:
            self._begin(lease, executor)

    def _is_suspicious(self, claim: Claim) -> bool:
        job = claim.job
        return job.error == LEASE_EXPIRED and job.attempts >= self._policy.alone_from_attempt

    def _begin(self, lease: Lease, executor: JobExecutor) -> None:
        task = asyncio.create_task(executor.attempt(lease), name=f"{self._kind}-job")
        lease.task = task
        self._running[task] = lease
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        lease = self._running.pop(task, None)
        self._is_alone = False
        self._room_may_be_there.set()
        if self._lane_limit is not None or (lease is not None and self._slots.is_slow(lease)):
            # The lane may have been at its limit, with more jobs waiting.
            self._work_may_be_there.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            name = type(error).__name__
            _log.error("a defect of the worker: %s", name, extra=defect(error))

    async def _room(self) -> None:
        """Wait until one slot is free, and then a short time for more."""
        is_for_one = bool(self._waiting) or self._is_alone
        while not self._is_stopping and not self._has_room(is_for_one=is_for_one):
            await self._ending()
        with suppress(TimeoutError):
            async with asyncio.timeout(_GATHER_SECONDS):
                while not self._is_stopping and self._slots.used * 2 > self._slots.number:
                    await self._ending()

    def _has_room(self, *, is_for_one: bool) -> bool:
        return not self._running if is_for_one else self._slots.used < self._slots.number

    async def _ending(self) -> None:
        self._room_may_be_there.clear()
        await _wait(self._room_may_be_there, self._policy.slow_after_seconds)

    async def _give_back(self, leases: Collection[Lease]) -> None:
        """Release the jobs without counting the attempt. If this fails, their leases expire."""
        for lease in leases:
            self._leases.drop(lease)
        if not leases:
            return
        try:
            await self._queue.release([lease.claim for lease in leases])
        except StoreError as error:
            _log.error("%d %s jobs not released (%s)", len(leases), self._kind, error.detail)


async def _wait(event: asyncio.Event, seconds: float | None) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
