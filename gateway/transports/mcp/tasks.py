"""`tasks/get`, `tasks/update` and `tasks/cancel`, in the revisions that have extensions."""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from mcp.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    RequestParams,
    SubscriptionFilter,
)
from msgspec import to_builtins
from msgspec.structs import replace
from pydantic import ValidationError

from gateway.errors import GatewayError
from gateway.transports.http.asgi import header_values
from gateway.transports.http.problems import log_failure, problem_of
from gateway.transports.json_rpc import HEADER_MISMATCH, INVALID_PARAMS, METHOD_NOT_FOUND
from gateway.transports.mcp.caller import Caller
from gateway.transports.mcp.errors import TASK, missing_capability
from gateway.transports.mcp.jobs import CallersJobs, error_in, task_of
from gateway.transports.mcp.protocol import (
    TASKS,
    ProtocolRevision,
    header_text,
    revision_of,
)
from gateway.transports.mcp.requests import CallerOf, Context, answering, declared_in, refused
from gateway.transports.mcp.results import failure, success
from gateway.transports.mcp.tools import Tools

_NAME: Final = b"mcp-name"
_TASK_IDS: Final = "taskIds"


class _TaskParams(RequestParams):
    task_id: str


class _UpdateParams(_TaskParams):
    input_responses: dict[str, Any]


_Params = TypeVar("_Params", bound=_TaskParams)


def require_extension(ctx: Context, notifications: SubscriptionFilter) -> None:
    """Refuse to listen to tasks without the extension. Raises `MCPError`."""
    if _TASK_IDS in (notifications.model_extra or {}) and "tasks" not in declared_in(ctx):
        raise _missing()


def add_tasks(server: Server[Any], tools: Tools, caller_of: CallerOf) -> None:
    """Add the methods to `server`. The tasks are the jobs of the caller."""

    async def get(ctx: Context, _: RequestParams) -> dict[str, Any]:
        caller, jobs, params = await _admit(ctx, _TaskParams, tools, caller_of)
        async with answering(caller, TASK):
            view = await jobs.view(params.task_id)
        task = {"resultType": "complete", **task_of(view)}
        if task["status"] == "completed":
            revision = revision_of(ctx.protocol_version)
            task["result"] = await _result(caller, jobs, params.task_id, revision)
        if task["status"] == "input_required":
            task["inputRequests"] = view.input_requests
        if task["status"] == "failed":
            task["error"] = to_builtins(error_in(view))
        return task

    async def update(ctx: Context, _: RequestParams) -> dict[str, Any]:
        caller, jobs, params = await _admit(ctx, _UpdateParams, tools, caller_of)
        async with answering(caller, TASK):
            await jobs.answer(params.task_id, params.input_responses)
        return {"resultType": "complete"}

    async def cancel(ctx: Context, _: RequestParams) -> dict[str, Any]:
        caller, jobs, params = await _admit(ctx, _TaskParams, tools, caller_of)
        async with answering(caller, TASK):
            await jobs.cancel(params.task_id)
        return {"resultType": "complete"}

    server.extensions[TASKS] = {}
    # The SDK would check parameters first. But whether the method exists comes before them.
    server.add_request_handler("tasks/get", RequestParams, get)
    server.add_request_handler("tasks/update", RequestParams, update)
    server.add_request_handler("tasks/cancel", RequestParams, cancel)


async def _admit(
    ctx: Context, kind: type[_Params], tools: Tools, caller_of: CallerOf
) -> tuple[Caller, CallersJobs, _Params]:
    """The caller, its jobs and the parameters. Raises `MCPError` unless it may name tasks."""
    if not revision_of(ctx.protocol_version).is_modern:
        raise MCPError(METHOD_NOT_FOUND, "Method not found")
    if "tasks" not in declared_in(ctx):
        raise _missing()
    params = _params_of(ctx, kind)
    _check_name(ctx, params.task_id)
    caller = await caller_of(ctx)
    jobs = tools.jobs_of(caller)
    if jobs is None:
        raise AssertionError("the extension is offered without jobs")
    return replace(caller, declared=declared_in(ctx)), jobs, params


def _params_of(ctx: Context, kind: type[_Params]) -> _Params:
    try:
        return kind.model_validate(ctx.params or {}, by_name=False)
    except ValidationError as error:
        member = ".".join(map(str, error.errors(include_input=False)[0]["loc"]))
        detail = f"Invalid params: the member params.{member} is missing or of a wrong type"
        raise MCPError(INVALID_PARAMS, detail) from None


def _check_name(ctx: Context, task_id: str) -> None:
    """Over HTTP, `Mcp-Name` is the id of the task. The SDK checks this for its own methods only."""
    if ctx.request is None:
        return
    values = header_values(ctx.request.scope, _NAME)
    if len(values) != 1 or header_text(values[0].decode("latin-1").strip(" \t")) != task_id:
        detail = "Mcp-Name header does not match the request body's 'taskId' parameter"
        raise MCPError(HEADER_MISMATCH, detail)


async def _result(
    caller: Caller, jobs: CallersJobs, task_id: str, revision: ProtocolRevision
) -> dict[str, Any]:
    """What the call would have been answered, had it not become a task."""
    try:
        answer = success(await jobs.result(task_id), revision)
    except GatewayError as error:
        log_failure(error, caller.request_id)
        answer = failure(problem_of(error, caller.request_id))
    shown: Mapping[str, Any] = answer.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {**shown, "resultType": "complete"}


def _missing() -> MCPError:
    return refused(missing_capability(("tasks",)))
