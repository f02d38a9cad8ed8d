"""Jobs as MCP clients know them: as tasks (SEP-2663), or by tools of the gateway's own."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace

from gateway.auth.principal import Principal
from gateway.calls.call import Result
from gateway.calls.jobs.owned import JobRequest, JobView, OwnedJobs
from gateway.contract.agent_view import JOB_CANCEL, JOB_RESULT, JOB_STATUS
from gateway.contract.operation import JOBS
from gateway.contract.values import jsontext
from gateway.errors import StoreError
from gateway.publication.own_tools import job_tools
from gateway.transports.json_rpc import RpcError
from gateway.transports.mcp.caller import Caller
from gateway.transports.mcp.delivery import WholeResult
from gateway.transports.mcp.errors import error_of_job
from gateway.transports.mcp.own_tools import OwnCall, OwnJobs, OwnKind, result_of

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


_GOES_ON: Final = (
    f"The call goes on as a job. Call {JOB_STATUS} with this job_id until the status is succeeded,"
    f" failed or cancelled, then {JOB_RESULT}. Do not repeat the call."
)
_MESSAGES: Final = {
    "succeeded": f"The job has succeeded. Call {JOB_RESULT} with this job_id.",
    "failed": "The job has failed. The problem says why.",
    "cancelled": "The job was cancelled.",
}
_ASKS: Final = (
    "The job waits for answers to its questions. A client of MCP that declares tasks answers them"
    " with tasks/update. Do not repeat the call."
)


class CallersJobs(Struct, frozen=True, kw_only=True):
    """The jobs of the caller of one message."""

    owned: OwnedJobs
    principal: Principal
    asked: JobRequest
    deliver: Callable[[str, Result], Result]
    """Fits the result of the operation with an id into what the caller can be sent."""

    async def view(self, job_id: str) -> JobView:
        """The job with its result or problem. Raises a `GatewayError`."""
        return await self.owned.show(self.principal, job_id)

    async def made(self, result: Result) -> JobView:
        """The job that a call became, of which `result` has what is known without the store."""
        try:
            return await self.view(result.values["id"])
        except StoreError:
            return msgspec.json.decode(result.text, type=JobView)

    async def status(self, job_id: str) -> Result:
        """The job. Raises a `GatewayError`."""
        return _shown(await self.view(job_id))

    async def result(self, job_id: str) -> Result:
        """The result of the job. Raises a `GatewayError`, such as that of its call."""
        view = await self.view(job_id)
        result = await self.owned.result(self.principal, job_id)
        return self.deliver(view.operation, result)

    async def answer(self, job_id: str, answers: Mapping[str, Any]) -> JobView:
        """The job after these answers to its questions. Raises a `GatewayError`."""
        asked = replace(self.asked, operation_id=f"{JOBS}.input")
        return await self.owned.answer(self.principal, job_id, answers, asked)

    async def cancel(self, job_id: str) -> Result:
        """The job after its cancellation. Raises a `GatewayError`."""
        return _shown(await self.owned.cancel(self.principal, job_id, self.asked))


JOB_KIND: Final = OwnKind(
    job_tools,
    {
        JOB_STATUS: lambda call: _of(call).status(call.values["job_id"]),
        JOB_RESULT: lambda call: _of(call).result(call.values["job_id"]),
        JOB_CANCEL: lambda call: _of(call).cancel(call.values["job_id"]),
    },
)


def jobs_of(
    owned: OwnedJobs, caller: Caller, deliver: Callable[[str, Result], Result]
) -> CallersJobs:
    """The jobs of `caller`."""
    asked = JobRequest(
        request_id=caller.request_id, operation_id=f"{JOBS}.cancel", transport=caller.transport
    )
    return CallersJobs(owned=owned, principal=caller.principal, asked=asked, deliver=deliver)


def handle_of(result: Result) -> Result:
    """The result of a call that became a job, as a client gets it that knows no tasks."""
    values = result.values
    return replace(result, **_described(values["id"], values["operation"], values["status"]))


def _described(job_id: str, operation: str, status: str, **more: Any) -> dict[str, Any]:
    values = {
        "job_id": job_id,
        "operation": operation,
        "status": status,
        "message": _MESSAGES.get(status, _ASKS if status == "input_required" else _GOES_ON),
        **({} if status in _MESSAGES else {"poll_after_ms": POLL_MS}),
        **more,
    }
    return {"values": values, "text": jsontext.encode(values)}


def _shown(view: JobView) -> Result:
    progress = view.progress
    given = {
        "progress": UNSET if progress is UNSET else msgspec.to_builtins(progress),
        "problem": view.problem,
    }
    more = {name: value for name, value in given.items() if value is not UNSET}
    found = _described(view.id, view.operation, view.status, **more)
    return result_of(found["values"])


def _of(call: OwnCall) -> OwnJobs:
    if call.jobs is None:
        raise AssertionError("tools for jobs are offered without jobs")
    return call.jobs
