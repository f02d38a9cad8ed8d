"""Jobs as their owners see them."""

from datetime import datetime, timedelta
from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from gateway.calls.asking.kept import open_questions
from gateway.calls.idempotency.errors import OutcomeUnknown
from gateway.calls.idempotency.kept import read_kept
from gateway.calls.idempotency.once import Describe
from gateway.store.records import StoredTask

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
