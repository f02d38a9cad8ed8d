"""The worker: claims jobs, runs them, extends its claims, and ends claims of dead workers."""

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Final

from gateway.clock import Polls
from gateway.errors import GatewayError, StoreError
from gateway.failpoints import hit
from gateway.job_policy import WORK_POLICY, JobKind, JobPolicy, WorkPolicy
from gateway.jobs.completer import Endings, JobCompleter, OnDead, OnSettled
from gateway.jobs.outcome import (
    RUN_TIMEOUT,
    Failed,
    Finished,
    Outcome,
    Released,
    Run,
    error_name,
    wait_seconds,
)
from gateway.observability.defects import defect
from gateway.store.protocols import Queue, StoreRefused
from gateway.store.records import LEASE_EXPIRED, Changes, Claim, Failure, Job
from gateway.trace_context import current_trace, read_trace

_log: Final = logging.getLogger(__name__)
_SLOW_SHARE: Final = 4
"""A lane with slow jobs has at most this fraction of the slots (4: a quarter)."""
_GATHER_SECONDS: Final = 0.02
"""How long to wait for more free slots if few are free: one claim for several jobs costs less."""
_LISTED: Final = 20
"""Of jobs that are cut off, at most so many are named."""
_ERROR_WAIT_SECONDS: Final = (0.5, 1.0, 2.0, 5.0)
_SWEEP_LIMIT: Final = 500


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


class JobExecutor:
    """Runs claimed jobs and stores their outcomes. No failure of a run ends the worker."""

    def __init__(
        self, run: Run, policy: JobPolicy, leases: Leases, completer: JobCompleter
    ) -> None:
        self._run = run
        self._policy = policy
        self._leases = leases
        self._completer = completer

    async def attempt(self, lease: Lease) -> None:
        """Run the job and store its outcome, both while the claim is held."""
        claim = lease.claim
        # One task makes one attempt, so this context variable ends with the attempt.
        current_trace.set(read_trace(claim.job.trace))
        try:
            async with asyncio.timeout_at(lease.deadline) as lease.limit:
                outcome = await self._outcome(claim)
                hit("jobs.mid_run")
                await self._settle(claim, outcome)
        except TimeoutError:
            # The next sweep ends the claim and counts this attempt.
            self._leases.lost += 1
            _log.warning("job %s let go: its claim could not be extended", claim.job.id)
        finally:
            self._leases.drop(lease)

    async def _outcome(self, claim: Claim) -> Outcome:
        limit = asyncio.timeout(self._policy.timeout_seconds)
        try:
            async with limit:
                return await self._run(claim)
        except StoreRefused as error:
            return self._refused(claim, error)
        except StoreError:
            # The store failed, not the job, so the attempt does not count.
            return Released(delay_seconds=self._policy.busy_wait_seconds)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a payload provokes is a failed attempt
            # Store only the class: the text of an error may contain the payload.
            is_late = limit.expired() and isinstance(error, TimeoutError)
            name = RUN_TIMEOUT if is_late else error_name(error)
            extra = None if is_late or isinstance(error, GatewayError) else defect(error)
            at = claim.job.attempts, claim.job.id
            _log.error("attempt %d of job %s failed: %s", *at, name, extra=extra)
            return self._failed(claim, Failure(error=name))

    async def _settle(self, claim: Claim, outcome: Outcome) -> None:
        try:
            await self._completer.settle(claim, outcome)
        except StoreRefused as error:
            refused = self._refused(claim, error)
            await self._completer.settle(claim, _instead(outcome) or refused)
        except Exception as error:  # noqa: BLE001 - changes that the store cannot take: a failed attempt
            failure = Failure(error=error_name(error))
            extra = None if isinstance(error, GatewayError) else defect(error)
            _log.error(
                "outcome of job %s cannot be stored: %s", claim.job.id, failure.error, extra=extra
            )
            failed = self._failed(claim, failure)
            await self._completer.settle(claim, _instead(outcome) or failed)

    def _refused(self, claim: Claim, error: StoreRefused) -> Failed:
        """A failed attempt that names what the database refuses, without any value."""
        _log.error("attempt %d of job %s: %s", claim.job.attempts, claim.job.id, error.detail)
        return self._failed(claim, Failure(error=error_name(error), detail=error.detail))

    def _failed(self, claim: Claim, failure: Failure) -> Failed:
        return Failed(failure=failure, retry_seconds=wait_seconds(self._policy, claim.job))


def _instead(outcome: Outcome) -> Failed | None:
    """The failure that the run defines for a success that the store refuses, or None."""
    return outcome.if_refused if isinstance(outcome, Finished) else None


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
