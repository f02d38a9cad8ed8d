"""Jobs as tasks of the extension `io.modelcontextprotocol/tasks` (SEP-2663)."""

from datetime import timedelta
from typing import Any, Final

from msgspec import UNSET

from gateway.calls.jobs.owned import JobView
from gateway.contract.values import jsontext
from gateway.transports.json_rpc import RpcError
from gateway.transports.mcp.errors import error_of_job
from gateway.transports.mcp.outgoing.whole import WholeResult

POLL_MS: Final = 1000
"""How often a client is asked to look. Jobs of other processes are looked up that often too."""


def task_result(view: JobView) -> WholeResult:
    """The answer that creates the task of the job. It has no result: the client asks for it."""
    values = {"resultType": "task", **task_of(view)}
    return WholeResult(values, jsontext.encode(values), "python", job_id=view.id)


def task_of(view: JobView) -> dict[str, Any]:
    """The members that each form of a task has."""
    message = _message(view)
    return {
        "taskId": view.id,
        "status": _status(view),
        **({} if message is None else {"statusMessage": message}),
        "createdAt": view.created_at.isoformat(),
        "lastUpdatedAt": view.updated_at.isoformat(),
        "ttlMs": _kept_ms(view),
        **({} if view.has_ended else {"pollIntervalMs": POLL_MS}),
    }


def error_in(view: JobView) -> RpcError | None:
    """The error with which the call ended. None if its tool has answered, or will."""
    is_problem = view.status == "failed" and view.problem is not UNSET
    return error_of_job(view.problem) if is_problem else None


def _status(view: JobView) -> str:
    if view.status == "input_required":
        return "input_required"
    if not view.has_ended:
        return "working"
    if view.status == "cancelled":
        return "cancelled"
    return "completed" if error_in(view) is None else "failed"


def _message(view: JobView) -> str | None:
    """How far the call is, or why there is no result."""
    if not view.has_ended and view.progress is not UNSET:
        return view.progress.message or f"{view.progress.done:.15g}"
    if view.status == "cancelled" or error_in(view) is not None:
        return None if view.problem is UNSET else view.problem.get("detail")
    return None


def _kept_ms(view: JobView) -> int | None:
    """How long after its creation the task is kept. None: as long as it goes on."""
    if view.expires_at is UNSET:
        return None
    return (view.expires_at - view.created_at) // timedelta(milliseconds=1)
