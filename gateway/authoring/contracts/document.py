"""Reads one contract file: its value, and the line of every part."""

import hashlib
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from json import JSONDecoder
from pathlib import Path, PurePosixPath
from typing import Any, Final

from gateway.authoring.contracts import yamltext
from gateway.authoring.contracts.finding import ContractRefused, Finding, Severity
from gateway.authoring.contracts.yamltext import LineTable
from gateway.contract.values import jsontext
from gateway.contract.values.pointers import child, steps

# Finds the lines of JSON's values when they are asked for.

_BLANK: Final = re.compile(r"[ \t\r\n]*")
_decoder = JSONDecoder(strict=False)


class JsonLines:
    """Finds lines in a well-formed text. Each object is scanned once, when it is first passed."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._members: dict[int, dict[str, tuple[int, int]]] = {}

    def line_of(self, pointer: str) -> int:
        """The 1-based line of `pointer`. If nothing is there, the line of the nearest parent."""
        named_at = at = self._skip(0)
        for step in steps(pointer):
            if at not in self._members:
                self._members[at] = dict(self._scan(at))
            found = self._members[at].get(step)
            if found is None:
                break
            named_at, at = found
        return self._line_at(named_at)

    def repeated(self) -> Iterator[tuple[int, str, str]]:
        """The line, pointer and name of each member whose object has the name before it."""
        return self._repeated(self._skip(0), "")

    def _repeated(self, at: int, pointer: str) -> Iterator[tuple[int, str, str]]:
        known: set[str] = set()
        for name, (named_at, value_at) in self._scan(at):
            below = child(pointer, name)
            if name in known:
                yield self._line_at(named_at), below, name
            known.add(name)
            yield from self._repeated(value_at, below)

    def _line_at(self, at: int) -> int:
        return bisect_right(self._line_ends, at) + 1

    @cached_property
    def _line_ends(self) -> list[int]:
        return [found.start() for found in re.finditer("\n", self._text)]

    def _scan(self, at: int) -> list[tuple[str, tuple[int, int]]]:
        """Each member of the value at `at`: where its name and where its value begin."""
        found: list[tuple[str, tuple[int, int]]] = []
        is_object = self._text[at] == "{"
        if not is_object and self._text[at] != "[":
            return found
        at = self._skip(at + 1)
        while self._text[at] not in "]}":
            named_at, name = at, str(len(found))
            if is_object:
                name, at = _decoder.raw_decode(self._text, at)
                at = self._skip(self._skip(at) + 1)
            found.append((name, (named_at, at)))
            at = self._skip(_decoder.raw_decode(self._text, at)[1])
            if self._text[at] == ",":
                at = self._skip(at + 1)
        return found

    def _skip(self, at: int) -> int:
        blank = _BLANK.match(self._text, at)
        return blank.end() if blank else at


# Reads one contract file: its value, and the line of every part.


class JsonRefused(ValueError):
    """The text is not strict JSON."""

    def __init__(self, line: int, pointer: str, message: str) -> None:
        super().__init__(message)
        self.line = line
        """1-based."""
        self.pointer = pointer
        self.message = message


def decode(text: bytes) -> Any:
    """The value of `text`, by the same strict rules as requests. Raises `JsonRefused`."""
    try:
        return jsontext.decode(text, jsontext.CONTRACT)
    except jsontext.NotJson as error:
        raise _located(text, str(error)) from None


def _located(text: bytes, message: str) -> JsonRefused:
    offset = re.search(r" \(byte (\d+)\)$", message)
    if offset:
        line = text.count(b"\n", 0, int(offset[1])) + 1
        return JsonRefused(line, "", message[: offset.start()])
    if "twice" in message:
        line, pointer, name = next(JsonLines(text.decode()).repeated())
        return JsonRefused(line, pointer, f"{name!r} occurs twice in one object")
    return JsonRefused(1, "", message)


MAX_BYTES: Final = 1024 * 1024
SUFFIXES: Final = frozenset({".yaml", ".json"})
_BOM: Final = b"\xef\xbb\xbf"


class Document:
    """A contract file. Its value must not be changed."""

    def __init__(
        self,
        path: PurePosixPath,
        value: Any,
        text_sha256: str,
        locate: Callable[[], JsonLines | LineTable],
        declared: "tuple[Document, str] | None" = None,
    ) -> None:
        self.path = path
        """Relative to the schemas folder."""
        self.value = value
        self.text_sha256 = text_sha256
        """Digest of the text with `\\n` as line ends, so that it is the same in every checkout."""
        self._locate = locate
        self.declared = declared
        """The contract file and the pointer from which this one was made. None for a file that an
        author wrote."""

    @cached_property
    def _lines(self) -> JsonLines | LineTable:
        return self._locate()

    def line_of(self, pointer: str) -> int:
        """The 1-based line of `pointer`. If nothing is there, the line of the nearest parent."""
        return self._lines.line_of(pointer)

    @property
    def source(self) -> PurePosixPath:
        """The file that an author edits to change this one."""
        return self.declared[0].path if self.declared else self.path

    def place(self, pointer: str) -> tuple[PurePosixPath, str, int]:
        """The file, the pointer and the line of `pointer` that an author can edit."""
        if self.declared is None:
            return self.path, pointer, self.line_of(pointer)
        document, where = self.declared
        return document.path, where, document.line_of(where)

    def derived(self, path: PurePosixPath, value: Any, pointer: str) -> "Document":
        """A file that follows from the part of this one at `pointer`."""
        return Document(path, value, self.text_sha256, LineTable, (self, pointer))


def finding_at(
    document: Document,
    pointer: str,
    rule: str,
    message: str,
    fix: str,
    severity: Severity = Severity.ERROR,
) -> Finding:
    """A finding at `pointer` of the file."""
    return Finding(
        path=str(document.path),
        line=document.line_of(pointer),
        pointer=pointer,
        rule=rule,
        message=message,
        fix=fix,
        severity=severity,
    )


def read_document(root: Path, path: PurePosixPath) -> Document:
    """Read the file `path` under `root`. Raises `ContractRefused` with one finding."""
    raw = _read(root / path, path)
    digest = hashlib.sha256(raw).hexdigest()
    text = _text(raw, path)
    if path.suffix == ".json":
        value = _json(raw, path)
        return Document(path, value, digest, partial(JsonLines, text))
    try:
        value = yamltext.decode(text)
    except yamltext.YamlRefused as error:
        raise _refused(
            path, error.rule, error.message, error.fix, line=error.line, pointer=error.pointer
        ) from None
    return Document(path, value, digest, partial(yamltext.lines_of, text))


def _read(file: Path, path: PurePosixPath) -> bytes:
    return read_bytes(file, path).replace(b"\r\n", b"\n")


def read_bytes(file: Path, path: PurePosixPath) -> bytes:
    """The bytes of `file`, which findings name `path`. Raises `ContractRefused`."""
    if file.is_symlink() or not file.is_file():
        raise _refused(
            path, "file/not-regular", "is a link or not a regular file", "put the file itself here"
        )
    try:
        with file.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise _refused(
            path, "file/unreadable", f"cannot be read: {reason}", "check its permissions"
        ) from None
    if len(raw) > MAX_BYTES:
        raise _refused(path, "file/too-large", "is larger than 1 MiB", "split the file")
    return raw


def _text(raw: bytes, path: PurePosixPath) -> str:
    if raw.startswith(_BOM):
        raise _refused(
            path, "file/encoding", "begins with a byte order mark", "save as UTF-8 without BOM"
        )
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise _refused(
            path, "file/encoding", "is not valid UTF-8", "save as UTF-8", line=line
        ) from None


def _json(raw: bytes, path: PurePosixPath) -> Any:
    try:
        return decode(raw)
    except JsonRefused as error:
        raise _refused(
            path,
            "json/malformed",
            error.message,
            "write one strict JSON value (RFC 8259)",
            line=error.line,
            pointer=error.pointer,
        ) from None


def _refused(
    path: PurePosixPath, rule: str, message: str, fix: str, *, line: int = 1, pointer: str = ""
) -> ContractRefused:
    return ContractRefused(
        [Finding(path=str(path), line=line, pointer=pointer, rule=rule, message=message, fix=fix)]
    )
