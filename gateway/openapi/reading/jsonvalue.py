"""Decodes the JSON of vendors' documents, and finds the line of a value when it is asked for.

Names that occur twice are reported, not refused: published documents have them, and all parsers
keep the last one.
"""

import json
import re
from bisect import bisect_right
from collections import Counter
from functools import cached_property
from json import JSONDecoder
from typing import Any, Final

import msgspec

from gateway.contract.values.pointers import steps
from gateway.openapi.reading.budget import Meter, OutOfBudget

_BLANK: Final = re.compile(r"[ \t\r\n]*")
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
            found.update(name for name, count in counts.items() if count > 1)

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


class JsonLines:
    """Finds lines in a well-formed text. Each object is scanned once, when it is first passed."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._decoder = JSONDecoder(strict=False)
        self._members: dict[int, dict[str, tuple[int, int]]] = {}

    def line_of(self, pointer: str) -> int:
        """The 1-based line of `pointer`. If nothing is there, the line of the nearest parent."""
        named_at = at = self._skip(0)
        for step in steps(pointer):
            found = self._members_at(at).get(step)
            if found is None:
                break
            named_at, at = found
        return bisect_right(self._line_ends, named_at - 1) + 1 if named_at else 1

    @cached_property
    def _line_ends(self) -> list[int]:
        return [found.start() for found in re.finditer("\n", self._text)]

    def _members_at(self, at: int) -> dict[str, tuple[int, int]]:
        """Each member of the value at `at`: where its name and where its value begin."""
        if at not in self._members:
            mark = self._text[at]
            is_container = mark in "{["
            self._members[at] = dict(self._scan(at + 1, mark == "{")) if is_container else {}
        return self._members[at]

    def _scan(self, at: int, is_object: bool) -> list[tuple[str, tuple[int, int]]]:
        found: list[tuple[str, tuple[int, int]]] = []
        at = self._skip(at)
        while self._text[at] not in "]}":
            named_at, name = at, str(len(found))
            if is_object:
                name, at = self._decoder.raw_decode(self._text, at)
                at = self._skip(self._skip(at) + 1)
            found.append((name, (named_at, at)))
            at = self._skip(self._decoder.raw_decode(self._text, at)[1])
            if self._text[at] == ",":
                at = self._skip(at + 1)
        return found

    def _skip(self, at: int) -> int:
        blank = _BLANK.match(self._text, at)
        return blank.end() if blank else at
