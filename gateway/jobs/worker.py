"""The worker: claims jobs, runs them, extends its claims, and ends claims of dead workers."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Final

from gateway.errors import StoreError
from gateway.failpoints import hit
from gateway.job_policy import WORK_POLICY, JobKind, WorkPolicy
from gateway.jobs.completer import JobCompleter, OnDead, OnSettled
from gateway.jobs.endings import Endings
from gateway.jobs.executor import JobExecutor
from gateway.jobs.fetcher import JobFetcher
from gateway.jobs.leases import Leases
from gateway.jobs.outcome import Run
from gateway.store.protocols import Queue
from gateway.store.records import LEASE_EXPIRED, Changes, Failure, Job

_log: Final = logging.getLogger(__name__)
_SWEEP_LIMIT: Final = 500


class Lookout:
    """Asks the store, for all that work in this process, whether others have left something.

    It is one question at a time for every kind of job and for events. So those that it wakes need
    to look by themselves only seldom, in case that it does not run.
    """

    def __init__(
        self,
        queue: Queue,
        wake_jobs: Callable[[], None],
        wake_events: Callable[[], None],
        poll_seconds: float,
    ) -> None:
        self._queue = queue
        self._wake_jobs = wake_jobs
        self._wake_events = wake_events
        self._poll_seconds = poll_seconds

    async def run(self) -> None:
        """Look every `poll_seconds` until cancelled."""
        is_failing = False
        while True:
            await asyncio.sleep(self._poll_seconds)
            try:
                found = await self._queue.waiting()
            except StoreError:
                # Those that work find the failure themselves, say so, and have their own waits.
                found = None
            if (found is None) != is_failing or (found is not None and found.has_due_jobs):
                self._wake_jobs()
            if (found is None) != is_failing or (found is not None and found.has_events):
                self._wake_events()
            is_failing = found is None


class Worker:
    """Works until it is stopped. When the store fails, it waits and tries again.

    `on_settled` is called with all changes that were stored, so that other parts can start the work
    that follows from them.
    """

    def __init__(
        self,
        queue: Queue,
        runs: Mapping[JobKind, Run],
        *,
        name: str,
        on_dead: OnDead,
        on_settled: OnSettled,
        policy: WorkPolicy = WORK_POLICY,
    ) -> None:
        self._queue = queue
        self._on_dead = on_dead
        self._on_settled = on_settled
        self._policy = policy
        self._leases = {kind: Leases(queue, policy.jobs[kind]) for kind in runs}
        self._endings = Endings(queue)
        self._sweep_failed = False
        self._completer = JobCompleter(queue, on_dead, self._settled)
        self._ends_at: float | None = None
        self._fetchers = {
            kind: (
                JobFetcher(kind, name, queue, self._leases[kind], policy),
                JobExecutor(run, policy.jobs[kind], self._leases[kind], self._completer),
            )
            for kind, run in runs.items()
        }

    @property
    def grace_seconds(self) -> float:
        """How long running jobs may take after `stop`."""
        return self._policy.grace_seconds

    @property
    def fenced(self) -> int:
        """The number of outcomes that were refused because their claims were lost."""
        return self._completer.fenced

    @property
    def lost(self) -> int:
        """The number of claims that ended before their run did."""
        return sum(leases.lost for leases in self._leases.values())

    @property
    def problem(self) -> str | None:
        """Why jobs do not run, described for the operator, or None."""
        if self._sweep_failed or any(fetcher.is_failing for fetcher, _ in self._fetchers.values()):
            return "Work cannot be claimed."
        return self._completer.problem

    def wake(self) -> None:
        """Look for jobs now."""
        for fetcher, _ in self._fetchers.values():
            fetcher.wake()

    def stop(self) -> None:
        """Stop claiming. `work` ends when the running jobs or the grace period have ended.

        The grace period counts from the first call.
        """
        if self._ends_at is None:
            self._ends_at = asyncio.get_running_loop().time() + self.grace_seconds
        for fetcher, _ in self._fetchers.values():
            fetcher.stop()

    def cut(self) -> None:
        """Stop claiming, and let the running jobs have no grace period."""
        self.stop()
        for fetcher, _ in self._fetchers.values():
            fetcher.cut()

    async def work(self) -> None:
        """Work until `stop` is called."""
        async with asyncio.TaskGroup() as watch:
            watches = [
                *(watch.create_task(of.beat(), name="heartbeat") for of in self._leases.values()),
                watch.create_task(self._sweep(), name="sweep"),
                watch.create_task(self._endings.work(), name="endings"),
            ]
            async with asyncio.TaskGroup() as group:
                for fetcher, executor in self._fetchers.values():
                    group.create_task(fetcher.work(executor))
            left = (self._ends_at or 0.0) - asyncio.get_running_loop().time()
            await asyncio.gather(*(fetcher.finish(left) for fetcher, _ in self._fetchers.values()))
            for task in watches:
                task.cancel()

    async def _sweep(self) -> None:
        now = asyncio.get_running_loop().time
        due = now() + self._policy.sweep_seconds
        while True:
            await asyncio.sleep(due - now())
            # The interval counts from the start of a sweep, so its duration does not add to it.
            due = now() + self._policy.sweep_seconds
            taken = _SWEEP_LIMIT
            while taken >= _SWEEP_LIMIT:
                taken = await self._take_back()

    async def _take_back(self) -> int:
        """End expired claims. Returns how many."""
        hit("jobs.in_sweep")
        wait = self._policy.crash_wait_seconds
        try:
            again, dead = await self._queue.sweep(_SWEEP_LIMIT, wait, self._died)
        except StoreError as error:
            _log.error("ended claims cannot be taken back (%s)", error.detail)
            self._sweep_failed = True
            return 0
        self._sweep_failed = False
        if again or dead:
            _log.warning("claims of dead workers: %d tried again, %d dead letters", again, dead)
            self.wake()
            self._settled(Changes())
        return again + dead

    def _died(self, job: Job) -> Changes:
        return self._on_dead(job, Failure(error=LEASE_EXPIRED))

    def _settled(self, changes: Changes) -> None:
        if changes.webhooks or changes.calls:
            self.wake()
        if changes.delivery is not None and changes.delivery.disable_because is not None:
            self._endings.add(changes.delivery.endpoint_id)
        self._on_settled(changes)
