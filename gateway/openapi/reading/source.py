"""A vendor's document as it was written: its files, their values, and the line of every part."""

import hashlib
import re
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, get_args

from gateway.contract.values.pointers import parent
from gateway.contracts.finding import Finding, Severity
from gateway.openapi.reading import jsonvalue, yamlvalue
from gateway.openapi.reading.budget import DEFAULT, Meter, OutOfBudget, ReadingBudget
from gateway.openapi.reading.refusal import DocumentRefused
from gateway.openapi.reading.texts import clean_texts

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
        return self._find_line(pointer)

    @cached_property
    def _find_line(self) -> Callable[[str], int]:
        text = self._text.decode()
        if self.is_json:
            return jsonvalue.JsonLines(text).line_of
        lines = yamlvalue.lines_of(text, Meter(self._budget))

        def line_of(pointer: str) -> int:
            while pointer and pointer not in lines:
                pointer = parent(pointer)
            return lines.get(pointer, 1)

        return line_of

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
            value = jsonvalue.decode(self._text, meter)
        except jsonvalue.JsonRejected as error:
            if not self.path.endswith(".json"):
                return self._yaml(meter)
            fix = _AS_UTF_8 if "UTF-8" in error.message else "write one JSON value (RFC 8259)"
            raise self._refused(error.line, "document/malformed", error.message, fix) from None
        self.is_json = True
        self.repeated = jsonvalue.repeated_names(self._text, value)
        return value

    def _yaml(self, meter: Meter) -> Any:
        try:
            text = self._text.decode()
        except UnicodeDecodeError as error:
            line = self._text.count(b"\n", 0, error.start) + 1
            message = "the text is not valid UTF-8"
            raise self._refused(line, "document/encoding", message, _AS_UTF_8) from None
        try:
            value, self.repeated = yamlvalue.decode(text, meter)
        except yamlvalue.YamlRejected as error:
            raise self._refused(
                error.line, "document/malformed", error.message, error.fix
            ) from None
        # Aliases may nest deeper than the text does.
        jsonvalue.count(value, Meter(self._budget))
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
