"""The jobs of a caller, for all transports. A job of another caller does not exist."""

import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from gateway.audit.log import AuditLog
from gateway.auth.principal import Principal
from gateway.calls.asking import answering, open_questions
from gateway.calls.call import Result
from gateway.calls.idempotency import Describe, OutcomeUnknown, read_kept, result_of
from gateway.calls.jobs.running import RunningJobs
from gateway.calls.jobs.watching import JobWatches
from gateway.errors import CallerError, StateConflict
from gateway.store.protocols import TaskStore
from gateway.store.records import CallEnding, Page, StoredTask

KEPT: Final = timedelta(days=1)
"""How long the result of an ended job is kept."""
JobStatus = Literal["queued", "running", "input_required", "succeeded", "failed", "cancelled"]
"""`input_required`: it waits for answers of its client."""
ENDED: Final[frozenset[JobStatus]] = frozenset({"succeeded", "failed", "cancelled"})
_OF_STATE: Final[dict[str, JobStatus]] = {
    "processing": "running",
    "waiting": "input_required",
    "cancelled": "cancelled",
    "completed": "failed",
    "dead_letter": "failed",
}
_OF_OUTCOME: Final[dict[str, JobStatus]] = {"result": "succeeded", "too_large": "succeeded"}
_TOO_LARGE: Final = "The call was made. Its result was too large to be kept."
_CANCELLED: Final = "The job was cancelled while it ran: check whether the call had its effect."
_ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MAX_PAGE: Final = 200


class UnknownJob(CallerError):
    """You have no job with this id."""

    stage = "find"


class JobExpired(CallerError):
    """The job has ended, and its result is no longer kept."""

    stage = "find"


class JobUnderWay(StateConflict):
    """The job has not ended: ask again later."""

    stage = "find"
    is_retryable = True
    retry_after_seconds = 1.0


class JobProgress(Struct, frozen=True):
    """How far a call is."""

    done: float
    """A number that grows."""
    message: str
    """What it counts."""


class JobView(Struct, frozen=True, kw_only=True):
    """A job as its owner sees it."""

    id: str
    operation: str
    status: JobStatus
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | UnsetType = UNSET
    """Until when the result is kept. Unset while the job goes on."""
    progress: JobProgress | UnsetType = UNSET
    input_requests: dict[str, Any] | UnsetType = UNSET
    """The open questions, as MCP has them, by key."""
    result: Raw | UnsetType = UNSET
    mocked: tuple[str, ...] | UnsetType = UNSET
    """See `Result.mocked`. Unset if there are none."""
    left_out: int | UnsetType = UNSET
    """How many rows the result lacks. Unset if none."""
    problem: Any = UNSET
    """Why there is no result."""

    @property
    def has_ended(self) -> bool:
        return self.status in ENDED


def is_expired(task: StoredTask) -> bool:
    """Whether the job ended so long ago that its result is not kept."""
    return _status(task) in ENDED and task.looked_at >= task.job.updated_at + KEPT


def view_of(task: StoredTask, describe: Describe | None) -> JobView:
    """The job of `task`. Without `describe`, it has neither result nor problem."""
    job, status = task.job, _status(task)
    return JobView(
        id=job.id,
        operation=task.operation,
        status=status,
        created_at=job.created_at,
        updated_at=job.updated_at,
        expires_at=job.updated_at + KEPT if status in ENDED else UNSET,
        progress=UNSET
        if task.progress is None
        else JobProgress(task.progress, task.progress_text or ""),
        input_requests=_questions(task, status),
        problem=UNSET if describe is None else _problem(task, status, describe),
        **_result(task, describe),
    )


def _status(task: StoredTask) -> JobStatus:
    status = _OF_STATE.get(task.job.state, "queued")
    if task.job.state == "completed" and task.ending is not None:
        return _OF_OUTCOME.get(task.ending.outcome, status)
    return status


def _questions(task: StoredTask, status: JobStatus) -> dict[str, Any] | UnsetType:
    """The open questions. Lists do not have them."""
    is_shown = status == "input_required" and task.questions
    return open_questions(task.questions) if is_shown and task.questions else UNSET


def _result(task: StoredTask, describe: Describe | None) -> dict[str, Any]:
    """The members of a `JobView` about the result."""
    ending = task.ending
    if describe is None or ending is None or ending.outcome != "result":
        return {}
    text, marks = read_kept(ending.body)
    return {
        "result": Raw(text),
        "mocked": marks.mocked or UNSET,
        "left_out": len(marks.left_out) or UNSET,
    }


def _problem(task: StoredTask, status: JobStatus, describe: Describe) -> Any:
    """The problem as an object. Its request id is that of the job's audit record."""
    outcome = None if task.ending is None else task.ending.outcome
    if status not in ENDED or outcome in {"result", "cancelled"}:
        return UNSET
    text = b"" if task.ending is None else task.ending.body
    if outcome != "problem":
        details = {"too_large": _TOO_LARGE}
        is_cancelled = status == "cancelled"
        detail = _CANCELLED if is_cancelled else details.get(outcome or "")
        text = describe(OutcomeUnknown(detail))
    return {**msgspec.json.decode(text), "request_id": task.job.id}


_Watch: TypeAlias = AsyncGenerator[JobView | None, None]


class JobRequest(Struct, frozen=True, kw_only=True):
    """A request for jobs, for its audit record."""

    request_id: str
    operation_id: str
    """`jobs.<verb>`."""
    transport: Literal["rest", "mcp", "stdio"]


class OwnedJobs:
    """Shows, lists and cancels the jobs of their owners."""

    def __init__(
        self,
        tasks: TaskStore,
        audit: AuditLog,
        describe: Describe,
        running: RunningJobs,
        wake: Callable[[], None],
        watches: JobWatches,
    ) -> None:
        """`wake` notifies the workers of this process that there is a job."""
        self._tasks = tasks
        self._audit = audit
        self._describe = describe
        self._running = running
        self._wake = wake
        self.watches = watches

    async def watch(self, principal: Principal, job_id: str) -> _Watch:
        """The job, and again when it has changed, until it has ended or the gateway stops.

        None: nothing has changed for a while. Raises what `show` raises, and `LimitExceeded` if too
        many jobs are watched.
        """
        with self.watches.seat(principal.subject):
            task = await self._find(principal, job_id)
            seen: JobView | None = None
            with self.watches.watch(task) as watch:
                while watch.task is not None:
                    view = view_of(watch.task, self._describe)
                    yield view if view != seen else None
                    seen = view
                    if view.has_ended or watch.is_over:
                        return
                    await watch.wait()
            raise UnknownJob

    async def show(self, principal: Principal, job_id: str) -> JobView:
        """The job. Raises `UnknownJob` and `JobExpired`."""
        return view_of(await self._find(principal, job_id), self._describe)

    async def result(self, principal: Principal, job_id: str) -> Result:
        """The result of the call, as its tool would answer it.

        Raises the problem of the call, `JobUnderWay` while it goes on, and what `show` raises.
        """
        task = await self._find(principal, job_id)
        if view_of(task, None).status not in ENDED:
            raise JobUnderWay
        return result_of(task.ending or CallEnding(outcome="unknown"))

    async def list(self, principal: Principal, page: Page) -> Sequence[JobView]:
        """The jobs of the caller, newest first, without results."""
        found = await self._tasks.list(principal.subject, page)
        return [view_of(task, None) for task in found]

    async def cancel(self, principal: Principal, job_id: str, asked: JobRequest) -> JobView:
        """Cancel the job, and the attempt of its upstream. Returns what the job is now.

        A job that has ended stays as it is. Leaves an audit record. Raises what `show` raises.
        """
        async with self._audit.open(asked) as record:
            record.principal = principal
            record.facts, record.job_id = {"job_id": job_id[:64]}, job_id[:64]
            task = await self._find(principal, job_id)
            await record.begin()
            outcome: Literal["cancelled", "unknown"] = "cancelled" if task.is_read else "unknown"
            ending = CallEnding(outcome=outcome)
            if await self._tasks.cancel(job_id, ending, principal.agent):
                self._running.cancel(job_id)
                self.watches.wake()
            return await self.show(principal, job_id)

    async def answer(
        self,
        principal: Principal,
        job_id: str,
        answers: Mapping[str, Any],
        asked: JobRequest,
    ) -> JobView:
        """Answer questions of the job, which goes on once none is open. Returns what it is now.

        Answers to other keys are ignored, and those to a job that does not wait. Leaves an audit
        record. Raises `InvalidAnswer`, and what `show` raises.
        """
        async with self._audit.open(asked) as record:
            record.principal = principal
            record.facts, record.job_id = {"job_id": job_id[:64]}, job_id[:64]
            await self._find(principal, job_id)
            if await self._tasks.answer(job_id, answering(answers)):
                self._wake()
            self.watches.wake()
            return await self.show(principal, job_id)

    async def _find(self, principal: Principal, job_id: str) -> StoredTask:
        task = None
        if _ID.fullmatch(job_id):
            task = await self._tasks.find(job_id, principal.subject)
        if task is None:
            raise UnknownJob
        if is_expired(task):
            ended = task.job.updated_at.isoformat(timespec="seconds")
            raise JobExpired(f"The job ended at {ended}. Its result was kept for a day.")
        return task
