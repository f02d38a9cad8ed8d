"""What a request to the SDK's server says of its caller and its call, and how it is refused."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from msgspec.structs import replace

from gateway.calls.call import CallBounds
from gateway.contract.operation import Requirement
from gateway.errors import MalformedRequest
from gateway.transports.http.call_headers import bounds_of_meta, enter_trace
from gateway.transports.http.problems import log_failure, problem_of
from gateway.transports.json_rpc import INVALID_PARAMS, RpcError
from gateway.transports.mcp.caller import Caller
from gateway.transports.mcp.errors import RequestTarget, error_of
from gateway.transports.mcp.protocol import (
    NOTHING,
    declared_by,
    revision_of,
)

Context: TypeAlias = ServerRequestContext[Any, Any]
CallerOf: TypeAlias = Callable[[Context], Awaitable[Caller]]
"""Finds the caller of a message. Each transport has its own."""


def declared_in(ctx: Context) -> frozenset[Requirement]:
    """What this request declares, in a revision in which each request does."""
    meta = (ctx.params or {}).get("_meta") or {}
    return declared_by(meta) if revision_of(ctx.protocol_version).is_modern else NOTHING


def declaring(caller: Caller, ctx: Context) -> Caller:
    """The caller, with what its client declares: in the request, or before in `initialize`."""
    is_modern = revision_of(ctx.protocol_version).is_modern
    return replace(caller, declared=declared_in(ctx)) if is_modern else caller


def answered(caller: Caller, ctx: Context) -> Caller:
    """The caller, with the answers and the state that its request repeats."""
    if not revision_of(ctx.protocol_version).is_modern:
        return caller
    params = ctx.params or {}
    answers, state = params.get("inputResponses"), params.get("requestState")
    return replace(caller, answers=answers or {}, state=state)


def bounds_in(ctx: Context) -> CallBounds:
    """The limits that the caller asks for; its trace is entered too.

    Raises `MCPError` when the limits cannot be read.
    """
    meta = (ctx.params or {}).get("_meta") or {}
    enter_trace(meta)
    try:
        return bounds_of_meta(meta)
    except MalformedRequest as error:
        raise MCPError(INVALID_PARAMS, f"Invalid params: {error.detail}") from None


def refused(error: RpcError) -> MCPError:
    """`error`, for the SDK to answer with."""
    return MCPError(error.code, error.message, error.data)


@asynccontextmanager
async def answering(caller: Caller, target: RequestTarget) -> AsyncIterator[None]:
    """Raise what fails in the block as an `MCPError`. The request is for `target`."""
    try:
        yield
    except MCPError:
        raise
    except Exception as error:  # noqa: BLE001 - the one edge of methods that call no tool
        log_failure(error, caller.request_id)
        raise refused(error_of(problem_of(error, caller.request_id), target)) from None
