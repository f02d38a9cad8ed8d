"""Decodes the YAML of vendors' documents (YAML 1.2 core schema), with aliases and merge keys.

An alias is a second reference to the same value, so that it needs no memory. Its values are counted
as often as they occur, so that a document whose aliases grow exponentially is refused while it is
read. Unlike contracts, ambiguous scalars are accepted: they are read as YAML 1.2 says (§10.3), so
that `on`, `yes` and dates are text. Names are always text.
"""

import math
import re
from collections.abc import Mapping
from typing import Any, Final, NoReturn

import yaml

from gateway.contract.values.pointers import pointer_of
from gateway.openapi.reading.budget import Meter, OutOfBudget

_INTEGER: Final = re.compile(r"[-+]?[0-9]{1,100}\Z")
_BASED: Final = re.compile(r"0o[0-7]{1,80}\Z|0x[0-9a-fA-F]{1,80}\Z")
_NUMBER: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_PLAIN_TEXT: Final = re.compile(r"[^-+.~0-9nNtTfF]")
"""The first character of a scalar that is text."""
_WORDS: Final = {
    "": None,
    "~": None,
    **dict.fromkeys(("null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_CORE_TAG: Final = "tag:yaml.org,2002:"
_TEXT_TAGS: Final = frozenset({f"{_CORE_TAG}str", "!"})
_PLAIN_TAGS: Final = frozenset(
    _CORE_TAG + name for name in ("map", "seq", "int", "float", "bool", "null")
)
_MERGE_KEY: Final = "<<"
_MAX_NAME: Final = 80


class YamlRejected(ValueError):
    """The text is not YAML that can be read as JSON."""

    def __init__(self, line: int, message: str, fix: str) -> None:
        super().__init__(message)
        self.line = line
        """1-based."""
        self.message = message
        self.fix = fix


def decode(text: str, meter: Meter) -> tuple[Any, list[str]]:
    """The value of `text`, and the names that occur twice in one mapping, of which the last counts.

    Raises `YamlRejected` and `OutOfBudget`.
    """
    builder = _Builder(text, meter, None)
    return builder.document(), sorted(builder.repeated)


def lines_of(text: str, meter: Meter) -> Mapping[str, int]:
    """The 1-based line of every JSON Pointer of `text`, which `decode` accepts.

    Parts that are there by an alias or a merge key have no line.
    """
    lines: dict[str, int] = {}
    _Builder(text, meter, lines).document()
    return lines


class _Anchored:
    """The value of an anchor, and what an alias to it counts."""

    __slots__ = ("nodes", "text", "value")

    def __init__(self, value: Any, nodes: int, text: int) -> None:
        self.value = value
        self.nodes = nodes
        self.text = text


class _Builder:
    """Builds a value from parser events. `lines` gets the line of each part, if it is given."""

    def __init__(self, text: str, meter: Meter, lines: dict[str, int] | None) -> None:
        self._next_event = yaml.CSafeLoader(text).get_event
        self._meter = meter
        self._lines = lines
        self._path: list[str | int] = []
        self._anchors: dict[str, _Anchored | None] = {}
        self.repeated: set[str] = set()

    def document(self) -> Any:
        self._next()
        start = self._next()
        if isinstance(start, yaml.StreamEndEvent):
            self._refuse(start, "the file is empty", "give an OpenAPI document")
        value = self._value(self._next())
        self._next()
        extra = self._next()
        if not isinstance(extra, yaml.StreamEndEvent):
            self._refuse(extra, "there is a second YAML document", "split the file")
        return value

    def _next(self) -> Any:
        try:
            return self._next_event()
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 1
            reason = error.problem or "it cannot be parsed"
        except yaml.reader.ReaderError as error:
            line, reason = 1, error.reason
        raise YamlRejected(line, reason, "correct the YAML on this line") from None

    def _value(self, event: Any, line: int | None = None) -> Any:
        if self._lines is not None:
            self._lines[pointer_of(self._path)] = line or event.start_mark.line + 1
        kind = type(event)
        if kind is yaml.AliasEvent:
            return self._alias(event)
        if event.anchor is None:
            return self._plain(event, kind)
        # A value that contains an alias to itself has no end.
        self._anchors[event.anchor] = None
        nodes, text = self._meter.nodes, self._meter.text
        value = self._plain(event, kind)
        self._anchors[event.anchor] = _Anchored(
            value, self._meter.nodes - nodes, self._meter.text - text
        )
        return value

    def _plain(self, event: Any, kind: type) -> Any:
        if kind is yaml.ScalarEvent:
            self._meter.add(1, len(event.value))
            return self._scalar(event)
        self._meter.add(1)
        if len(self._path) >= self._meter.budget.depth:
            raise OutOfBudget(f"it nests deeper than {self._meter.budget.depth} levels")
        if event.tag and event.tag not in _PLAIN_TAGS:
            self._refuse(event, "it has a tag of its own", "delete the tag")
        return self._mapping() if kind is yaml.MappingStartEvent else self._sequence()

    def _alias(self, event: Any) -> Any:
        anchored = self._anchors.get(event.anchor)
        if anchored is None:
            is_open = event.anchor in self._anchors
            reason = "the alias is inside of its own anchor" if is_open else "there is no anchor"
            self._refuse(event, f"{reason}: *{event.anchor[:_MAX_NAME]}", "write the value itself")
        self._meter.add(anchored.nodes, anchored.text)
        return anchored.value

    def _mapping(self) -> dict[str, Any]:
        members: dict[str, Any] = {}
        merged: list[Any] = []
        while type(event := self._next()) is not yaml.MappingEndEvent:
            name = self._name(event)
            self._path.append(name)
            value = self._value(self._next(), event.start_mark.line + 1)
            self._path.pop()
            if name == _MERGE_KEY and not event.style:
                merged += self._merged(event, value)
                continue
            if name in members:
                self.repeated.add(name)
            members[name] = value
        return _with_merged(members, merged) if merged else members

    def _merged(self, event: Any, value: Any) -> list[Any]:
        sources = value if isinstance(value, list) else [value]
        if not all(isinstance(source, dict) for source in sources):
            self._refuse(event, "a merge key needs a mapping", "give the alias of a mapping")
        return sources

    def _sequence(self) -> list[Any]:
        items: list[Any] = []
        while type(event := self._next()) is not yaml.SequenceEndEvent:
            self._path.append(len(items))
            items.append(self._value(event))
            self._path.pop()
        return items

    def _name(self, event: Any) -> str:
        if type(event) is yaml.AliasEvent:
            value = self._alias(event)
            if isinstance(value, str):
                return value
        if type(event) is not yaml.ScalarEvent:
            self._refuse(event, "a name must be text", "write a plain or quoted name")
        name: str = event.value
        self._meter.add(0, len(name))
        if event.anchor is not None:
            self._anchors[event.anchor] = _Anchored(name, 1, len(name))
        return name

    def _scalar(self, event: Any) -> Any:
        text: str = event.value
        if event.tag in _TEXT_TAGS or (not event.tag and event.style):
            return text
        if event.tag and event.tag not in _PLAIN_TAGS:
            self._refuse(event, "it has a tag of its own", "delete the tag")
        if _PLAIN_TEXT.match(text):
            return text
        return _WORDS[text] if text in _WORDS else _number(text)

    def _refuse(self, event: Any, message: str, fix: str) -> NoReturn:
        raise YamlRejected(event.start_mark.line + 1, message, fix)


def _with_merged(members: dict[str, Any], sources: list[Any]) -> dict[str, Any]:
    """`members` with those of `sources`. Earlier ones have precedence (YAML merge key, 1.1)."""
    merged: dict[str, Any] = {}
    for source in [members, *sources]:
        for name, value in source.items():
            merged.setdefault(name, value)
    return merged


def _number(text: str) -> Any:
    """The number that `text` is, or `text`."""
    if _INTEGER.match(text):
        return int(text)
    if _BASED.match(text):
        return int(text, 0)
    if _NUMBER.match(text) and math.isfinite(number := float(text)):
        return number
    return text
