"""Parses the regular expressions of schemas, so that matching texts can be made.

The syntax is what the linear engine of the validator and ECMA-262 have in common: no look-around
and no back-references.
"""

import re
from collections.abc import Mapping
from typing import Final, TypeAlias

from msgspec import Struct

from gateway.backends.mock.samples.classes import (
    CATEGORIES,
    ESCAPED,
    VISIBLE,
    Ranges,
    without,
)
from gateway.backends.mock.samples.errors import NoSample

_MAX_DEPTH: Final = 50
_GROUP: Final = re.compile(r"\?(?::|P?<[A-Za-z_]\w*>)")
_COUNT: Final = re.compile(r"\{(\d{1,6})(?:(,)(\d{1,6})?)?\}")
_CODE: Final = re.compile(r"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|[xu]\{([0-9A-Fa-f]{1,6})\}")
_CATEGORY: Final = re.compile(r"([pP])(?:\{\^?(?:\w+=)?(\w+)\}|(\w))")
_CONTROLS: Final[Mapping[str, str]] = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}
_EMPTY: Final = "bBAzZ"
"""Escapes that match a position."""


class Characters(Struct, frozen=True):
    """One character of these ranges."""

    ranges: Ranges


class Sequence(Struct, frozen=True):
    """The parts, one after the other."""

    parts: "tuple[Node, ...]" = ()


class Branches(Struct, frozen=True):
    """One of the options."""

    options: "tuple[Node, ...]"


class Repeat(Struct, frozen=True):
    """The part, so many times. Without `most` there is no upper limit."""

    part: "Node"
    least: int
    most: int | None


Node: TypeAlias = Characters | Sequence | Branches | Repeat


def parse(pattern: str) -> Node:
    """The parsed expression. Raises `NoSample` for syntax that is not supported."""
    parser = _Parser(pattern)
    found = parser.branches(depth=0)
    if not parser.is_over:
        raise NoSample(f"the pattern has an unexpected {parser.next!r}")
    return found


class _Parser:
    """A recursive descent over one pattern."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0

    @property
    def is_over(self) -> bool:
        return self._at >= len(self._text)

    @property
    def next(self) -> str:
        return self._text[self._at : self._at + 1]

    def branches(self, depth: int) -> Node:
        if depth > _MAX_DEPTH:
            raise NoSample("the pattern is nested too deeply")
        options = [self._sequence(depth)]
        while self._takes("|"):
            options.append(self._sequence(depth))
        return options[0] if len(options) == 1 else Branches(tuple(options))

    def _takes(self, text: str) -> bool:
        found = self._text.startswith(text, self._at)
        self._at += len(text) if found else 0
        return found

    def _one(self) -> str:
        if self.is_over:
            raise NoSample("the pattern ends too early")
        self._at += 1
        return self._text[self._at - 1]

    def _match(self, expression: re.Pattern[str]) -> re.Match[str] | None:
        found = expression.match(self._text, self._at)
        self._at += 0 if found is None else len(found[0])
        return found

    def _sequence(self, depth: int) -> Node:
        parts: list[Node] = []
        while not self.is_over and self.next not in "|)":
            parts.append(self._repeated(self._atom(depth)))
        return Sequence(tuple(parts))

    def _repeated(self, part: Node) -> Node:
        for _ in range(_MAX_DEPTH):
            if self._takes("*"):
                part = Repeat(part, 0, None)
            elif self._takes("+"):
                part = Repeat(part, 1, None)
            elif self._takes("?"):
                part = Repeat(part, 0, 1)
            elif (count := self._match(_COUNT)) is not None:
                least = int(count[1])
                most = int(count[3]) if count[3] else None if count[2] else least
                part = Repeat(part, least, most)
            else:
                return part
            # A lazy or possessive quantifier matches the same texts.
            _ = self._takes("?") or self._takes("+")
        raise NoSample("the pattern is repeated too often")

    def _atom(self, depth: int) -> Node:
        one = self._one()
        match one:
            case "(":
                return self._group(depth)
            case "[":
                return Characters(self._class())
            case ".":
                return Characters(VISIBLE)
            case "^" | "$":
                return Sequence()
            case "\\":
                return Sequence() if self.next and self._position() else Characters(self._escape())
            case _:
                return Characters(((ord(one), ord(one)),))

    def _position(self) -> bool:
        is_position = self.next in _EMPTY
        self._at += is_position
        return is_position

    def _group(self, depth: int) -> Node:
        if self.next == "?" and self._match(_GROUP) is None:
            raise NoSample("the pattern has a look-around or a flag")
        found = self.branches(depth + 1)
        if not self._takes(")"):
            raise NoSample("the pattern has an open group")
        return found

    def _escape(self) -> Ranges:
        if (code := self._match(_CODE)) is not None:
            point = int(code[1] or code[2] or code[3], 16)
            return ((point, point),)
        if (category := self._match(_CATEGORY)) is not None:
            ranges = CATEGORIES.get(category[2] or category[3])
            if ranges is None:
                raise NoSample("the pattern has a category that is not supported")
            return ranges if category[1] == "p" else without(ranges)
        one = self._one()
        if one in ESCAPED:
            return ESCAPED[one]
        if one.isdigit() and one != "0":
            raise NoSample("the pattern has a back-reference")
        point = ord(_CONTROLS.get(one, "\0" if one == "0" else one))
        return ((point, point),)

    def _class(self) -> Ranges:
        is_negated = self._takes("^")
        ranges: list[tuple[int, int]] = []
        while not self._takes("]"):
            ranges += self._range()
        if is_negated:
            return without(ranges)
        return tuple(ranges)

    def _range(self) -> Ranges:
        first = self._member()
        is_one = len(first) == 1 and first[0][0] == first[0][1]
        if not (is_one and self.next == "-" and self._text[self._at + 1 : self._at + 2] != "]"):
            return first
        self._one()
        last = self._member()
        return ((first[0][0], last[0][1]),)

    def _member(self) -> Ranges:
        one = self._one()
        if one == "[" and self.next == ":":
            raise NoSample("the pattern has a class that is not supported")
        if one != "\\":
            return ((ord(one), ord(one)),)
        if self._takes("b"):
            return ((8, 8),)
        return self._escape()
