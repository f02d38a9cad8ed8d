"""Checks that a text is one JSON-RPC message, with the same strict rules over HTTP and stdio.

The SDK accepts more than RFC 8259 allows, and this differs between revisions. To a malformed
message it answers with the text that was sent, or not at all. So the SDK only gets messages that
have passed this check.
"""

from typing import Any, Final

from msgspec import Struct

from gateway.contract.values import jsontext
from gateway.transports.json_rpc.request_ids import id_of_request
from gateway.transports.problem_kind import MALFORMED, TOO_LARGE, ProblemKind

INTERNAL_ERROR: Final = -32603
INVALID_PARAMS: Final = -32602
INVALID_REQUEST: Final = -32600
PARSE_ERROR: Final = -32700
_TITLES: Final = {
    INVALID_PARAMS: "Invalid params",
    INVALID_REQUEST: "Invalid request",
    PARSE_ERROR: "Parse error",
}
_WRONG_FORM: Final = "The body must be a single JSON-RPC 2.0 request or notification."


class Refusal(Struct, frozen=True, kw_only=True):
    """Why a text is not served, as an error of JSON-RPC."""

    id: int | str | None
    """That of the request. None: the text is no request, or its id cannot be read."""
    code: int
    problem: dict[str, Any]
    may_be_answer: bool = False
    """Whether the text is JSON that is accepted, but no request or notification."""

    @property
    def error(self) -> dict[str, Any]:
        """The member `error` of the answer."""
        return {"code": self.code, "message": _TITLES[self.code], "data": self.problem}

    @property
    def answer(self) -> bytes:
        """The answer as JSON text."""
        return jsontext.encode({"jsonrpc": "2.0", "id": self.id, "error": self.error})


def refusal(text: bytes, request_id: str) -> Refusal | None:
    """Why `text` is not served, or None if it is one well-formed message."""
    try:
        message = jsontext.decode(text, jsontext.MESSAGE)
    except jsontext.NotAccepted as error:
        detail = f"The message is not accepted: {error}."
        return invalid(id_of_request(text), detail, request_id)
    except jsontext.NotJson as error:
        detail = f"The message is not valid JSON: {error}."
        problem = _problem(MALFORMED, detail, request_id)
        return Refusal(id=None, code=PARSE_ERROR, problem=problem)
    if not _is_message(message):
        problem = _problem(MALFORMED, _WRONG_FORM, request_id)
        return Refusal(
            id=id_of_request(text), code=INVALID_REQUEST, problem=problem, may_be_answer=True
        )
    wrong = _wrong_member(message) if "id" in message else None
    if wrong is not None:
        problem = _problem(MALFORMED, wrong, request_id)
        return Refusal(id=message["id"], code=INVALID_PARAMS, problem=problem)
    return None


def invalid(message_id: int | str | None, detail: str, request_id: str) -> Refusal:
    """The refusal of a request that is JSON."""
    problem = _problem(MALFORMED, detail, request_id)
    return Refusal(id=message_id, code=INVALID_REQUEST, problem=problem)


def too_large(text: bytes, max_bytes: int, request_id: str) -> Refusal:
    """The refusal of a message of more than `max_bytes`, whose middle may be missing in `text`."""
    detail = (
        f"The message is larger than {max_bytes} bytes, the limit of the settings max_body_bytes"
        " and, for texts and files that a tool's contract allows, max_upload_bytes."
    )
    problem = _problem(TOO_LARGE, detail, request_id)
    return Refusal(id=id_of_request(text, max_bytes), code=INVALID_REQUEST, problem=problem)


def _is_message(message: Any) -> bool:
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return False
    has_params = isinstance(message.get("params"), dict | None)
    has_id = "id" not in message or type(message["id"]) in {int, str}
    return isinstance(message.get("method"), str) and has_params and has_id


def _wrong_member(message: dict[str, Any]) -> str | None:
    """The member of the parameters that is of a wrong type. The SDK would not name it."""
    params = message.get("params") or {}
    meta, arguments = params.get("_meta"), params.get("arguments")
    if not isinstance(meta, dict | None):
        return "The member params._meta must be an object."
    if type((meta or {}).get("progressToken", 0)) not in {int, str}:
        return "The member params._meta.progressToken must be a text or a whole number."
    if message["method"] == "tools/call" and not isinstance(arguments, dict | None):
        return "The member params.arguments must be an object, not text or a list."
    return _wrong_flag(params) if message["method"] == "subscriptions/listen" else None


def _wrong_flag(params: dict[str, Any]) -> str | None:
    """The kind of notification that is asked for by something that is not true or false."""
    asked = params.get("notifications")
    members = asked.items() if isinstance(asked, dict) else ()
    for name, value in members:
        if name.endswith("ListChanged") and not isinstance(value, bool | None):
            return f"The member params.notifications.{name} must be true or false."
    return None


def _problem(kind: ProblemKind, detail: str, request_id: str) -> dict[str, Any]:
    """The problem that `problem_of` makes of such an error. The bridge does without that table."""
    return {
        "type": f"/problems/{kind.slug}",
        "title": kind.title,
        "status": kind.status,
        "detail": detail,
        "code": kind.code,
        "request_id": request_id,
        "retryable": False,
    }
