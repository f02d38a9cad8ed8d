"""Runs a job that makes the call of a caller."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from msgspec import Struct

from gateway.audit.log import Classify, NotBegun
from gateway.auth.principal import Credentials, Principal
from gateway.calls.asking.errors import InputRequired
from gateway.calls.asking.kept import asking_of_task, texts_of
from gateway.calls.caching.errors import NotAnnounced
from gateway.calls.call import Begin, Call, CallBounds, Invoke, Result
from gateway.calls.idempotency.once import Describe, ending_of
from gateway.calls.long.progress import JobReports
from gateway.calls.long.running import RunningJobs
from gateway.contract.context import ReportProgress
from gateway.errors import GatewayError, LimitExceeded, Stopping, StoreError, Unauthenticated
from gateway.failpoints import hit
from gateway.job_policy import WORK_POLICY, JobPolicy
from gateway.jobs.calling import OUTCOME_UNKNOWN
from gateway.jobs.dead_letters import in_doubt, task_ended
from gateway.jobs.outcome import (
    RUN_TIMEOUT,
    AwaitingInput,
    Failed,
    Finished,
    Outcome,
    Released,
    error_name,
)
from gateway.limits.standing import NotCounted
from gateway.store.protocols import TaskStore
from gateway.store.records import (
    LEASE_EXPIRED,
    RESTORED,
    CallEnding,
    Claim,
    Failure,
    Job,
    StoredTask,
    TaskSettlement,
)

MayAct = Callable[[Principal], Awaitable[bool]]
"""Whether the key of the principal is still valid."""
_CUT_OFF: Final = frozenset({LEASE_EXPIRED, RUN_TIMEOUT})
_CUT: Final = "The call was cut off: it may have happened."
_RESTORED: Final = "It waited when the backup was made that was restored: it may have happened."
_NOT_BEGUN: Final = (LimitExceeded, Stopping, NotBegun, NotCounted, NotAnnounced)
_UNMADE: Final = (*_NOT_BEGUN, InputRequired)
_LONGEST_WAIT_SECONDS: Final = 3600.0
_TAKEN_OVER: Final = "Another worker has the job by now."


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
        """See `Run`."""
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
