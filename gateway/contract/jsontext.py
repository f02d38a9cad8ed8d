"""JSON in and out, by the strict reading that every door shares (RFC 8259, RFC 7493)."""

import json
import re
from typing import Any, Final

import msgspec

MAX_DEPTH: Final = 64
"""Nesting beyond this is refused: no contract needs it, and recursion must not decide for us."""

_decoder = msgspec.json.Decoder()
_encoder = msgspec.json.Encoder()
encode = _encoder.encode
_COLON_ESCAPED: Final = re.compile(rb"\\u003a", re.IGNORECASE)


class NotJson(ValueError):
    """The text is not the JSON this gateway reads."""


def decode(text: bytes, max_depth: int = MAX_DEPTH) -> Any:
    """The value of `text`.

    Raises `NotJson` for anything but one well-formed UTF-8 value: also for NaN and infinities, lone
    surrogates, trailing text, names that occur twice in one object, and nesting beyond `max_depth`.
    """
    try:
        value = _decoder.decode(text)
    except msgspec.DecodeError as error:
        raise NotJson(str(error).removeprefix("JSON is malformed: ")) from None
    except UnicodeDecodeError:
        raise NotJson("not valid UTF-8") from None
    except RecursionError:
        raise NotJson(f"nested deeper than {max_depth} levels") from None
    if text.count(b"{") + text.count(b"[") > max_depth and _depth(value) > max_depth:
        raise NotJson(f"nested deeper than {max_depth} levels")
    # Of two equal names msgspec has kept one, so its value written again has fewer colons than the
    # text, unless the text wrote some colon as an escape.
    if text.count(b":") != encode(value).count(b":") or _COLON_ESCAPED.search(text):
        _refuse_duplicate_names(text)
    return value


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


def _depth(value: Any) -> int:
    depth = 0
    level = [value]
    while level := [each for each in level if type(each) is dict or type(each) is list]:
        depth += 1
        level = [
            child
            for container in level
            for child in (container.values() if type(container) is dict else container)
        ]
    return depth
