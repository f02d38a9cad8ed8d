"""Checks that a text is one JSON-RPC message, with the same strict rules over HTTP and stdio.

The SDK accepts more than RFC 8259 allows, and this differs between revisions. To a malformed
message it answers with the text that was sent, or not at all. So the SDK only gets messages that
have passed this check.
"""

from typing import Any, Final

import msgspec
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData
from msgspec import Struct, field

from gateway.contract.operation import Requirement
from gateway.contract.values import jsontext
from gateway.errors import MalformedRequest
from gateway.transports.http.problems import problem_of
from gateway.transports.mcp.protocol import asks_in_handshake


class Initialize(Struct, tag_field="method", tag="initialize"):
    """The first request of a client, in the handshake revisions."""

    params: Any = None

    @property
    def client(self) -> str:
        """The name with which the client introduces itself. Empty if it says none."""
        params = self.params
        return client_name(params.get("clientInfo") if isinstance(params, dict) else None)

    @property
    def asks(self) -> frozenset[Requirement]:
        """What the client can be asked."""
        return asks_in_handshake(self.params)


class _CancelledParams(Struct):
    request: int | str = field(name="requestId")


class Cancelled(Struct, tag_field="method", tag="notifications/cancelled"):
    """The client no longer waits for the answer to a request."""

    params: _CancelledParams


_controls: Final[msgspec.json.Decoder[Initialize | Cancelled]] = msgspec.json.Decoder(
    Initialize | Cancelled
)


def client_name(info: Any) -> str:
    """The name in a `clientInfo`. Empty if there is none: the SDK then refuses the message."""
    name = info.get("name") if isinstance(info, dict) else None
    return name if isinstance(name, str) else ""


def control_of(text: bytes) -> Initialize | Cancelled | None:
    """The message, if it concerns the transport itself; None for every other message."""
    try:
        return _controls.decode(text)
    except msgspec.DecodeError:
        return None


def refusal(text: bytes, request_id: str) -> ErrorData | None:
    """The protocol error for `text`, or None if it is one well-formed message."""
    try:
        message = jsontext.decode(text, jsontext.MESSAGE)
    except jsontext.NotJson as error:
        detail = f"The message is not valid JSON: {error}."
        return _error(PARSE_ERROR, "Parse error", detail, request_id)
    if not _is_message(message):
        detail = "The body must be a single JSON-RPC 2.0 request or notification."
        return _error(INVALID_REQUEST, "Invalid request", detail, request_id)
    return None


def not_awaited(request_id: str) -> ErrorData:
    """The protocol error for an answer that no call waits for."""
    detail = (
        "No call of this key and session waits for this answer. It was answered before, the call"
        " has ended, or another gateway has asked."
    )
    return _error(INVALID_REQUEST, "Invalid request", detail, request_id)


def _is_message(message: Any) -> bool:
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return False
    has_params = isinstance(message.get("params"), dict | None)
    has_id = "id" not in message or type(message["id"]) in {int, str}
    return isinstance(message.get("method"), str) and has_params and has_id


def _error(code: int, text: str, detail: str, request_id: str) -> ErrorData:
    problem = problem_of(MalformedRequest(detail), request_id)
    return ErrorData(code=code, message=text, data=msgspec.to_builtins(problem))
