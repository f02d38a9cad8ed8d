"""Decodes and encodes JSON by the strict rules of all transports (RFC 8259, RFC 7493)."""

import json
import math
import os
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, Final

import msgspec
from msgspec import Struct

MAX_DEPTH: Final = 64
"""The deepest nesting that is accepted. No contract needs more, and it is below Python's recursion
limit."""


class Limits(Struct, frozen=True, kw_only=True):
    """How much one JSON value may contain, independent of its size in bytes."""

    depth: int = MAX_DEPTH
    names: int | None = None
    """Members of all objects together. None: no limit."""
    elements: int | None = None
    """Members of all objects and arrays together. None: no limit."""


ANY: Final = Limits()
CONTRACT: Final = Limits()
"""A file of contracts. A bound that is written as a double, such as 1e300, remains one."""
REQUEST: Final = Limits(names=10_000, elements=100_000)
"""Limits of a client's request, so that its validation does not delay other requests."""
MESSAGE: Final = msgspec.structs.replace(REQUEST, depth=REQUEST.depth + 2)
"""Limits of a message that contains a request: the message and its `params` add two levels."""
WEBHOOK: Final = Limits(names=100_000, elements=200_000)
"""Limits of a provider's message, which may be a batch. Its sender is authentic."""
REPLY: Final = Limits(depth=200, names=250_000, elements=500_000)
"""Limits of an upstream's reply. Nothing else runs while its values are made: with so many, about
50 ms. A list of 1,000 flights has 20,000 names. The depth is larger, so that large replies rarely
need the exact check. Validators accept up to 255 levels."""


def number_of(text: str) -> int | float:
    """The number that is written as `text`, with a fraction or an exponent.

    Whole numbers from 2**63 on are integers, as validators, models and upstreams know them. Their
    digits are the shortest that denote the same double (RFC 8785 §3.2.2.3), so they do not depend
    on how many parsers a message has passed. Raises `msgspec.DecodeError` beyond all doubles.
    """
    value = float(text)
    if -_BEYOND_MODELS < value < _BEYOND_MODELS:
        return value
    if math.isinf(value):
        raise msgspec.DecodeError("Number out of range")
    return int(Decimal(repr(value)))


_BEYOND_MODELS: Final = 2.0**63
"""From here on, Pydantic takes no double for an integer, though JSON Schema does."""
_decoder = msgspec.json.Decoder(float_hook=number_of)
_of_contracts = msgspec.json.Decoder()
_encoder = msgspec.json.Encoder()
encode = _encoder.encode
_COLONS_ESCAPED: Final = (rb"\u003a", rb"\u003A")
_PIECE_BYTES: Final = 1 << 16
"""Nothing else runs while a piece of this size is read: less than 2 ms."""
_make_way: Final[Callable[[], None]] = getattr(os, "sched_yield", lambda: None)
"""Called between pieces. On one core, the system lets a thread run on for milliseconds, though the
event loop could run: beside replies of 6 MB the p99 of other calls was 33 ms, and is 11 to 14."""
_SURROGATE: Final = re.compile(rb"\\ud[89a-f][0-9a-f]{2}", re.IGNORECASE)


class NotJson(ValueError):
    """The text is not JSON that the gateway accepts."""


class NotAccepted(NotJson):
    """The text is JSON by its grammar, but beyond a limit, or parsers would read it differently."""


def decode(text: bytes, limits: Limits = ANY) -> Any:
    """The value of `text`.

    Raises `NotJson` if `text` is not one well-formed JSON value in UTF-8 or contains NaN or
    infinities, and `NotAccepted` if it contains lone surrogates, numbers out of range or a name
    twice in one object, or exceeds `limits`. Before a `REPLY`, a byte order mark is ignored, as RFC
    8259 §8.1 allows.
    """
    if limits is REPLY and text.startswith(BOM_UTF8):
        text = text[len(BOM_UTF8) :]
    colons = _count(text, b":")
    may_exceed = _may_exceed(text, colons, limits)
    if may_exceed:
        _refuse_many(text, limits)
    try:
        value = (_of_contracts if limits is CONTRACT else _decoder).decode(text)
    except msgspec.DecodeError as error:
        raise _refused(error, text) from None
    except UnicodeDecodeError:
        raise NotJson("not valid UTF-8") from None
    except RecursionError:
        raise NotAccepted(_too_deep(limits)) from None
    if may_exceed:
        _refuse_excess(value, limits)
    # msgspec keeps only one of two equal names, so the encoded value then has fewer colons than the
    # text, unless a colon in the text is escaped.
    is_escaped = any(each in text for each in _COLONS_ESCAPED)
    if is_escaped or colons != encode(value).count(b":"):
        _refuse_duplicate_names(text)
    return value


def holds_more_than(value: Any, elements: int) -> bool:
    """Whether all objects and arrays of `value` together have more than `elements` members."""
    found = 0
    for containers in _levels(value):
        found += sum(map(len, containers))
        if found > elements:
            return True
    return False


def _refused(error: msgspec.DecodeError, text: bytes) -> NotJson:
    """The error for what msgspec cannot decode, without its prefix and path."""
    reason = str(error).removeprefix("JSON is malformed: ").partition(" - at ")[0]
    if _is_grammatical(text):
        return NotAccepted(reason)
    # A NUL is as long, and valid in every place. msgspec has no one reason for these.
    if _is_grammatical(_SURROGATE.sub(rb"\\u0000", text)):
        return NotAccepted("a lone surrogate")
    return NotJson(reason)


def _is_grammatical(text: bytes) -> bool:
    """Whether `text` is JSON, whatever its numbers and names are. No values are made."""
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except msgspec.DecodeError:
        return False
    return True


def _count(text: bytes, mark: bytes) -> int:
    """How often `text` has `mark`."""
    found = text.count(mark, 0, _PIECE_BYTES)
    for at in range(_PIECE_BYTES, len(text), _PIECE_BYTES):
        _make_way()
        found += text.count(mark, at, at + _PIECE_BYTES)
    return found


def _may_exceed(text: bytes, colons: int, limits: Limits) -> bool:
    """Whether `text` has enough braces, colons and commas, also in strings, to exceed `limits`."""
    openings = _count(text, b"{") + _count(text, b"[")
    return (
        openings > limits.depth
        or (limits.names is not None and colons > limits.names)
        or (limits.elements is not None and openings + _count(text, b",") > limits.elements)
    )


def _refuse_many(text: bytes, limits: Limits) -> None:
    """Refuse too many names or values before they are made. They are counted between the strings.

    Not all are found: a container that is not empty has one value more than commas.
    """
    names, elements = limits.names or math.inf, limits.elements or math.inf
    colons = commas = openings = 0
    for between in _between_strings(text):
        colons += between.count(b":")
        commas += between.count(b",")
        openings += between.count(b"[") + between.count(b"{")
        if colons > names:
            raise NotAccepted(f"more than {limits.names} names")
        if max(commas, openings - 1) > elements:
            raise NotAccepted(f"more than {limits.elements} values")


def _between_strings(text: bytes) -> Iterator[bytes]:
    """What `text` has outside of its strings, in pieces. The time is linear in its length."""
    at, is_inside = 0, False
    while at < len(text):
        piece = text[at : at + _PIECE_BYTES]
        if (len(piece) - len(piece.rstrip(b"\\"))) % 2:
            piece = text[at : at + _PIECE_BYTES + 1]  # the last byte is escaped
        at += len(piece)
        _make_way()
        if b"\\" in piece:
            piece = piece.replace(b"\\\\", b"").replace(b'\\"', b"")
        parts = piece.split(b'"')
        yield b"".join(parts[is_inside::2])
        is_inside ^= len(parts) % 2 == 0


def _refuse_excess(value: Any, limits: Limits) -> None:
    names = elements = 0
    for depth, containers in enumerate(_levels(value), start=1):
        elements += sum(map(len, containers))
        names += sum(len(each) for each in containers if type(each) is dict)
        if depth > limits.depth:
            raise NotAccepted(_too_deep(limits))
        if limits.names is not None and names > limits.names:
            raise NotAccepted(f"more than {limits.names} names")
        if limits.elements is not None and elements > limits.elements:
            raise NotAccepted(f"more than {limits.elements} values")


def _levels(value: Any) -> Iterator[list[Any]]:
    """The objects and arrays of `value`, level by level, outermost first."""
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
    """Raise `NotJson` for equal names, of which msgspec silently keeps the last.

    Another parser may keep the first, and then act on another value.
    """
    try:
        _unique_names.decode(text.decode())
    except NotJson:
        raise
    except ValueError as error:
        raise NotJson(str(error)) from None


def _unique(pairs: list[tuple[str, Any]]) -> None:
    if len({name for name, _ in pairs}) != len(pairs):
        raise NotAccepted("a name occurs twice in one object")


# Created once: `json.loads` with a hook would create a decoder for every text.
_unique_names: Final = json.JSONDecoder(object_pairs_hook=_unique)
