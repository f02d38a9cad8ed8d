"""Reads YAML as one JSON value with line numbers, and writes values as such YAML."""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Final, NoReturn

import yaml

from gateway.contract.values.jsontext import MAX_DEPTH
from gateway.contract.values.pointers import parent, pointer_of

# Reads YAML as one JSON value with line numbers, from PyYAML's parser events.
#
# Its constructors are not used. They implement YAML 1.1 (`on` would be true, `2026-11-20` a date),
# and do not report what must be refused.
#
# `YamlReader` is what all dialects of YAML share. The dialect here is that of contracts: it
# refuses aliases, tags, merge keys and equal names. Plain scalars follow the JSON schema of YAML
# 1.2 (§10.2): null, true, false, JSON numbers, or text. Scalars that YAML parsers interpret
# differently (`True`, `0x1F`, `012`, `~`, `1_000`) are refused.

_MERGE_KEY: Final = "<<"
_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,99})\Z")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,99})(?:\.[0-9]{1,99})?(?:[eE][-+]?[0-9]{1,5})?\Z")
_AMBIGUOUS: Final = re.compile(
    r"~|null|true|false|[-+]?\.(?:inf|nan)|[-+]?[0-9][0-9_]*|[-+]?0[xo][0-9a-f_]+|0b[01_]+"
    r"|[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*|[0-9]+)(?:e[-+]?[0-9]+)?",
    re.IGNORECASE,
)
PLAIN_TEXT: Final = re.compile(r"[^-+.~0-9nNtTfF]")
"""The first character of a scalar that every YAML parser reads as text."""
_WORDS: Final = {"": None, "null": None, "true": True, "false": False}


class YamlRefused(ValueError):
    """The text is not YAML of the dialect in which it is read."""

    def __init__(self, line: int, pointer: str, rule: str, message: str, fix: str) -> None:
        super().__init__(message)
        self.line = line
        """1-based."""
        self.pointer = pointer
        self.rule = rule
        self.message = message
        self.fix = fix


class LineTable(dict[str, int]):
    """The 1-based line of each JSON Pointer of a text."""

    def line_of(self, pointer: str) -> int:
        """The line of `pointer`. If nothing is there, the line of the nearest parent."""
        while pointer and pointer not in self:
            pointer = parent(pointer)
        return self.get(pointer, 1)


def decode(text: str) -> Any:
    """The value of `text`. Raises `YamlRefused`."""
    return _ContractReader(text).document()


def lines_of(text: str) -> LineTable:
    """The 1-based line of every JSON Pointer of `text`. `decode` must accept the text."""
    lines = LineTable()
    _ContractReader(text, lines).document()
    return lines


def is_plain_text(text: str) -> bool:
    """Whether each YAML parser reads `text` as text where it stands without quotes, if at all."""
    return bool(PLAIN_TEXT.match(text)) or not (
        text in _WORDS or _NUMBER.match(text) or _AMBIGUOUS.fullmatch(text)
    )


class YamlReader(ABC):
    """Builds a value from parser events. Subclasses are dialects of YAML.

    The path to the current value is a list of steps, because building a pointer for every value
    would be most of the time of reading a thousand files.
    """

    allows_directives: ClassVar[bool]
    expected: ClassVar[str]
    """What to do about an empty file."""
    second: ClassVar[str]
    """What a text is that follows the document."""

    def __init__(self, text: str, lines: LineTable | None = None) -> None:
        """`lines` gets the line of each part that is written in `text`."""
        self._text = text
        self._next: Callable[[], Any] = yaml.CSafeLoader(text).get_event
        self._lines = lines
        self._path: list[str | int] = []

    def document(self) -> Any:
        """The value of the text. Raises `YamlRefused`."""
        try:
            return self._document()
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 1
            reason = self._reason(error)
        except yaml.reader.ReaderError as error:
            line, reason = 1, error.reason
        fix = "correct the YAML on this line"
        raise YamlRefused(line, pointer_of(self._path), "yaml/malformed", reason, fix)

    def _document(self) -> Any:
        self._next()
        start = self._next()
        if isinstance(start, yaml.StreamEndEvent):
            self._refuse(start, "yaml/empty", "the file is empty", self.expected)
        if not self.allows_directives and (start.version or start.tags):
            self._refuse(start, "yaml/directive", "% directives are not allowed", "delete the line")
        value = self._value(self._next())
        self._next()
        extra = self._next()
        if not isinstance(extra, yaml.StreamEndEvent):
            message = f"there is a second {self.second}"
            self._refuse(extra, "yaml/several-documents", message, "split the file")
        return value

    def _value(self, event: Any, line: int | None = None) -> Any:
        if self._lines is not None:
            self._lines[pointer_of(self._path)] = line or event.start_mark.line + 1
        if event.anchor is not None:
            return self._shared(event)
        return self._scalar(event) if type(event) is yaml.ScalarEvent else self._container(event)

    def _container(self, event: Any) -> dict[str, Any] | list[Any]:
        # One function for both kinds: each level of a document takes from the depth of the stack.
        self._enter(event)
        next_event, path = self._next, self._path
        if type(event) is yaml.SequenceStartEvent:
            items: list[Any] = []
            while type(event := next_event()) is not yaml.SequenceEndEvent:
                path.append(len(items))
                items.append(self._value(event))
                path.pop()
            return items
        members: dict[str, Any] = {}
        merged: list[dict[str, Any]] = []
        while type(event := next_event()) is not yaml.MappingEndEvent:
            name = self._name(event)
            path.append(name)
            # An alias of the text `<<` is a name.
            is_merge = name == _MERGE_KEY and type(event) is yaml.ScalarEvent and not event.style
            if name in members and not is_merge:
                self._repeat(event, name)
            value = self._value(next_event(), event.start_mark.line + 1)
            path.pop()
            if is_merge:
                merged += self._merged(event, value)
            else:
                members[name] = value
        return _with_merged(members, merged) if merged else members

    def _merged(self, event: Any, value: Any) -> list[dict[str, Any]]:
        sources = value if isinstance(value, list) else [value]
        if not all(isinstance(source, dict) for source in sources):
            message, fix = "a merge key needs a mapping", "give the alias of a mapping"
            self._refuse(event, "yaml/merge-key", message, fix)
        return sources

    def _refuse(self, event: Any, rule: str, message: str, fix: str) -> NoReturn:
        line = event.start_mark.line + 1
        raise YamlRefused(line, pointer_of(self._path), rule, message, fix)

    def _refuse_name(self, event: Any) -> NoReturn:
        self._refuse(event, "yaml/key", "a name must be text", "write a plain or quoted name")

    def _reason(self, error: yaml.MarkedYAMLError) -> str:
        """Why the parser refuses the text."""
        return error.problem or "it cannot be parsed"

    @abstractmethod
    def _name(self, event: Any) -> str:
        """The name of a member."""

    @abstractmethod
    def _scalar(self, event: Any) -> Any:
        """The value of a scalar."""

    @abstractmethod
    def _enter(self, event: Any) -> None:
        """Refuse the object or array that begins with `event`, or do nothing."""

    @abstractmethod
    def _shared(self, event: Any) -> Any:
        """The value of an alias, or of what has an anchor."""

    @abstractmethod
    def _repeat(self, event: Any, name: str) -> None:
        """Refuse a name that its object has already, or do nothing."""


def _with_merged(members: dict[str, Any], sources: list[dict[str, Any]]) -> dict[str, Any]:
    """`members` with those of `sources`. Earlier ones have precedence (YAML merge key, 1.1)."""
    merged: dict[str, Any] = {}
    for source in [members, *sources]:
        for name, value in source.items():
            merged.setdefault(name, value)
    return merged


class _ContractReader(YamlReader):
    allows_directives = False
    expected = "write the contract"
    second = "document"

    def _scalar(self, event: Any) -> Any:
        if event.tag:
            self._refuse_tag(event)
        text: str = event.value
        if event.style or PLAIN_TEXT.match(text):
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

    def _name(self, event: Any) -> str:
        if event.anchor is not None:
            self._shared(event)
        if event.tag:
            self._refuse_tag(event)
        if type(event) is not yaml.ScalarEvent:
            self._refuse_name(event)
        if event.value == _MERGE_KEY and not event.style:
            self._refuse(event, "yaml/merge-key", "merge keys are not allowed", "copy the members")
        name = self._scalar(event)
        if not isinstance(name, str):
            message = f"the name {event.value} is not text"
            self._refuse(event, "yaml/key", message, "put it in quotes")
        return name

    def _enter(self, event: Any) -> None:
        if event.tag:
            self._refuse_tag(event)
        if len(self._path) >= MAX_DEPTH:
            message = f"nested deeper than {MAX_DEPTH} levels"
            self._refuse(event, "yaml/too-deep", message, "reduce the nesting")

    def _shared(self, event: Any) -> NoReturn:
        self._refuse(event, "yaml/anchor", "anchors and aliases are not allowed", "use $ref")

    def _repeat(self, event: Any, name: str) -> None:
        self._refuse(event, "yaml/duplicate-key", f"{name!r} occurs twice", "keep one of them")

    def _refuse_tag(self, event: Any) -> NoReturn:
        self._refuse(event, "yaml/tag", "tags are not allowed", "delete the tag")

    def _reason(self, error: yaml.MarkedYAMLError) -> str:
        mark = error.problem_mark
        if mark is not None and self._text[mark.index : mark.index + 1] == "\t":
            return "a TAB is used for indentation: YAML allows only spaces"
        return super()._reason(error)


# Writes values as the YAML that contracts may use: what `yamltext` decodes to the same value.

_STRING: Final = "tag:yaml.org,2002:str"


def written(value: Any, width: int = 100) -> str:
    """`value` in block style, in lines of about `width` characters."""
    return yaml.dump(value, Dumper=_Writer, sort_keys=False, allow_unicode=True, width=width)


class _Writer(yaml.SafeDumper):
    """Writes no anchors, and quotes each text that could be read as something else.

    PyYAML quotes what YAML 1.1 would read as something else. `1e5` and `012345678` are text there.
    """

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML's signature
        return True

    def represent_text(self, data: str) -> yaml.ScalarNode:
        """`data` as a scalar that is text for each parser."""
        style = None if is_plain_text(data) else "'"
        return self.represent_scalar(_STRING, data, style=style)


_Writer.add_representer(str, _Writer.represent_text)
