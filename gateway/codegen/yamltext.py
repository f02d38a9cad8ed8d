"""YAML as contracts use it: the part of YAML 1.2 that means one JSON value, with its lines.

Built from parser events instead of PyYAML's constructors, because those read YAML 1.1 (`on` would
be true, `2026-11-20` a date) and lose what must be refused: aliases, tags, merge keys, equal names.
Plain scalars follow the JSON schema of YAML 1.2 (§10.2): null, true, false, JSON numbers, otherwise
text. Spellings that YAML readers disagree about (`True`, `0x1F`, `012`, `~`, `1_000`) are refused.
"""

import math
import re
from collections.abc import Iterator
from typing import Any, Final, NoReturn

import yaml
from msgspec import Struct

from gateway.codegen.pointers import child
from gateway.contract.jsontext import MAX_DEPTH

_MERGE_KEY: Final = "<<"
_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,99})\Z")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,99})(?:\.[0-9]{1,99})?(?:[eE][-+]?[0-9]{1,5})?\Z")
_AMBIGUOUS: Final = re.compile(
    r"~|null|true|false|[-+]?\.(?:inf|nan)|[-+]?[0-9][0-9_]*|[-+]?0[xo][0-9a-f_]+|0b[01_]+"
    r"|[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*|[0-9]+)(?:e[-+]?[0-9]+)?",
    re.IGNORECASE,
)
_WORDS: Final = {"": None, "null": None, "true": True, "false": False}


class YamlRefused(ValueError):
    """The text is not the YAML that contracts are written in."""

    def __init__(self, line: int, pointer: str, rule: str, message: str, fix: str) -> None:
        super().__init__(message)
        self.line = line
        """1-based."""
        self.pointer = pointer
        self.rule = rule
        self.message = message
        self.fix = fix


class YamlText(Struct, frozen=True):
    """A YAML file's value, and the 1-based line on which each JSON Pointer's value begins."""

    value: Any
    lines: dict[str, int]


def decode(text: str) -> YamlText:
    """The one value that `text` holds. Raises `YamlRefused`."""
    builder = _Builder(text)
    return YamlText(builder.document(), builder.lines)


class _Builder:
    """Turns parser events into a value, remembering lines on the way."""

    def __init__(self, text: str) -> None:
        self._events: Iterator[Any] = yaml.parse(text, Loader=yaml.CSafeLoader)
        self.lines: dict[str, int] = {}

    def document(self) -> Any:
        self._next("")
        start = self._next("")
        if isinstance(start, yaml.StreamEndEvent):
            _refuse(start, "", "yaml/empty", "the file is empty", "write the contract or delete it")
        if start.version or start.tags:
            _refuse(start, "", "yaml/directive", "% directives are not read", "delete the line")
        value = self._value(self._next(""), "", 0)
        self._next("")
        extra = self._next("")
        if not isinstance(extra, yaml.StreamEndEvent):
            _refuse(extra, "", "yaml/several-documents", "a second document", "one file, one value")
        return value

    def _next(self, pointer: str) -> Any:
        try:
            return next(self._events)
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 1
            reason = error.problem or "cannot be parsed"
            raise _malformed(line, pointer, reason) from None
        except yaml.reader.ReaderError as error:
            raise _malformed(1, pointer, error.reason) from None

    def _value(self, event: Any, pointer: str, depth: int, line: int | None = None) -> Any:
        self.lines[pointer] = line or event.start_mark.line + 1
        _refuse_indirection(event, pointer)
        if depth > MAX_DEPTH:
            _refuse(
                event, pointer, "yaml/too-deep", f"nested deeper than {MAX_DEPTH}", "flatten it"
            )
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(pointer, depth)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(pointer, depth)
        return _scalar(event, pointer)

    def _mapping(self, pointer: str, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        while not isinstance(event := self._next(pointer), yaml.MappingEndEvent):
            name = _name(event, pointer)
            place = child(pointer, name)
            if name in members:
                _refuse(
                    event, place, "yaml/duplicate-key", f"{name!r} occurs twice", "keep one of them"
                )
            line = event.start_mark.line + 1
            members[name] = self._value(self._next(place), place, depth + 1, line)
        return members

    def _sequence(self, pointer: str, depth: int) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := self._next(pointer), yaml.SequenceEndEvent):
            items.append(self._value(event, child(pointer, len(items)), depth + 1))
        return items


def _name(event: Any, pointer: str) -> str:
    _refuse_indirection(event, pointer)
    if not isinstance(event, yaml.ScalarEvent):
        _refuse(event, pointer, "yaml/key", "a name must be text", "write a plain or quoted name")
    if not event.style and event.value == _MERGE_KEY:
        _refuse(event, pointer, "yaml/merge-key", "merge keys are not read", "write it out")
    name = _scalar(event, pointer)
    if not isinstance(name, str):
        _refuse(
            event, pointer, "yaml/key", f"the name {event.value} is not text", "put it in quotes"
        )
    return name


def _scalar(event: Any, pointer: str) -> Any:
    text: str = event.value
    if event.style:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.match(text):
        return int(text)
    if _NUMBER.match(text) and math.isfinite(number := float(text)):
        return number
    if _AMBIGUOUS.fullmatch(text):
        _refuse(
            event,
            pointer,
            "yaml/ambiguous-scalar",
            "YAML readers disagree about what this plain value means",
            "write null, true, false or a JSON number, or put it in quotes",
        )
    return text


def _refuse_indirection(event: Any, pointer: str) -> None:
    if isinstance(event, yaml.AliasEvent) or event.anchor:
        _refuse(event, pointer, "yaml/anchor", "anchors and aliases are not read", "use $ref")
    if event.tag:
        _refuse(event, pointer, "yaml/tag", "tags are not read", "delete the tag")


def _refuse(event: Any, pointer: str, rule: str, message: str, fix: str) -> NoReturn:
    raise YamlRefused(event.start_mark.line + 1, pointer, rule, message, fix)


def _malformed(line: int, pointer: str, reason: str) -> YamlRefused:
    return YamlRefused(line, pointer, "yaml/malformed", reason, "mend the YAML on this line")
