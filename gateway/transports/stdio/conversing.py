"""Asks a host of the handshake revisions what the remote gateway asks by rounds."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolRequestParams, CallToolResult, InputRequiredResult
from pydantic import TypeAdapter

from gateway.calls.asking.errors import InvalidAnswer, NotAnswered
from gateway.calls.asking.wire import OpenQuestion
from gateway.transports.http.asgi import new_request_id
from gateway.transports.http.problems import problem_of
from gateway.transports.mcp.results import failure
from gateway.transports.mcp.task_methods import Context
from gateway.transports.stdio.asking import asking_host

Outcome: TypeAlias = CallToolResult | InputRequiredResult
_params: TypeAdapter[CallToolRequestParams] = TypeAdapter(CallToolRequestParams)
MAX_ROUNDS = 20
"""The most rounds of one call: a gateway asks no more questions."""


async def conversed(
    ctx: Context,
    params: CallToolRequestParams,
    call: Callable[[CallToolRequestParams], Awaitable[Outcome]],
) -> Outcome:
    """The outcome of `call` when the host has answered all questions.

    A host of revision 2026-07-28 is passed the questions. Raises `MCPError`.
    """
    ask = asking_host(ctx)
    result = await call(params)
    for _ in range(MAX_ROUNDS):
        if ask is None or not isinstance(result, InputRequiredResult):
            return result
        try:
            answers = await ask(_questions(result))
        except (InvalidAnswer, NotAnswered) as error:
            return failure(problem_of(error, new_request_id()))
        repeated = {**params.model_dump(by_alias=True, exclude_none=True)}
        repeated |= {"inputResponses": answers, "requestState": result.request_state}
        result = await call(_params.validate_python(repeated, by_name=False))
    raise MCPError(INVALID_PARAMS, f"The tool asks in more than {MAX_ROUNDS} rounds.")


def _questions(result: InputRequiredResult) -> dict[str, OpenQuestion]:
    """The questions by key, as the remote has written them."""
    found: dict[str, OpenQuestion] = {}
    for key, request in (result.input_requests or {}).items():
        known: dict[str, Any] = request.model_dump(mode="json", by_alias=True, exclude_none=True)
        found[key] = OpenQuestion(known["method"], known.get("params") or {})
    return found
