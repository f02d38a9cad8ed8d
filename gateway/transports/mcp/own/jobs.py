"""Runs the tools for jobs, and describes jobs to MCP clients."""

from collections.abc import Callable, Mapping
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
from gateway.publication.jobs import job_tools
from gateway.transports.mcp.caller import Caller
from gateway.transports.mcp.outgoing.tasks import POLL_MS
from gateway.transports.mcp.own.calls import OwnCall, OwnJobs, result_of
from gateway.transports.mcp.own.offers import OwnKind

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
