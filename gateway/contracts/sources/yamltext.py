"""YAML as contracts use it: the part of YAML 1.2 that means one JSON value, with its lines.

Built from parser events instead of PyYAML's constructors, because those read YAML 1.1 (`on` would
be true, `2026-11-20` a date) and lose what must be refused: aliases, tags, merge keys, equal names.
Plain scalars follow the JSON schema of YAML 1.2 (§10.2): null, true, false, JSON numbers, otherwise
text. Spellings that YAML readers disagree about (`True`, `0x1F`, `012`, `~`, `1_000`) are refused.
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
"""How text begins that cannot be mistaken for anything else."""
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


def decode(text: str) -> Any:
    """The one value that `text` holds. Raises `YamlRefused`."""
    return _Builder(text, None).document()


def lines_of(text: str) -> Mapping[str, int]:
    """The 1-based line on which each JSON Pointer of `text`, which can be decoded, begins."""
    lines: dict[str, int] = {}
    _Builder(text, lines).document()
    return lines


class _Builder:
    """Turns parser events into a value; notes lines in `lines` when there is such a dict.

    The way to the current value is kept as steps, because building a pointer for every value of a
    thousand files is most of the cost of reading them.
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
            self._refuse(start, "yaml/directive", "% directives are not read", "delete the line")
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
            self._refuse(event, "yaml/too-deep", message, "flatten it")
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
            self._refuse(event, "yaml/merge-key", "merge keys are not read", "write it out")
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
                "YAML readers disagree about what this plain value means",
                "write null, true, false or a JSON number, or put it in quotes",
            )
        return text

    def _refuse_indirection(self, event: Any) -> None:
        if type(event) is yaml.AliasEvent or event.anchor:
            self._refuse(event, "yaml/anchor", "anchors and aliases are not read", "use $ref")
        if event.tag:
            self._refuse(event, "yaml/tag", "tags are not read", "delete the tag")

    def _refuse(self, event: Any, rule: str, message: str, fix: str) -> NoReturn:
        raise YamlRefused(event.start_mark.line + 1, self._pointer(), rule, message, fix)

    def _reason(self, error: yaml.MarkedYAMLError) -> str:
        mark = error.problem_mark
        if mark is not None and self._text[mark.index : mark.index + 1] == "\t":
            return "a TAB stands where only spaces may: YAML is indented with spaces"
        return error.problem or "cannot be parsed"

    def _pointer(self) -> str:
        return pointer_of(self._path)
