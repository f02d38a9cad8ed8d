"""The errors of resources and prompts, as the protocol has them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import msgspec
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from gateway.calls.asking.errors import InvalidAnswer, NotAnswered
from gateway.contract.offered.template import LONGEST_URI
from gateway.contract.values.hidden import visible_text
from gateway.errors import (
    InvalidArguments,
    LimitExceeded,
    MalformedRequest,
    ToolFailed,
    UnknownOperation,
)
from gateway.transports.http.problems import log_failure, problem_of
from gateway.transports.mcp.caller import Caller

_THEIRS: Final = (InvalidArguments, InvalidAnswer, MalformedRequest, NotAnswered)
_NOT_FOUND: Final = 404
_LIMITED: Final = -32000
"""The first of the codes that JSON-RPC leaves to servers."""
_SHOWN: Final = 128


def not_found(uri: str) -> MCPError:
    """The same error for a resource that does not exist and one that the caller may not see."""
    return MCPError(
        INVALID_PARAMS, "Resource not found", {"uri": visible_text(uri[:LONGEST_URI])[0]}
    )


def unknown_prompt(name: str) -> MCPError:
    """The same error for a prompt that does not exist and one that the caller may not get."""
    return MCPError(INVALID_PARAMS, f"Unknown prompt: {visible_text(name[:_SHOWN])[0]}")


@asynccontextmanager
async def as_protocol_errors(caller: Caller, unknown: MCPError) -> AsyncIterator[None]:
    """Raise each error of the block as an `MCPError`: `unknown` where there is nothing to read."""
    try:
        yield
    except MCPError:
        raise
    except UnknownOperation:
        raise unknown from None
    except Exception as error:  # noqa: BLE001 - the one edge of resources and prompts
        problem = problem_of(error, caller.request_id)
        data = {**(unknown.error.data or {}), **msgspec.to_builtins(problem)}
        is_missing = isinstance(error, ToolFailed) and error.status == _NOT_FOUND
        if is_missing or isinstance(error, _THEIRS):
            raise MCPError(INVALID_PARAMS, problem.detail, data) from None
        if isinstance(error, LimitExceeded):
            raise MCPError(_LIMITED, problem.detail, msgspec.to_builtins(problem)) from None
        log_failure(error, caller.request_id)
        raise MCPError(INTERNAL_ERROR, problem.detail, msgspec.to_builtins(problem)) from None
