"""A vendor's document as it was written: files, values, the line of every part, and its limits."""

import hashlib
import json
import math
import re
import time
from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args

import msgspec
import yaml
from msgspec import Struct

from gateway.authoring.contracts.document import JsonLines
from gateway.authoring.contracts.finding import ContractRefused, Finding, Severity
from gateway.authoring.contracts.yamltext import PLAIN_TEXT, LineTable, YamlReader, YamlRefused
from gateway.contract.schemas.keywords import NAME_MAPS
from gateway.contract.values.hidden import HIDDEN, visible

# Refusals of a vendor's document, or of one part of it.


class DocumentRefused(ContractRefused):
    """The document cannot be read at all. `findings` name the places and the fixes."""


class PartRefused(ContractRefused):
    """One part of the document cannot be served. Operations that use it are refused, no others."""

    def __init__(self, finding: Finding) -> None:
        super().__init__([finding])
        self.finding = finding


# How much of a machine one document may use.

_MEBIBYTE: Final = 1024 * 1024


class ReadingBudget(Struct, frozen=True, kw_only=True):
    """Limits of reading one document, all its files together."""

    size_bytes: int = 64 * _MEBIBYTE
    """Also the limit of the text of a YAML document after its aliases are replaced."""
    nodes: int = 5_000_000
    """Objects, arrays and scalars, with aliases counted as if they were replaced."""
    depth: int = 200
    seconds: float = 60.0


DEFAULT: Final = ReadingBudget()


class OutOfBudget(ValueError):
    """The document needs more than the budget. The message names the limit."""


class Meter:
    """Counts the work on one document. Raises `OutOfBudget` when a limit is passed."""

    def __init__(self, budget: ReadingBudget = DEFAULT) -> None:
        self.budget = budget
        self.nodes = 0
        self.text = 0
        self._bytes = 0
        self._ends_at = time.monotonic() + budget.seconds
        self._checked_at = 0

    def add(self, nodes: int, text: int = 0) -> None:
        """Count `nodes` values and `text` characters of text."""
        self.nodes += nodes
        self.text += text
        if self.nodes > self.budget.nodes:
            raise OutOfBudget(f"it has more than {self.budget.nodes:,} values")
        if self.text > self.budget.size_bytes:
            raise OutOfBudget(f"its text is longer than {self.budget.size_bytes:,} characters")
        if self.nodes - self._checked_at > 10_000:
            self._checked_at = self.nodes
            self.check_time()

    def add_bytes(self, size: int) -> None:
        """Count a file of `size` bytes."""
        self._bytes += size
        if self._bytes > self.budget.size_bytes:
            raise OutOfBudget(f"it is larger than {self.budget.size_bytes:,} bytes")

    def check_time(self) -> None:
        """Raise `OutOfBudget` if the time is over."""
        if time.monotonic() > self._ends_at:
            raise OutOfBudget(f"it takes longer than {self.budget.seconds:g} seconds to read")


# Decodes the JSON of vendors' documents.
#
# Names that occur twice are reported, not refused: published documents have them, and all parsers
# keep the last one.

_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BYTE: Final = re.compile(r"\(byte (\d+)\)")
_COLON_ESCAPED: Final = re.compile(rb"\\u003a", re.IGNORECASE)


class JsonRejected(ValueError):
    """The text is not JSON (RFC 8259)."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message


def decode_json(raw: bytes, meter: Meter) -> Any:
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
    count_members(value, meter)
    return value


def count_members(value: Any, meter: Meter) -> None:
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


# A vendor's document as it was written: its files, their values, and the line of every part.
#
# Removes hidden characters from the texts of a document: a model reads what no person sees.
#
# Only what has no effect on requests and replies is changed. Operations whose names or values have
# hidden characters are refused later.
#
# Decodes the YAML of vendors' documents (YAML 1.2 core schema), with aliases and merge keys.
#
# An alias is a second reference to the same value, so that it needs no memory. Its values are
# counted as often as they occur, so that a document whose aliases grow exponentially is refused
# while it is read. Unlike contracts, ambiguous scalars are accepted: they are read as YAML 1.2
# says (§10.3), so that `on`, `yes` and dates are text. Names are always text.

_INTEGER: Final = re.compile(r"[-+]?[0-9]{1,100}\Z")
_BASED: Final = re.compile(r"0o[0-7]{1,80}\Z|0x[0-9a-fA-F]{1,80}\Z")
_NUMBER: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
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
_MAX_NAME: Final = 80


def decode_yaml(text: str, meter: Meter) -> tuple[Any, list[str]]:
    """The value of `text`, and the names that occur twice in one mapping, of which the last counts.

    Raises `YamlRefused` and `OutOfBudget`.
    """
    reader = _VendorReader(text, meter)
    return reader.document(), sorted(reader.repeated)


def lines_of(text: str, meter: Meter) -> LineTable:
    """The 1-based line of every JSON Pointer of `text`, which `decode` accepts.

    Parts that are there by an alias or a merge key have no line.
    """
    lines = LineTable()
    _VendorReader(text, meter, lines).document()
    return lines


class _Anchored(NamedTuple):
    """The value of an anchor, and what an alias to it counts."""

    value: Any
    nodes: int
    text: int


class _VendorReader(YamlReader):
    allows_directives = True
    expected = "give an OpenAPI document"
    second = "YAML document"

    def __init__(self, text: str, meter: Meter, lines: LineTable | None = None) -> None:
        super().__init__(text, lines)
        self._meter = meter
        self._anchors: dict[str, _Anchored | None] = {}
        self.repeated: set[str] = set()

    def _scalar(self, event: Any) -> Any:
        text: str = event.value
        self._meter.add(1, len(text))
        if event.tag:
            if event.tag in _TEXT_TAGS:
                return text
            self._check_tag(event)
        elif event.style:
            return text
        if PLAIN_TEXT.match(text):
            return text
        return _WORDS[text] if text in _WORDS else _number(text)

    def _name(self, event: Any) -> str:
        if type(event) is yaml.AliasEvent and isinstance(value := self._alias(event), str):
            return value
        if type(event) is not yaml.ScalarEvent:
            self._refuse_name(event)
        name: str = event.value
        self._meter.add(0, len(name))
        if event.anchor is not None:
            self._anchors[event.anchor] = _Anchored(name, 1, len(name))
        return name

    def _enter(self, event: Any) -> None:
        self._meter.add(1)
        if len(self._path) >= self._meter.budget.depth:
            raise OutOfBudget(f"it nests deeper than {self._meter.budget.depth} levels")
        if event.tag:
            self._check_tag(event)

    def _shared(self, event: Any) -> Any:
        if type(event) is yaml.AliasEvent:
            return self._alias(event)
        # A value that contains an alias to itself has no end.
        self._anchors[event.anchor] = None
        nodes, text = self._meter.nodes, self._meter.text
        value = self._scalar(event) if type(event) is yaml.ScalarEvent else self._container(event)
        self._anchors[event.anchor] = _Anchored(
            value, self._meter.nodes - nodes, self._meter.text - text
        )
        return value

    def _alias(self, event: Any) -> Any:
        anchored = self._anchors.get(event.anchor)
        if anchored is None:
            is_open = event.anchor in self._anchors
            reason = "the alias is inside of its own anchor" if is_open else "there is no anchor"
            message = f"{reason}: *{event.anchor[:_MAX_NAME]}"
            self._refuse(event, "yaml/anchor", message, "write the value itself")
        self._meter.add(anchored.nodes, anchored.text)
        return anchored.value

    def _repeat(self, event: Any, name: str) -> None:  # noqa: ARG002 - it is accepted
        self.repeated.add(name)

    def _check_tag(self, event: Any) -> None:
        if event.tag not in _PLAIN_TAGS:
            self._refuse(event, "yaml/tag", "it has a tag of its own", "delete the tag")


def _number(text: str) -> Any:
    """The number that `text` is, or `text`."""
    if _INTEGER.match(text):
        return int(text)
    if _BASED.match(text):
        return int(text, 0)
    if _NUMBER.match(text) and math.isfinite(number := float(text)):
        return number
    return text


_TEXTS: Final = frozenset({"description", "summary", "title", "$comment"})
_EXAMPLES: Final = frozenset({"example", "examples"})
_DATA: Final = _EXAMPLES | {"const", "default", "enum"}
_IN_PATTERN: Final = re.compile(rf"(?<!\\){HIDDEN.pattern}")
_LAST_WITH_ESCAPE: Final = "\uffff"


def clean_texts(document: Any) -> int:
    """Remove hidden characters from texts and examples of `document`. Returns how many there were.

    In patterns they become escapes, which mean the same.
    """
    found, known = 0, set[int]()
    waiting = [(document, False)]
    while waiting:
        part, has_names = waiting.pop()
        if isinstance(part, list):
            waiting += [(each, False) for each in part]
        elif isinstance(part, dict) and id(part) not in known:  # YAML has aliases
            known.add(id(part))
            found += 0 if has_names else _clean_members(part)
            waiting += [
                (each, name in NAME_MAPS and not has_names)
                for name, each in part.items()
                if has_names or name not in _DATA
            ]
    return found


def _clean_members(part: dict[str, Any]) -> int:
    found = 0
    for name, value in part.items():
        if name == "pattern" and isinstance(value, str):
            part[name] = _IN_PATTERN.sub(_escaped, value)
        elif name in _EXAMPLES or (name in _TEXTS and isinstance(value, str)):
            part[name], count = visible(value)
            found += count
    return found


def _escaped(hidden: re.Match[str]) -> str:
    return f"\\u{ord(hidden[0]):04x}" if hidden[0] <= _LAST_WITH_ESCAPE else hidden[0]


Version = Literal["2.0", "3.0", "3.1", "3.2"]

SUFFIXES: Final = (".json", ".yaml", ".yml")
_BOM: Final = b"\xef\xbb\xbf"
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
_AS_UTF_8: Final = "save the file as UTF-8"
_VERSION_MEMBER: Final = re.compile(
    rb"""^[{\s]*["']?(?:openapi|swagger)["']?\s*:|[{,]\s*"(?:openapi|swagger)"\s*:\s*"[23]\.""",
    re.MULTILINE,
)
"""At the beginning of a line, or anywhere in JSON on one line."""
_SNIFFED_BYTES: Final = 64 * 1024
_MAX_LISTED: Final = 5


class SourceFile:
    """One file of the document. Its value must not be changed."""

    def __init__(self, path: str, raw: bytes, meter: Meter) -> None:
        """Parse `raw`, which is JSON or YAML in UTF-8. Raises `DocumentRefused`."""
        self.path = path
        """The name that errors show: relative to the document's folder, with `/`."""
        self.raw = raw
        self.sha256 = hashlib.sha256(raw).hexdigest()
        self.repeated: list[str] = []
        """Names that occur twice in one object. The last one counts."""
        self._budget = meter.budget
        self._text = raw.removeprefix(_BOM)
        self.is_json = False
        """Whether the text is JSON. Otherwise it is YAML."""
        self.value = self._parsed(meter)
        self.hidden = clean_texts(self.value)
        """How many hidden characters were removed from its texts."""

    def line_of(self, pointer: str) -> int:
        """The 1-based line of `pointer`. If nothing is there, the line of the nearest parent."""
        return self._lines.line_of(pointer)

    @cached_property
    def _lines(self) -> JsonLines | LineTable:
        text = self._text.decode()
        return JsonLines(text) if self.is_json else lines_of(text, Meter(self._budget))

    def _parsed(self, meter: Meter) -> Any:
        try:
            meter.add_bytes(len(self.raw))
            self._refuse_other_text()
            if self.path.endswith(".json") or self._text.lstrip()[:1] in {b"{", b"["}:
                return self._json_or_yaml(meter)
            return self._yaml(meter)
        except OutOfBudget as error:
            fix = "split the document, or leave out what is not needed"
            raise self._refused(1, "document/too-large", str(error), fix) from None

    def _refuse_other_text(self) -> None:
        """Raise `DocumentRefused` for what parsers would refuse with a message of their own."""
        if self.raw.startswith(_UTF_16) or b"\0" in self.raw[:2]:
            message, fix = "the text is UTF-16 or UTF-32, and not UTF-8", _AS_UTF_8
            raise self._refused(1, "document/encoding", message, fix)
        if not self._text.strip():
            fix = "give an OpenAPI document"
            raise self._refused(1, "document/malformed", "the file is empty", fix)
        if self._text.lstrip().startswith(b"<"):
            message = "the text is HTML or XML, and not JSON or YAML"
            fix = "give the document itself, and not a page about it"
            raise self._refused(1, "document/malformed", message, fix)

    def _json_or_yaml(self, meter: Meter) -> Any:
        try:
            value = decode_json(self._text, meter)
        except JsonRejected as error:
            if not self.path.endswith(".json"):
                return self._yaml(meter)
            fix = _AS_UTF_8 if "UTF-8" in error.message else "write one JSON value (RFC 8259)"
            raise self._refused(error.line, "document/malformed", error.message, fix) from None
        self.is_json = True
        self.repeated = repeated_names(self._text, value)
        return value

    def _yaml(self, meter: Meter) -> Any:
        try:
            text = self._text.decode()
        except UnicodeDecodeError as error:
            line = self._text.count(b"\n", 0, error.start) + 1
            message = "the text is not valid UTF-8"
            raise self._refused(line, "document/encoding", message, _AS_UTF_8) from None
        try:
            value, self.repeated = decode_yaml(text, meter)
        except YamlRefused as error:
            raise self._refused(
                error.line, "document/malformed", error.message, error.fix
            ) from None
        # Aliases may nest deeper than the text does.
        count_members(value, Meter(self._budget))
        return value

    def _refused(self, line: int, rule: str, message: str, fix: str) -> DocumentRefused:
        finding = Finding(
            path=self.path, line=line, pointer="", rule=rule, message=message, fix=fix
        )
        return DocumentRefused([finding])

    def finding(
        self, pointer: str, rule: str, message: str, fix: str, severity: Severity = Severity.ERROR
    ) -> Finding:
        """A finding about the part at `pointer`."""
        return Finding(
            path=self.path,
            line=self.line_of(pointer),
            pointer=pointer,
            rule=rule,
            message=message,
            fix=fix,
            severity=severity,
        )


class SourceDocument:
    """The document's first file, and the folder with the files that it refers to, if there is one.

    Raises `DocumentRefused` if `file` is no OpenAPI document of a version that is read.
    """

    def __init__(self, file: SourceFile, root: Path | None, meter: Meter) -> None:
        self.file = file
        self.root = root
        """Files below it may be referred to. None: no other file is opened."""
        self.meter = meter
        """Counts all files of the document together."""
        self.version = _version_of(file)
        self.value: dict[str, Any] = file.value

    @property
    def path(self) -> str:
        """The name of the first file, as errors show it."""
        return self.file.path

    @property
    def sha256(self) -> str:
        """Digest of the bytes of the first file."""
        return self.file.sha256

    def line_of(self, pointer: str) -> int:
        """The 1-based line of `pointer` in the first file."""
        return self.file.line_of(pointer)

    def replaced(self, value: dict[str, Any]) -> "SourceDocument":
        """The same document with another value: an overlay was applied. Lines are of the text."""
        document = SourceDocument(self.file, self.root, self.meter)
        document.value = value
        return document


def read_source(
    path: Path, budget: ReadingBudget = DEFAULT, root: Path | None = None
) -> SourceDocument:
    """Read the document at `path`: a file, or a folder with exactly one OpenAPI document.

    References to other files are followed only below `root`. If `path` is a folder, it is the root.
    Raises `DocumentRefused`.
    """
    if path.is_dir():
        path, root = _document_in(path), root or path
    raw = _read(path, budget)
    name = path.name
    if root is not None and path.resolve().is_relative_to(root.resolve()):
        name = path.resolve().relative_to(root.resolve()).as_posix()
    meter = Meter(budget)
    return SourceDocument(SourceFile(name, raw, meter), root, meter)


def parse_source(raw: bytes, name: str, budget: ReadingBudget = DEFAULT) -> SourceDocument:
    """Read the document in `raw`, such as standard input. `name` is shown in errors.

    Raises `DocumentRefused`.
    """
    meter = Meter(budget)
    return SourceDocument(SourceFile(name, raw, meter), None, meter)


def _version_of(file: SourceFile) -> Version:
    value = file.value
    if not isinstance(value, dict):
        message = "the document is not an object"
        raise DocumentRefused([_version_finding(file, "", message)])
    member = "swagger" if "swagger" in value and "openapi" not in value else "openapi"
    written = str(value.get(member, ""))
    for version in get_args(Version):
        is_swagger = version == "2.0"
        is_it = written == version or (written.startswith(f"{version}.") and not is_swagger)
        if is_it and is_swagger == (member == "swagger"):
            return version  # type: ignore[no-any-return]  # get_args is not typed
    found = f"its version {written[:20]!r} is not read" if written else "it names no version"
    raise DocumentRefused([_version_finding(file, f"/{member}" if written else "", found)])


def _version_finding(file: SourceFile, pointer: str, message: str) -> Finding:
    fix = 'give a document with `swagger: "2.0"`, or `openapi` 3.0, 3.1 or 3.2'
    return file.finding(pointer, "document/version", message, fix)


def is_document(text: bytes) -> bool:
    """Whether a file with this text is an OpenAPI document, and not only a part of one."""
    return _VERSION_MEMBER.search(text[:_SNIFFED_BYTES]) is not None


def _document_in(folder: Path) -> Path:
    """The only OpenAPI document directly in `folder`, else the only one below it."""
    found = _documents(folder.iterdir()) or _documents(folder.rglob("*"))
    if len(found) == 1:
        return found[0]
    names = ", ".join(file.relative_to(folder).as_posix() for file in found[:_MAX_LISTED])
    message = f"the folder has several documents: {names}" if found else "the folder has none"
    raise DocumentRefused(
        [
            Finding(
                path=folder.name,
                line=1,
                pointer="",
                rule="document/not-one",
                message=f"{message} (files with `openapi` or `swagger` at the top)",
                fix=f"give the file itself, with --root {folder.name or '.'}",
            )
        ]
    )


def _documents(files: Iterable[Path]) -> list[Path]:
    """Those of `files` that are documents. Nothing outside the folder is opened."""
    found = (each for each in files if each.suffix in SUFFIXES and each.is_file())
    return [each for each in sorted(found) if not each.is_symlink() and is_document(_head(each))]


def _head(file: Path) -> bytes:
    with file.open("rb") as stream:
        return stream.read(_SNIFFED_BYTES)


def _read(path: Path, budget: ReadingBudget) -> bytes:
    """The bytes of `path`, at most one more than the budget."""
    if not path.is_file():
        raise _unreadable(path, "it is not a regular file")
    try:
        with path.open("rb") as stream:
            return stream.read(budget.size_bytes + 1)
    except OSError as error:
        raise _unreadable(path, error.strerror or type(error).__name__) from None


def _unreadable(path: Path, reason: str) -> DocumentRefused:
    return DocumentRefused(
        [
            Finding(
                path=path.name,
                line=1,
                pointer="",
                rule="document/unreadable",
                message=f"it cannot be read: {reason}",
                fix="check the path and its permissions",
            )
        ]
    )
