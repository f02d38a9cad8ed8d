"""Reads query parameters as arguments, so that GET and POST mean the same call."""

import re
from collections.abc import Collection, Mapping
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from gateway.contract.values import jsontext
from gateway.errors import MalformedRequest

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
