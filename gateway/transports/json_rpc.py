"""JSON-RPC as texts: what is one message, its id, its errors, and what is answered to other texts.

The rules are strict, and the same over HTTP and stdio. The SDK accepts more than RFC 8259 allows,
and this differs between revisions. To a malformed message it answers with the text that was sent,
or not at all. So the SDK only gets messages that have passed this check.
"""

import re
from collections.abc import Iterator
from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from gateway.contract.values import jsontext
from gateway.transports.errors import MALFORMED, TOO_LARGE, ProblemKind
from gateway.transports.http.asgi import new_request_id

INTERNAL_ERROR: Final = -32603
INVALID_PARAMS: Final = -32602
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
PARSE_ERROR: Final = -32700
HEADER_MISMATCH: Final = -32020


class RpcError(Struct, frozen=True, omit_defaults=True):
    """The member `error` of an answer."""

    code: int
    message: str
    data: Any = None


HEAD_BYTES: Final = 64 * 1024
"""How much of the beginning is searched for the id. This takes at most about 20 ms."""
TAIL_BYTES: Final = 1024
"""How much of the end is searched: some clients write the id behind the parameters."""
_STRING: Final = rb'"(?:[^"\\]|\\.)*+"'
_NAME: Final = rb"(?P<name>" + _STRING + rb")\s*+"
_VALUE: Final = rb":\s*+(?P<value>" + _STRING + rb"|[-+.\w]++(?=[\s,}]))"
_TOKEN: Final = re.compile(_NAME + rb"(?:" + _VALUE + rb")?+" + rb'|[\[\]{}"]', re.DOTALL)
_MEMBER: Final = re.compile(_NAME + _VALUE, re.DOTALL)
_LAST_MEMBERS: Final = re.compile(
    rb"(?:,\s*+" + _STRING + rb"\s*+:\s*+(?:" + _STRING + rb"|[-+.\w]++)\s*+)++\}\s*+\Z", re.DOTALL
)
_ID: Final = b'"id"'
_METHOD: Final = b'"method"'


def id_of_request(text: bytes, head_bytes: int = HEAD_BYTES) -> int | str | None:
    """The id of the request in `text`. None if it is no request, or no id is found.

    `text` may have lost its middle, after `head_bytes`. Only its beginning and its end are
    searched. A request with two ids has none.
    """
    if not text.lstrip().startswith(b"{"):
        return None
    members = dict(_first_members(text, min(head_bytes, HEAD_BYTES)))
    members.update(_last_members(text))
    ids = [value for name, value in members.values() if name == _ID]
    is_request = any(name == _METHOD for name, _ in members.values())
    return _scalar(ids[0]) if is_request and len(ids) == 1 else None


def _first_members(text: bytes, end: int) -> Iterator[tuple[int, tuple[bytes, bytes | None]]]:
    """The members of the outermost object that begin before `end`, by their positions."""
    depth = 0
    for token in _TOKEN.finditer(text, 0, end):
        mark = token[0]
        if mark == b'"':
            return  # a string that ends later
        if mark in {b"{", b"["}:
            depth += 1
        elif mark in {b"}", b"]"}:
            depth -= 1
        elif depth == 1:
            yield token.start(), (token["name"], token["value"])


def _last_members(text: bytes) -> Iterator[tuple[int, tuple[bytes, bytes | None]]]:
    """The last members of the outermost object, as long as they are no containers."""
    found = _LAST_MEMBERS.search(text, max(0, len(text) - TAIL_BYTES))
    if found is not None:
        for member in _MEMBER.finditer(text, found.start()):
            yield member.start(), (member["name"], member["value"])


def _scalar(value: bytes | None) -> int | str | None:
    try:
        found: Any = None if value is None else msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return found if type(found) in {int, str} else None


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
    def error(self) -> RpcError:
        """The member `error` of the answer."""
        return RpcError(self.code, _TITLES[self.code], self.problem)

    @property
    def answer(self) -> bytes:
        """The answer as JSON text."""
        return error_response(self.id, self.error)


def error_response(message_id: int | str | None, error: RpcError) -> bytes:
    """The answer to a request that fails."""
    return jsontext.encode({"jsonrpc": "2.0", "id": message_id, "error": error})


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


def refusal_of_line(line: bytes, max_bytes: int) -> Refusal | None:
    """Why `line` is not served, or None if it is one valid message."""
    request_id = new_request_id()
    if len(line) > max_bytes:
        return too_large(line, max_bytes, request_id)
    refused = refusal(line, request_id)
    is_answer = refused is not None and refused.may_be_answer and reply_of(line) is not None
    return None if is_answer else refused


class ReplyError(Struct, frozen=True):
    """Why a client does not answer a question."""

    code: int
    message: str


class ClientReply(Struct, frozen=True):
    """What a client answers: a result or an error."""

    jsonrpc: Literal["2.0"]
    id: int | str
    result: Any = UNSET
    error: ReplyError | UnsetType = UNSET
    method: Any = UNSET
    """Makes it another message."""


_decode: Final = msgspec.json.Decoder(ClientReply).decode


def reply_of(text: bytes) -> ClientReply | None:
    """The message, if it is an answer; None for every other message."""
    try:
        found = _decode(text)
    except msgspec.DecodeError:
        return None
    has_one = (found.result is UNSET) is not (found.error is UNSET)
    return found if has_one and found.method is UNSET else None
