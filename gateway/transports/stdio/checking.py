"""Checks the lines of a host on stdio, by the rules of all transports."""

import msgspec
from mcp_types import INVALID_REQUEST, ErrorData

from gateway.errors import PayloadTooLarge
from gateway.transports.http.asgi import new_request_id
from gateway.transports.http.problems import problem_of
from gateway.transports.mcp.asking.reply import reply_of
from gateway.transports.mcp.messages import refusal


def refusal_of_line(line: bytes, max_bytes: int) -> ErrorData | None:
    """The protocol error for `line`, or None if it is one valid message."""
    request_id = new_request_id()
    if len(line) <= max_bytes:
        error = refusal(line, request_id)
        return error if error is not None and reply_of(line) is None else None
    detail = f"The message is larger than {max_bytes} bytes."
    problem = problem_of(PayloadTooLarge(detail), request_id)
    data = msgspec.to_builtins(problem)
    return ErrorData(code=INVALID_REQUEST, message="Invalid request", data=data)
