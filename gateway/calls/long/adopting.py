"""Calls that became jobs while they ran. They end in the process in which they began."""

import asyncio
import logging
from contextlib import AsyncExitStack
from typing import Final

from msgspec import Struct

from gateway.calls.asking.errors import CapabilityMissing, InputRequired
from gateway.calls.call import Commitment, Result
from gateway.calls.idempotency.once import Describe
from gateway.calls.long.progress import JobReports
from gateway.calls.long.run import failed, succeeded, unknown, waiting
from gateway.calls.long.running import RunningJobs
from gateway.errors import GatewayError, StoreError
from gateway.failpoints import hit
from gateway.job_policy import WorkPolicy
from gateway.jobs.completer import JobCompleter
from gateway.jobs.outcome import Outcome
from gateway.store.protocols import Queue, TaskStore
from gateway.store.records import Claim, NewTask
from gateway.trace_context import current_trace, read_trace

_log: Final = logging.getLogger(__name__)


class AdoptingParts(Struct, frozen=True, kw_only=True):
    """What adopted calls need."""

    queue: Queue
    tasks: TaskStore
    completer: JobCompleter
    describe: Describe
    running: RunningJobs
    name: str
    """That of this process in claims."""
    policy: WorkPolicy


class RunningCall(Struct, frozen=True):
    """A call that runs in this process."""

    work: asyncio.Task[Result]
    commitment: Commitment
    reports: JobReports


class AdoptedCalls:
    """Holds the claims of calls that run already, and stores how they end."""

    def __init__(self, parts: AdoptingParts) -> None:
        self._parts = parts
        self._policy = parts.policy.jobs["task"]
        self._calls: dict[asyncio.Task[Result], asyncio.Task[None]] = {}
        self._ends_at: float | None = None

    async def adopt(self, task: NewTask, running: RunningCall) -> bool:
        """Make the running call a job. Returns whether the job is known to be stored."""
        claim: Claim | None = None
        # The call may end, and be recorded, while the job is stored.
        running.commitment.job_id = task.job_id
        try:
            claim = await self._parts.tasks.adopt(
                task, self._parts.name, self._policy.lease_seconds
            )
            hit("task.adopted")
        except StoreError as error:
            # It may be stored. Then it must end too.
            _log.error("a call did not become the job %s (%s)", task.job_id, error.detail)
            running.commitment.job_id = None
        following = self._follow(task, claim, running)
        follower, work = asyncio.create_task(following, name="adopted-call"), running.work
        self._calls[work] = follower
        follower.add_done_callback(lambda _: self._calls.pop(work, None))
        return claim is not None

    def stop(self) -> None:
        """Begin the grace period."""
        if self._ends_at is None:
            self._ends_at = asyncio.get_running_loop().time() + self._parts.policy.grace_seconds

    async def close(self) -> None:
        """Wait for the calls within the grace period, then cancel them, and say so."""
        self.stop()
        if not self._calls:
            return
        left = (self._ends_at or 0.0) - asyncio.get_running_loop().time()
        await asyncio.wait([*self._calls], timeout=max(left, 0))
        followers = [*self._calls.values()]
        if followers:
            _log.warning("%d calls that became jobs were cut off", len(followers))
        for work in self._calls:
            work.cancel()
        if followers:
            await asyncio.wait(followers, timeout=self._parts.policy.grace_seconds)
        for follower in followers:
            follower.cancel()

    async def _follow(self, task: NewTask, claim: Claim | None, running: RunningCall) -> None:
        work, job_id = running.work, task.job_id
        # The event of the end follows from the call, whose span this task does not have.
        current_trace.set(read_trace(task.trace))
        async with AsyncExitStack() as stack:
            stack.enter_context(self._parts.running.hold(job_id, work))
            if claim is not None:
                await stack.enter_async_context(running.reports.stored_for(claim))
            while not work.done():
                await asyncio.wait({work}, timeout=self._policy.heartbeat_seconds)
                if claim is not None and not work.done() and not await self._is_held(claim):
                    work.cancel()
        claim = claim or await self._stored_claim(job_id)
        if claim is not None:
            await self._parts.completer.settle(claim, self._outcome(task, claim, work))

    async def _is_held(self, claim: Claim) -> bool:
        """Extend the claim. False if the job was cancelled, or taken back."""
        try:
            return bool(await self._parts.queue.extend([claim], self._policy.lease_seconds))
        except StoreError as error:
            _log.warning("a claim was not extended: %s", type(error).__name__)
            return True

    async def _stored_claim(self, job_id: str) -> Claim | None:
        """The claim, if the job was stored although that was not certain."""
        try:
            stored = await self._parts.tasks.find(job_id)
        except StoreError:
            return None
        if stored is None or stored.job.claim_seq != 1:
            return None
        return Claim(job=stored.job, worker=self._parts.name)

    def _outcome(self, task: NewTask, claim: Claim, work: asyncio.Task[Result]) -> Outcome:
        job = claim.job
        if work.cancelled():
            return unknown(job)
        error = work.exception()
        if error is None:
            return succeeded(job, work.result())
        if isinstance(error, InputRequired):
            kinds = dict.fromkeys(each.kind for each in error.asked.values())
            lacking = tuple(each for each in kinds if each not in task.asks.split())
            if not lacking:
                return waiting(error)
            error = CapabilityMissing(lacking)
            error.frees_key = True
        return (
            failed(job, error, self._parts.describe)
            if isinstance(error, GatewayError)
            else unknown(job)
        )
