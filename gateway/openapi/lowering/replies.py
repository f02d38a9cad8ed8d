"""Declared replies: every status, range and default (OpenAPI 3.2 §4.16 Responses Object)."""

import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final, Literal

from msgspec.structs import replace

from gateway.contract.imported import ImportedReply
from gateway.contract.operation import DeclaredError
from gateway.contract.values.pointers import child
from gateway.encoding.replies.content import BODILESS, REDIRECTS
from gateway.openapi.lowering.headers import declares_link, headers_of
from gateway.openapi.lowering.naming import snake_case
from gateway.openapi.lowering.records import OperationSource
from gateway.openapi.lowering.requests.arguments import shortened
from gateway.openapi.lowering.requests.media import essence, kind_of
from gateway.openapi.lowering.selection import HeaderChoice
from gateway.openapi.lowering.view import DocumentView
from gateway.openapi.reading.schemas import Schema

ReplyKind = Literal["json", "text", "binary", "events"]

_STATUS: Final = re.compile(r"[1-5](?:[0-9][0-9]|XX)")
_REDIRECTS: Final = frozenset({"3XX", *map(str, REDIRECTS)})
_MAX_TITLE: Final = 200
_EVENT_STREAM: Final = "text/event-stream"


def replies_of(
    view: DocumentView, operation: OperationSource, choice: HeaderChoice
) -> tuple[ImportedReply, ...]:
    """The declared replies in document order. Raises `Unservable` and `PartRefused`."""
    found: list[ImportedReply] = []
    listed = [*_listed(view, operation)]
    only_redirects = not any(_is_success(status) for status, _, _ in listed)
    for status, pointer, node in listed:
        value, place = view.part(node, pointer)
        is_redirect = only_redirects and status in _REDIRECTS
        is_result = is_redirect or _is_success(status)
        headers = headers_of(view, value, place, choice) if is_result else ()
        if is_redirect:
            found.append(ImportedReply(status=status, kind="redirect", headers=headers))
            message = f"{status} is the only success: the result is its `location`, not fetched"
            view.note(place, "reply/redirect", message)
            continue
        content = value.get("content")
        if not isinstance(content, dict) or not content:
            found.append(ImportedReply(status=status, kind="empty", headers=headers))
            _note_untyped(view, operation, status, place)
            continue
        place = child(place, "content")
        found += (
            replace(
                _lowered(view, status, media_type, media, child(place, media_type)), headers=headers
            )
            for media_type, media in content.items()
        )
    return tuple(found)


def _note_untyped(
    view: DocumentView, operation: OperationSource, status: str, pointer: str
) -> None:
    """A note for a success that may have a body and declares none."""
    if status.startswith("2") and status not in BODILESS and operation.method != "HEAD":
        message = f"{status} declares no content; a body that comes is passed on unchecked"
        view.note(pointer, "reply/no-content", message)


def is_linked(view: DocumentView, operation: OperationSource) -> bool:
    """Whether a reply of success declares the header `Link`."""
    return any(
        declares_link(view.part(node, pointer).value)
        for status, pointer, node in _listed(view, operation)
        if _is_success(status)
    )


def _is_success(status: str) -> bool:
    return status.startswith("2") or status == "default"


def errors_of(view: DocumentView, operation: OperationSource) -> tuple[DeclaredError, ...]:
    """The declared errors: each reply with an exact status of 400 or higher."""
    found: dict[int, DeclaredError] = {}
    for status, pointer, node in _listed(view, operation):
        if status.isdigit() and int(status) >= 400:
            value = view.part(node, pointer).value
            found[int(status)] = _error(int(status), value.get("description"))
    return tuple(found[status] for status in sorted(found))


def _listed(view: DocumentView, operation: OperationSource) -> Iterator[tuple[str, str, Any]]:
    """Status, pointer and Response Object of each reply."""
    responses = operation.value.get("responses")
    pointer = child(operation.pointer, "responses")
    for name, node in (responses if isinstance(responses, dict) else {}).items():
        status = name.upper()
        if name == "default" or _STATUS.fullmatch(status):
            yield ("default" if name == "default" else status), child(pointer, name), node
        elif not name.startswith("x-"):
            message = f"{name!r} is neither a status nor a range of statuses; it is left out"
            view.note(child(pointer, name), "reply/status", message)


def _lowered(
    view: DocumentView, status: str, media_type: str, node: Any, pointer: str
) -> ImportedReply:
    media, place = view.part(node, pointer)
    kind, schema = _content(view, media_type, media, place)
    return ImportedReply(
        status=status,
        kind=kind,
        media_type=essence(media_type),
        schema=schema,
        is_whole_event=essence(media_type) == _EVENT_STREAM and "itemSchema" in media,
    )


def _content(
    view: DocumentView, media_type: str, media: Mapping[str, Any], pointer: str
) -> tuple[ReplyKind, Schema]:
    """How a reply is read, and the schema of its value."""
    raw = media.get("schema", True)
    match kind_of(media_type):
        case "events":
            member = "itemSchema" if "itemSchema" in media else "schema"
            return "events", view.lower(media.get(member, True), "output", child(pointer, member))
        case "text" | "xml" | "form":
            return "text", True
        case "json":
            return "json", view.lower(raw, "output", child(pointer, "schema"))
        case "any" if raw is not True and not view.is_binary(raw):
            schema = view.lower(raw, "output", child(pointer, "schema"))
            return ("text", True) if _is_text(view.schemas.target(schema)) else ("json", schema)
        case _:
            return "binary", True


def _is_text(schema: Schema) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "string"


def _error(status: int, description: Any) -> DeclaredError:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = f"Status {status}"
    first = description.strip().partition("\n")[0] if isinstance(description, str) else ""
    title = shortened(first, _MAX_TITLE) or phrase
    return DeclaredError(reason=snake_case(phrase), status=status, title=title)
