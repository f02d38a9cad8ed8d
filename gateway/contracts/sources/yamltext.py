"""Decodes the YAML of contracts: the part of YAML 1.2 that is one JSON value, with line numbers.

It uses PyYAML's parser events, not its constructors. Those implement YAML 1.1 (`on` would be true,
`2026-11-20` a date), and do not report what must be refused: aliases, tags, merge keys, equal
names. Plain scalars follow the JSON schema of YAML 1.2 (§10.2): null, true, false, JSON numbers, or
text. Scalars that YAML parsers interpret differently (`True`, `0x1F`, `012`, `~`, `1_000`) are
refused.
"""

import math
import re
from collections.abc import Mapping
from typing import Any, Final, NoReturn

import yaml

from gateway.contract.values.jsontext import MAX_DEPTH
from gateway.contract.values.pointers import pointer_of

_MERGE_KEY: Final = "<<"
_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,99})\Z")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,99})(?:\.[0-9]{1,99})?(?:[eE][-+]?[0-9]{1,5})?\Z")
_AMBIGUOUS: Final = re.compile(
    r"~|null|true|false|[-+]?\.(?:inf|nan)|[-+]?[0-9][0-9_]*|[-+]?0[xo][0-9a-f_]+|0b[01_]+"
    r"|[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*|[0-9]+)(?:e[-+]?[0-9]+)?",
    re.IGNORECASE,
)
_PLAIN_TEXT: Final = re.compile(r"[^-+.~0-9nNtTfF]")
"""The first character of a scalar that every YAML parser reads as text."""
_WORDS: Final = {"": None, "null": None, "true": True, "false": False}


class YamlRefused(ValueError):
    """The text is not YAML that contracts may use."""

    def __init__(self, line: int, pointer: str, rule: str, message: str, fix: str) -> None:
        super().__init__(message)
        self.line = line
        """1-based."""
        self.pointer = pointer
        self.rule = rule
        self.message = message
        self.fix = fix


def decode(text: str) -> Any:
    """The value of `text`. Raises `YamlRefused`."""
    return _Builder(text, None).document()


def lines_of(text: str) -> Mapping[str, int]:
    """The 1-based line of every JSON Pointer of `text`. `decode` must accept the text."""
    lines: dict[str, int] = {}
    _Builder(text, lines).document()
    return lines


def is_plain_text(text: str) -> bool:
    """Whether each YAML parser reads `text` as text where it stands without quotes, if at all."""
    return bool(_PLAIN_TEXT.match(text)) or not (
        text in _WORDS or _NUMBER.match(text) or _AMBIGUOUS.fullmatch(text)
    )


class _Builder:
    """Builds a value from parser events, and writes the lines of its parts to `lines`, if given.

    The path to the current value is a list of steps, because building a pointer for every value
    would be most of the time of reading a thousand files.
    """

    def __init__(self, text: str, lines: dict[str, int] | None) -> None:
        self._text = text
        self._next_event = yaml.CSafeLoader(text).get_event
        self._lines = lines
        self._path: list[str | int] = []

    def document(self) -> Any:
        self._next()
        start = self._next()
        if isinstance(start, yaml.StreamEndEvent):
            self._refuse(start, "yaml/empty", "the file is empty", "write the contract")
        if start.version or start.tags:
            self._refuse(start, "yaml/directive", "% directives are not allowed", "delete the line")
        value = self._value(self._next())
        self._next()
        extra = self._next()
        if not isinstance(extra, yaml.StreamEndEvent):
            self._refuse(
                extra, "yaml/several-documents", "there is a second document", "split the file"
            )
        return value

    def _next(self) -> Any:
        try:
            return self._next_event()
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 1
            reason = self._reason(error)
        except yaml.reader.ReaderError as error:
            line, reason = 1, error.reason
        fix = "correct the YAML on this line"
        raise YamlRefused(line, self._pointer(), "yaml/malformed", reason, fix) from None

    def _value(self, event: Any, line: int | None = None) -> Any:
        if self._lines is not None:
            self._lines[self._pointer()] = line or event.start_mark.line + 1
        self._refuse_indirection(event)
        kind = type(event)
        if kind is yaml.ScalarEvent:
            return self._scalar(event)
        if len(self._path) >= MAX_DEPTH:
            message = f"nested deeper than {MAX_DEPTH} levels"
            self._refuse(event, "yaml/too-deep", message, "reduce the nesting")
        return self._mapping() if kind is yaml.MappingStartEvent else self._sequence()

    def _mapping(self) -> dict[str, Any]:
        members: dict[str, Any] = {}
        while type(event := self._next()) is not yaml.MappingEndEvent:
            name = self._name(event)
            self._path.append(name)
            if name in members:
                self._refuse(
                    event, "yaml/duplicate-key", f"{name!r} occurs twice", "keep one of them"
                )
            line = event.start_mark.line + 1
            members[name] = self._value(self._next(), line)
            self._path.pop()
        return members

    def _sequence(self) -> list[Any]:
        items: list[Any] = []
        while type(event := self._next()) is not yaml.SequenceEndEvent:
            self._path.append(len(items))
            items.append(self._value(event))
            self._path.pop()
        return items

    def _name(self, event: Any) -> str:
        self._refuse_indirection(event)
        if type(event) is not yaml.ScalarEvent:
            self._refuse(event, "yaml/key", "a name must be text", "write a plain or quoted name")
        if event.value == _MERGE_KEY and not event.style:
            self._refuse(event, "yaml/merge-key", "merge keys are not allowed", "copy the members")
        name = self._scalar(event)
        if not isinstance(name, str):
            message = f"the name {event.value} is not text"
            self._refuse(event, "yaml/key", message, "put it in quotes")
        return name

    def _scalar(self, event: Any) -> Any:
        text: str = event.value
        if event.style or _PLAIN_TEXT.match(text):
            return text
        if text in _WORDS:
            return _WORDS[text]
        if _INTEGER.match(text):
            return int(text)
        if _NUMBER.match(text) and math.isfinite(number := float(text)):
            return number
        if _AMBIGUOUS.fullmatch(text):
            self._refuse(
                event,
                "yaml/ambiguous-scalar",
                "YAML parsers interpret this plain value differently",
                "write null, true, false or a JSON number, or put it in quotes",
            )
        return text

    def _refuse_indirection(self, event: Any) -> None:
        if type(event) is yaml.AliasEvent or event.anchor:
            self._refuse(event, "yaml/anchor", "anchors and aliases are not allowed", "use $ref")
        if event.tag:
            self._refuse(event, "yaml/tag", "tags are not allowed", "delete the tag")

    def _refuse(self, event: Any, rule: str, message: str, fix: str) -> NoReturn:
        raise YamlRefused(event.start_mark.line + 1, self._pointer(), rule, message, fix)

    def _reason(self, error: yaml.MarkedYAMLError) -> str:
        mark = error.problem_mark
        if mark is not None and self._text[mark.index : mark.index + 1] == "\t":
            return "a TAB is used for indentation: YAML allows only spaces"
        return error.problem or "cannot be parsed"

    def _pointer(self) -> str:
        return pointer_of(self._path)
