"""Chooses among the declared replies of an imported operation, and encodes their bodies."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from gateway.contract.imported import ImportedOperation, ImportedReply
from gateway.contract.schemas.samples import Schemas
from gateway.contract.upstream import status_names
from gateway.contract.values import jsontext

SAMPLE: Final = b"sample"
"""The bytes of all other media types."""
PNG: Final = "image/png"


def file_of(media_type: str) -> bytes:
    """The bytes of a file of `media_type`, which has no parameters."""
    return _FILES.get(media_type, SAMPLE)


# One sample of silence (RIFF, PCM, mono, 16 bits).
_WAVE: Final = base64.b64decode("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==")
# A document with one empty page (ISO 32000-1).
_PDF: Final = (
    b"%PDF-1.4\n"
    b"1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\n"
    b"xref\n"
    b"0 4\n"
    b"0000000000 65535 f \n"
    b"0000000009 00000 n \n"
    b"0000000052 00000 n \n"
    b"0000000101 00000 n \n"
    b"trailer<</Size 4/Root 1 0 R>>\n"
    b"startxref\n"
    b"160\n"
    b"%%EOF\n"
)
_FILES: Final[Mapping[str, bytes]] = {
    PNG: base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    ),
    "image/gif": base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"),
    # One grey pixel (ITU-T T.81, baseline). Each Huffman table has one code.
    "image/jpeg": base64.b64decode(
        "/9j/2wBDAAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB"
        "AQEBAQEBAQH/wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAP/EABQQAQAAAAAAAAAAAAAAAAAA"
        "AAD/2gAIAQEAAD8AP//Z"
    ),
    "image/webp": base64.b64decode("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="),
    "audio/wav": _WAVE,
    "audio/x-wav": _WAVE,
    "application/pdf": _PDF,
    "application/zip": b"PK\x05\x06" + bytes(18),
}


PROBLEM: Final = "application/problem+json"
_PREFERRED: Final[Mapping[str, Sequence[int]]] = {
    "POST": (201, 200, 202, 204),
    "DELETE": (204, 200, 202),
}
_OTHERWISE: Final = (200, 201, 202, 204)
ELSEWHERE: Final = "https://elsewhere.example/"
"""Where redirects lead. Nobody follows them (RFC 2606 §3)."""
_DEFAULT: Final = "DEFAULT"
_EVENTS: Final = 2
"""The events of a sampled stream."""
_TYPES: Final[Mapping[str, str]] = {
    "json": "application/json",
    "text": "text/plain",
    "binary": "application/octet-stream",
    "events": "text/event-stream",
}
_RANGES: Final[Mapping[str, str]] = {"image/*": PNG, "audio/*": "audio/wav"}
_KNOWN: Final = frozenset({"", "*", "application", "text"})
"""The ranges that hold the media types of `_TYPES`."""


class DeclaredReply(Struct, frozen=True):
    """A status that the document declares, and the reply that it declares for it."""

    status: int
    reply: ImportedReply


NO_CONTENT: Final = DeclaredReply(204, ImportedReply(status="204", kind="empty"))


def success_of(operation: ImportedOperation, accept: str = "") -> DeclaredReply:
    """The success that the operation has, or else a redirect. `NO_CONTENT` if it declares neither.

    `accept` is the caller's `Accept` (RFC 9110 §12.5.1). JSON is preferred unless it names another
    declared media type.
    """
    declared = {each.status.upper() for each in operation.replies}
    exact = sorted(int(each) for each in declared if each.isdigit())
    successes = [status for status in exact if 200 <= status < 300]
    preferred = [*_PREFERRED.get(operation.method, _OTHERWISE), *successes]
    chosen = [status for status in preferred if status in successes]
    if not chosen and ({"2XX", _DEFAULT} & declared):
        chosen = preferred[:1]
    if not chosen:
        chosen = [status for status in exact if 300 <= status < 400]
    found = reply_of(operation, chosen[0], accept) if chosen else None
    return found or NO_CONTENT


def reply_of(operation: ImportedOperation, status: int, accept: str = "") -> DeclaredReply | None:
    """The reply that is declared for `status`, by itself, its class or `default`."""
    for name in (*status_names(status), _DEFAULT):
        found = [each for each in operation.replies if each.status.upper() == name]
        if found:
            return DeclaredReply(status, max(found, key=lambda each: _preference(each, accept)))
    return None


def _preference(reply: ImportedReply, accept: str) -> int:
    named = [each.partition(";")[0].strip().lower() for each in accept.split(",")]
    essence = (reply.media_type or "").partition(";")[0].strip().lower()
    is_named = essence in named and "*" not in essence
    return 2 * is_named + (reply.kind == "json")


def is_declared_new(operation: ImportedOperation) -> bool:
    """Whether 201 is declared."""
    return any(each.status == "201" for each in operation.replies)


def media_type_of(reply: ImportedReply) -> str | None:
    """The Content-Type of the reply, a concrete one for a range. None if it has no body."""
    declared = reply.media_type or ""
    if reply.kind in {"empty", "redirect"}:
        return None
    if "*" not in declared and declared:
        return declared
    if declared in _RANGES:
        return _RANGES[declared]
    kind = declared.partition("/")[0]
    return _TYPES[reply.kind] if kind in _KNOWN else f"{kind}/x-sample"


def value_of(reply: ImportedReply, schemas: Schemas, *salt: str) -> Any:
    """A sampled value of the body. None if the body has none. Raises `NoSample`."""
    samples = schemas.samples(reply.schema)
    if reply.kind == "events":
        return [samples.sample(*salt, str(number)) for number in range(_EVENTS)]
    return samples.sample(*salt) if reply.kind in {"json", "text"} else None


def body_of(reply: ImportedReply, value: Any) -> bytes:
    """The bytes of a body with this value."""
    match reply.kind:
        case "empty" | "redirect":
            return b""
        case "text":
            return str(value).encode()
        case "binary":
            return file_of(str(media_type_of(reply)))
        case "events":
            if reply.is_whole_event:
                return b"".join(map(_whole_event, value))
            line = _line_of(str(media_type_of(reply)))
            return b"".join(line % jsontext.encode(each) for each in value)
        case "json":
            return jsontext.encode(value)


def _whole_event(event: Mapping[str, Any]) -> bytes:
    """The lines of one server-sent event (WHATWG HTML §9.2.5)."""
    data = str(event.get("data", "")).splitlines() or [""]
    lines = [f"{name}: {event[name]}" for name in ("event", "id", "retry") if name in event]
    return "\n".join([*lines, *(f"data: {each}" for each in data), "", ""]).encode()


def _line_of(media_type: str) -> bytes:
    """The form of one event."""
    if media_type.startswith("text/event-stream"):
        return b"data: %b\n\n"
    # RFC 7464 §2.2.
    return b"\x1e%b\n" if media_type.startswith("application/json-seq") else b"%b\n"
