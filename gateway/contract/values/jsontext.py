"""JSON in and out, by the strict reading that every transport shares (RFC 8259, RFC 7493)."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import Struct

MAX_DEPTH: Final = 64
"""Nesting beyond this is refused: no contract needs it, and recursion must not decide for us."""


class Limits(Struct, frozen=True, kw_only=True):
    """How much one JSON value may hold, whatever its bytes."""

    depth: int = MAX_DEPTH
    names: int | None = None
    """Members of all objects together; None is without limit."""
    elements: int | None = None
    """Members of all objects and arrays together; None is without limit."""


ANY: Final = Limits()
REQUEST: Final = Limits(names=10_000, elements=100_000)
"""What anybody with a key may send: checking it must not keep the others waiting."""
MESSAGE: Final = msgspec.structs.replace(REQUEST, depth=REQUEST.depth + 2)
"""The same within a message, which comes on top with its `params`: arguments may nest as deep."""
REPLY: Final = Limits(depth=200)
"""What an upstream may answer: its bytes are capped, and a list of 1,000 flights holds 20,000
names. Deeper, because that takes no look at what is ordinarily large; gates read to 255."""

_decoder = msgspec.json.Decoder()
_encoder = msgspec.json.Encoder()
encode = _encoder.encode
_COLON_ESCAPED: Final = re.compile(rb"\\u003a", re.IGNORECASE)
_LONE_SURROGATE: Final = re.compile(rb'\\ud[89ab][0-9a-f]{2}"', re.IGNORECASE)


class NotJson(ValueError):
    """The text is not the JSON this gateway reads."""


def decode(text: bytes, limits: Limits = ANY) -> Any:
    """The value of `text`.

    Raises `NotJson` for anything but one well-formed UTF-8 value: also for NaN and infinities, lone
    surrogates, trailing text, names that occur twice in one object, and a value beyond `limits`.
    """
    try:
        value = _decoder.decode(text)
    except msgspec.DecodeError as error:
        raise NotJson(_reason(error, text)) from None
    except UnicodeDecodeError:
        raise NotJson("not valid UTF-8") from None
    except RecursionError:
        raise NotJson(_too_deep(limits)) from None
    colons = text.count(b":")
    if _may_exceed(text, colons, limits):
        _refuse_excess(value, limits)
    # Of two equal names msgspec has kept one, so its value written again has fewer colons than the
    # text, unless the text wrote some colon as an escape.
    is_escaped = b"\\" in text and _COLON_ESCAPED.search(text)
    if is_escaped or colons != encode(value).count(b":"):
        _refuse_duplicate_names(text)
    return value


def holds_more_than(value: Any, elements: int) -> bool:
    """Whether all objects and arrays of `value` have more members than that together."""
    found = 0
    for containers in _levels(value):
        found += sum(map(len, containers))
        if found > elements:
            return True
    return False


def _reason(error: msgspec.DecodeError, text: bytes) -> str:
    """Why `text` is no JSON, without msgspec's words for itself and for its path."""
    reason = str(error).removeprefix("JSON is malformed: ").partition(" - at ")[0]
    # After the first half of a pair msgspec wants six bytes more, and near the end there are none.
    is_lone = reason.endswith("truncated") and _LONE_SURROGATE.search(text)
    return "a lone surrogate" if is_lone else reason


def _may_exceed(text: bytes, colons: int, limits: Limits) -> bool:
    """Whether the marks of `text`, those inside strings too, are enough for an excess."""
    openings = text.count(b"{") + text.count(b"[")
    return (
        openings > limits.depth
        or (limits.names is not None and colons > limits.names)
        or (limits.elements is not None and openings + text.count(b",") > limits.elements)
    )


def _refuse_excess(value: Any, limits: Limits) -> None:
    names = elements = 0
    for depth, containers in enumerate(_levels(value), start=1):
        elements += sum(map(len, containers))
        names += sum(len(each) for each in containers if type(each) is dict)
        if depth > limits.depth:
            raise NotJson(_too_deep(limits))
        if limits.names is not None and names > limits.names:
            raise NotJson(f"more than {limits.names} names")
        if limits.elements is not None and elements > limits.elements:
            raise NotJson(f"more than {limits.elements} values")


def _levels(value: Any) -> Iterator[list[Any]]:
    """The objects and arrays of `value`, outermost first: those of one depth together."""
    level = [value] if type(value) is dict or type(value) is list else []
    while level:
        yield level
        level = [
            child
            for container in level
            for child in (container.values() if type(container) is dict else container)
            if type(child) is dict or type(child) is list
        ]


def _too_deep(limits: Limits) -> str:
    return f"nested deeper than {limits.depth} levels"


def _refuse_duplicate_names(text: bytes) -> None:
    """msgspec keeps the last of two equal names in silence, and two readers would then disagree."""
    try:
        _unique_names.decode(text.decode())
    except NotJson:
        raise
    except ValueError as error:
        raise NotJson(str(error)) from None


def _unique(pairs: list[tuple[str, Any]]) -> None:
    if len({name for name, _ in pairs}) != len(pairs):
        raise NotJson("a name occurs twice in one object")


# Built once: `json.loads` with a hook would build a decoder for every text.
_unique_names: Final = json.JSONDecoder(object_pairs_hook=_unique)
