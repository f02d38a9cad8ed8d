"""Checks the lines of a host on stdio, by the rules of all transports."""

from gateway.transports.http.asgi import new_request_id
from gateway.transports.json_rpc.checking import Refusal, refusal, too_large
from gateway.transports.mcp.asking.reply import reply_of


def refusal_of_line(line: bytes, max_bytes: int) -> Refusal | None:
    """Why `line` is not served, or None if it is one valid message."""
    request_id = new_request_id()
    if len(line) > max_bytes:
        return too_large(line, max_bytes, request_id)
    refused = refusal(line, request_id)
    is_answer = refused is not None and refused.may_be_answer and reply_of(line) is not None
    return None if is_answer else refused
