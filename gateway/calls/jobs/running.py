"""Runs jobs that make calls: those of callers, and those that webhooks cause.

How far the call of a caller is, is stored, so that its owner can see it from every process. A write
that may have happened is not repeated.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import Any, Final

from msgspec import Struct

from gateway.audit.log import Classify, NotBegun
from gateway.auth.principal import Credentials, Principal
from gateway.calls.asking import InputRequired, asking_of_task, texts_of
from gateway.calls.caching.answers import NotAnnounced
from gateway.calls.call import Begin, Call, CallBounds, Invoke, Result
from gateway.calls.idempotency import Describe, ending_of
from gateway.contract.context import ReportProgress
from gateway.errors import GatewayError, LimitExceeded, Stopping, StoreError, Unauthenticated
from gateway.failpoints import hit
from gateway.job_policy import WORK_POLICY, JobPolicy
from gateway.jobs.dead_letters import completed, in_doubt, task_ended
from gateway.jobs.outcome import (
    RUN_TIMEOUT,
    AwaitingInput,
    Failed,
    Finished,
    Outcome,
    Released,
    error_name,
    outcome_of,
)
from gateway.limits.standing import NotCounted
from gateway.store.protocols import Queue, TaskStore
from gateway.store.records import (
    LEASE_EXPIRED,
    RESTORED,
    CallEnding,
    Changes,
    Claim,
    Failure,
    Job,
    NewCall,
    StoredTask,
    TaskSettlement,
)

_log: Final = logging.getLogger(__name__)
PAUSE_SECONDS: Final = 1.0
"""The time between two writes for one job."""
MayAct = Callable[[Principal], Awaitable[bool]]
"""Whether the key of the principal is still valid."""
_CUT: Final = "The call was cut off: it may have happened."
_RESTORED: Final = "It waited when the backup was made that was restored: it may have happened."
_NOT_BEGUN: Final = (LimitExceeded, Stopping, NotBegun, NotCounted, NotAnnounced)
_UNMADE: Final = (*_NOT_BEGUN, InputRequired)
_LONGEST_WAIT_SECONDS: Final = 3600.0
_TAKEN_OVER: Final = "Another worker has the job by now."
RunCall = Callable[[NewCall], Awaitable[None]]
"""Calls the operation, with the gateway as the caller. Raises a `GatewayError`."""
IsRead = Callable[[str], bool]
"""Whether the operation with this id changes nothing."""

OUTCOME_UNKNOWN: Final = "outcome_unknown"
_FORGOTTEN: Final = Failure(error="forgotten", detail="Its arguments are not stored any more.")
_LOOK: Final = "which may have happened: look, then redrive it."
_CUT_OFF: Final = {
    LEASE_EXPIRED: f"Its worker died during the call, {_LOOK}",
    RUN_TIMEOUT: f"It took too long and was cut off during the call, {_LOOK}",
}
"""Errors after which it is unknown whether the previous attempt made the call."""
_CALL_RESTORED: Final = f"It waited when the backup was made that was restored, {_LOOK}"
_UNSTORED: Final = "The call was made, and that could not be stored: look, before you redrive it."


class RunningJobs:
    """Cancels jobs of this process at once. Other processes notice that their claim is lost."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        """`on_change` is called when a job begins, and when its progress was stored."""
        self.on_change = on_change
        self._tasks: dict[str, asyncio.Task[Any]] = {}

    @contextmanager
    def hold(self, job_id: str, work: asyncio.Task[Any] | None) -> Iterator[None]:
        """`work` runs the job until the block ends."""
        if work is not None:
            self._tasks[job_id] = work
        try:
            yield
        finally:
            self._tasks.pop(job_id, None)

    def cancel(self, job_id: str) -> None:
        """Cancel what runs the job, if that is here."""
        work = self._tasks.get(job_id)
        if work is not None:
            work.cancel()


class JobReports:
    """The reports of one call. Between two writes only the newest one is kept."""

    def __init__(
        self,
        tasks: TaskStore,
        pass_on: ReportProgress | None = None,
        on_stored: Callable[[], None] = lambda: None,
        pause_seconds: float = PAUSE_SECONDS,
    ) -> None:
        """`pass_on` gets each report too."""
        self._tasks = tasks
        self._pass_on = pass_on
        self._on_stored = on_stored
        self._pause_seconds = pause_seconds
        self._latest = self._stored = 0.0
        self._message = ""
        self._has_changed = asyncio.Event()
        self._is_over = asyncio.Event()

    def report(self, done: float, message: str, total: float | None = None, /) -> None:
        """See `ReportProgress`. The total is not stored."""
        if self._pass_on is not None:
            self._pass_on(done, message, total)
        if done > self._latest:
            self._latest, self._message = done, message
            self._has_changed.set()

    @asynccontextmanager
    async def stored_for(self, claim: Claim) -> AsyncIterator[None]:
        """Store the reports with the job of `claim`, also earlier ones, until the block ends."""
        writer = asyncio.create_task(self._write_all(claim), name="job-progress")
        try:
            yield
        finally:
            # The writer is not cancelled: it may be inside of a transaction.
            self._is_over.set()
            self._has_changed.set()
            await writer

    async def _write_all(self, claim: Claim) -> None:
        while not self._is_over.is_set():
            await self._has_changed.wait()
            self._has_changed.clear()
            if self._latest > self._stored:
                await self._write(claim)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._pause_seconds):
                    await self._is_over.wait()

    async def _write(self, claim: Claim) -> None:
        self._stored = self._latest
        try:
            await self._tasks.report(claim, self._latest, self._message)
        except StoreError as error:
            _log.warning("the progress of a job was not stored: %s", type(error).__name__)
            return
        self._on_stored()


class TaskRunParts(Struct, frozen=True, kw_only=True):
    """What the run of a job needs."""

    tasks: TaskStore
    invoke: Invoke
    describe: Describe
    classify: Classify
    may_act: MayAct
    running: RunningJobs
    policy: JobPolicy = WORK_POLICY.jobs["task"]


class TaskRun:
    """Makes the call with the grants that its owner has now. A write is never made twice.

    Before the effect of a write, its audit record is durable, and after that this worker still has
    the job. So a job that was taken back from a worker, and has no such record, had no effect: its
    worker has none either, if it wakes up.
    """

    def __init__(self, parts: TaskRunParts) -> None:
        self._parts = parts
        self.running = parts.running
        classify = parts.classify
        self._unmade = frozenset((classify(each())[1], each.stage) for each in _UNMADE)

    async def __call__(self, claim: Claim) -> Outcome:
        job = claim.job
        task = await self._parts.tasks.find(job.id)
        if task is None:
            return unknown(job)
        if job.actor == RESTORED and not task.is_read:
            return unknown(job, _RESTORED)
        is_cut_off = job.error in _CUT_OFF and not task.is_read
        if is_cut_off and await self._parts.tasks.may_have_begun(job.id, self._unmade):
            return unknown(job)
        with self.running.hold(job.id, asyncio.current_task()):
            self.running.on_change()
            reports = JobReports(self._parts.tasks, on_stored=self.running.on_change)
            async with reports.stored_for(claim):
                return await self._outcome(task, claim, reports)

    async def _outcome(self, task: StoredTask, claim: Claim, reports: JobReports) -> Outcome:
        job = claim.job
        try:
            result = await self.call(task, reports.report, partial(self._require, claim))
        except InputRequired as error:
            return waiting(error)
        except _NOT_BEGUN as error:
            asked = getattr(error, "retry_after_seconds", 0.0)
            wait = max(self._parts.policy.busy_wait_seconds, min(asked, _LONGEST_WAIT_SECONDS))
            return Released(delay_seconds=wait)
        except StoreError:
            if task.is_read:
                raise
            return unknown(job)
        except GatewayError as error:
            return failed(job, error, self._parts.describe)
        except Exception:
            if task.is_read:
                raise
            return unknown(job)
        hit("task.made")
        return succeeded(job, result)

    async def _require(self, claim: Claim) -> None:
        """Raise `NotBegun` unless the job is still claimed by `claim`."""
        try:
            task = await self._parts.tasks.find(claim.job.id)
        except StoreError as error:
            raise NotBegun from error
        found = None if task is None else (task.job.state, task.job.claim_seq)
        if found != ("processing", claim.job.claim_seq):
            raise NotBegun(_TAKEN_OVER)

    async def call(self, task: StoredTask, progress: ReportProgress, confirm: Begin) -> Result:
        """Make the call of `task`. `progress` gets how far it is.

        `confirm` is awaited before a write. Raises a `GatewayError`.
        """
        principal = Principal(subject=task.subject, agent=task.agent)
        refusal = None if await self._parts.may_act(principal) else Unauthenticated(presented=True)
        call = Call(
            operation_id=task.operation,
            credentials=Credentials(),
            arguments=task.arguments,
            transport="job",
            request_id=task.job.id,
            bounds=CallBounds(
                timeout_seconds=task.time_limit_seconds,
                max_attempts=task.max_attempts,
                idempotency_key=task.key,
            ),
            job_id=task.job.id,
            asking=asking_of_task(task),
            progress=progress,
            confirm=confirm,
        )
        return await self._parts.invoke(call, refusal, principal)


def waiting(error: InputRequired) -> AwaitingInput:
    """The outcome of a call that asks its client."""
    questions, answers = texts_of(error)
    return AwaitingInput(questions=questions, answers=answers)


def succeeded(job: Job, result: Result) -> Finished:
    """The outcome of a call with this result."""
    settled = TaskSettlement(job_id=job.id, ending=ending_of(result))
    return Finished(changes=task_ended(job, settled), if_refused=unknown(job))


def failed(job: Job, error: GatewayError, describe: Describe) -> Finished:
    """The outcome of a call that failed. The job has done its work: its owner gets the problem."""
    ending = CallEnding(outcome="problem", body=describe(error))
    is_free = error.is_retryable or error.frees_key
    settled = TaskSettlement(job_id=job.id, ending=ending, frees_key=is_free)
    return Finished(changes=task_ended(job, settled, error_name(error)))


def unknown(job: Job, detail: str = _CUT) -> Failed:
    """The outcome of a call that may have changed something."""
    failure = Failure(error=OUTCOME_UNKNOWN, detail=detail)
    # The events of a dead letter are added when it is stored.
    changes = in_doubt(job, failure).without_events()
    return Failed(failure=failure, retry_seconds=None, changes=changes)


class CallRun:
    """Makes the call. A write that may have happened is not repeated without an operator."""

    def __init__(
        self,
        queue: Queue,
        run_call: RunCall,
        is_read: IsRead,
        policy: JobPolicy = WORK_POLICY.jobs["call"],
    ) -> None:
        self._queue = queue
        self._run_call = run_call
        self._is_read = is_read
        self._policy = policy

    async def __call__(self, claim: Claim) -> Outcome:
        job = claim.job
        call = await self._queue.call(job.id)
        if call is None:
            return Failed(failure=_FORGOTTEN, retry_seconds=None)
        is_read = self._is_read(call.operation)
        if not is_read:
            if job.actor == RESTORED:
                return _in_doubt(_CALL_RESTORED)
            if job.error in _CUT_OFF:
                return _in_doubt(_CUT_OFF[job.error])
        try:
            await self._run_call(call)
        except Exception as error:
            if isinstance(error, GatewayError) and not isinstance(error, StoreError):
                return outcome_of(error, job, self._policy)
            if is_read:
                raise
            return _in_doubt(f"{error_name(error)} ended the call, {_LOOK}")
        changes = Changes(events=(completed(job),))
        return Finished(changes=changes, if_refused=None if is_read else _in_doubt(_UNSTORED))


def _in_doubt(detail: str) -> Failed:
    return Failed(failure=Failure(error=OUTCOME_UNKNOWN, detail=detail), retry_seconds=None)
