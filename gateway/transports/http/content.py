"""What a request accepts and sends: media types (RFC 9110 §8.3, §12.5.1), arguments in queries."""

import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from gateway.contract.values import jsontext
from gateway.errors import MalformedRequest, NotAcceptable, UnsupportedMediaType
from gateway.transports.http.asgi import Headers, Scope, of_head

_JSON_BODY: Final = re.compile(
    rb'application/json[ \t]*(;[ \t]*charset="?utf-8"?[ \t]*)?;?', re.IGNORECASE
)
_REFUSED: Final = re.compile(r"q=0(\.0{0,3})?")


def require_json_body(scope: Scope) -> None:
    """Raise `UnsupportedMediaType` unless exactly one Content-Type declares the body as JSON."""
    if not of_head(scope, _declares_json):
        raise UnsupportedMediaType


def _declares_json(headers: Headers) -> bool:
    values = [value for name, value in headers if name == b"content-type"]
    return len(values) == 1 and _JSON_BODY.fullmatch(values[0]) is not None


def require_accept(scope: Scope, *media_types: str) -> None:
    """Raise `NotAcceptable` unless the client accepts one of `media_types`."""
    if not any(accepts(scope, media_type) for media_type in media_types):
        types = " or ".join(media_types)
        raise NotAcceptable(f"The answer is {types}, and the Accept header admits none of that.")


def accepts(scope: Scope, media_type: str) -> bool:
    """Whether the client accepts `media_type`. Without an Accept header it accepts everything."""
    return accepts_in(of_head(scope, accepted_in), media_type)


def accepted_in(headers: Headers) -> str | None:
    """The media ranges of all Accept headers. None: there is no such header."""
    values = [value for name, value in headers if name == b"accept"]
    return b",".join(values).decode("latin-1") if values else None


def accepts_in(ranges: str | None, media_type: str) -> bool:
    """Whether these media ranges of a request cover `media_type`. None covers everything."""
    return ranges is None or _accepts(ranges, media_type)


@lru_cache(maxsize=256)
def _accepts(header: str, media_type: str) -> bool:
    """Whether the most specific media range that covers `media_type` has a quality above zero."""
    accepted = dict(_ranges(header.lower()))
    main = media_type.partition("/")[0]
    for media_range in (media_type, f"{main}/*", "*/*"):
        if media_range in accepted:
            return accepted[media_range]
    return False


def _ranges(header: str) -> Iterator[tuple[str, bool]]:
    """The media ranges of an Accept header, and whether each is accepted or refused."""
    for part in header.split(","):
        media_range, *parameters = (piece.strip() for piece in part.split(";"))
        yield media_range, not any(_REFUSED.fullmatch(parameter) for parameter in parameters)


Readings = Mapping[str, str]
"""The name of an argument to the JSON type as which its text is read."""

_MOST: Final = 100
_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]{0,99})(\.[0-9]{1,99})?([eE][+-]?[0-9]{1,3})?")
_BOOLEANS: Final = frozenset({"true", "false"})


def readings_of(schema: Mapping[str, Any]) -> Readings:
    """How to read the arguments of `schema`: scalars, and lists of texts, which are repeated."""
    return {name: member["type"] for name, member in schema["properties"].items()}


def arguments_of(query: bytes, readings: Readings) -> bytes:
    """The JSON text of the arguments in `query`, for validation by the input schema.

    A value that is not of its type stays text. Unknown parameters are kept. Repeated parameters
    become an array. So validation refuses each of them in the same way as in a body. Raises
    `MalformedRequest` for text that is not UTF-8, and for more parameters than any tool has.
    """
    parts = [part for part in query.split(b"&") if part]
    if len(parts) > _MOST:
        raise MalformedRequest(f"There are more than {_MOST} query parameters.")
    values: dict[str, list[bytes]] = {}
    for part in parts:
        name, _, text = part.partition(b"=")
        known = _decoded(name)
        values.setdefault(known, []).append(as_json(_decoded(text), readings.get(known, "string")))
    members = (
        jsontext.encode(name) + b":" + _joined(texts, is_list=readings.get(name) == "array")
        for name, texts in values.items()
    )
    return b"{" + b",".join(members) + b"}"


def parameters_of(query: bytes, known: Collection[str]) -> dict[str, str]:
    """The query as texts by name. Raises `MalformedRequest` for an unknown or repeated name."""
    parameters: dict[str, str] = {}
    for part in filter(None, query.split(b"&")):
        name, _, text = part.partition(b"=")
        decoded = _decoded(name)
        if decoded not in known or decoded in parameters:
            listed = ", ".join(sorted(known)) or "nothing"
            raise MalformedRequest(f"The query may hold {listed}, each once.")
        parameters[decoded] = _decoded(text)
    return parameters


def _joined(texts: list[bytes], *, is_list: bool) -> bytes:
    return texts[0] if len(texts) == 1 and not is_list else b"[" + b",".join(texts) + b"]"


def as_json(text: str, kind: str) -> bytes:
    """`text` as JSON of the type `kind` if it is one; else as a JSON string."""
    is_plain = (
        text in _BOOLEANS
        if kind == "boolean"
        else kind in {"integer", "number"} and _NUMBER.fullmatch(text) is not None
    )
    return text.encode() if is_plain else jsontext.encode(text)


def _decoded(text: bytes) -> str:
    try:
        return unquote_to_bytes(text.replace(b"+", b" ")).decode()
    except UnicodeDecodeError:
        raise MalformedRequest("The query is not valid UTF-8.") from None
