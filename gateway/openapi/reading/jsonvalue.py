"""Decodes the JSON of vendors' documents.

Names that occur twice are reported, not refused: published documents have them, and all parsers
keep the last one.
"""

import json
import re
from collections import Counter
from typing import Any, Final

import msgspec

from gateway.openapi.reading.budget import Meter, OutOfBudget

_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BYTE: Final = re.compile(r"\(byte (\d+)\)")
_COLON_ESCAPED: Final = re.compile(rb"\\u003a", re.IGNORECASE)


class JsonRejected(ValueError):
    """The text is not JSON (RFC 8259)."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message


def decode(raw: bytes, meter: Meter) -> Any:
    """The value of `raw`. Raises `JsonRejected` and `OutOfBudget`."""
    _refuse_many(raw, meter)
    try:
        value = msgspec.json.decode(raw)
    except msgspec.DecodeError as error:
        raise _located(raw, str(error)) from None
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise JsonRejected(line, "the text is not valid UTF-8") from None
    except RecursionError:
        raise OutOfBudget(f"it nests deeper than {meter.budget.depth} levels") from None
    count(value, meter)
    return value


def count(value: Any, meter: Meter) -> None:
    """Add the members of `value` to `meter`. Raises `OutOfBudget`, also for the depth."""
    level, depth = [value], 0
    while level:
        depth += 1
        meter.add(len(level))
        if depth > meter.budget.depth:
            raise OutOfBudget(f"it nests deeper than {meter.budget.depth} levels")
        level = [
            child
            for container in level
            if type(container) is dict or type(container) is list
            for child in (container.values() if type(container) is dict else container)
        ]


def repeated_names(raw: bytes, value: Any) -> list[str]:
    """The names that occur twice in one object of `raw`, whose value is `value`. Sorted."""
    # The encoded value has fewer colons than the text if a name was lost.
    is_escaped = b"\\" in raw and _COLON_ESCAPED.search(raw)
    if not is_escaped and raw.count(b":") == msgspec.json.encode(value).count(b":"):
        return []
    found: set[str] = set()

    def collect(pairs: list[tuple[str, Any]]) -> None:
        if len(dict(pairs)) != len(pairs):
            counts = Counter(name for name, _ in pairs)
            found.update(name for name, times in counts.items() if times > 1)

    json.loads(raw, object_pairs_hook=collect)
    return sorted(found)


def _refuse_many(raw: bytes, meter: Meter) -> None:
    """Refuse a text with more values than the budget before memory is used for them."""
    if _separators(raw) > meter.budget.nodes:
        nodes = _separators(_STRING.sub(b"", raw))
        if nodes > meter.budget.nodes:
            raise OutOfBudget(f"it has more than {meter.budget.nodes:,} values")


def _separators(raw: bytes) -> int:
    return raw.count(b",") + raw.count(b"[") + raw.count(b"{")


def _located(raw: bytes, message: str) -> JsonRejected:
    found = _BYTE.search(message)
    line = raw.count(b"\n", 0, int(found[1])) + 1 if found else 1
    reason = message.removeprefix("JSON is malformed: ").partition(" (byte")[0]
    return JsonRejected(line, reason)
