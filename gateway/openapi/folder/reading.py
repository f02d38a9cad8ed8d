"""Reads the folder of an imported document, `schemas/upstreams/<connector>/`."""

import hashlib
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from gateway.contracts.finding import ContractRefused, Finding
from gateway.contracts.sources import yamltext
from gateway.contracts.sources.document import Document, read_document
from gateway.contracts.sources.yamltext import written
from gateway.errors import ContractError
from gateway.openapi.folder.importfile import (
    IMPORT_FILE,
    OVERLAY_FILE,
    finding_at,
    read_import_file,
)
from gateway.openapi.lowering.connector import lower_connector, lower_messages
from gateway.openapi.lowering.operations import FoundOperations
from gateway.openapi.lowering.records import ImportOutcome, RefusedOperation, WrongSelection
from gateway.openapi.lowering.selecting import known_names
from gateway.openapi.lowering.selection import ImportFile
from gateway.openapi.lowering.view import DocumentView
from gateway.openapi.lowering.webhooks import (
    InboundMessage,
    InboundMessages,
    RefusedMessage,
)
from gateway.openapi.overlay.overlay import apply_overlay
from gateway.openapi.reading.normalise import normalise
from gateway.openapi.reading.refusal import DocumentRefused
from gateway.openapi.reading.source import SourceDocument, read_source

_TOOLS: Final = "tools"
_WORD: Final = b"x-binding"


def bound_names(schemas: Path, connector: str) -> frozenset[str]:
    """The operations of the import `connector` that the contract files of tools name.

    A file that cannot be read names none: the lint reports it.
    """
    found = (_binding(path, connector) for path in (schemas / _TOOLS).glob("*/*.yaml"))
    return frozenset(name for each in found for name in _named(each, connector))


def _binding(path: Path, connector: str) -> Any:
    """`x-binding` of the file. Most files name another upstream, and are not parsed."""
    try:
        raw = path.read_bytes()
        if _WORD not in raw or connector.encode() not in raw:
            return None
        value = yamltext.decode(raw.decode())
    except (OSError, UnicodeDecodeError, yamltext.YamlRefused):
        return None
    operation = value.get("post") if isinstance(value, dict) else None
    return operation.get("x-binding") if isinstance(operation, dict) else None


def _named(binding: Any, connector: str) -> Iterator[str]:
    if isinstance(binding, dict) and binding.get("upstream") == connector:
        name = binding.get("operationId")
        if isinstance(name, str):
            yield name


UPSTREAMS: Final = "upstreams"
MAX_CONNECTOR: Final = 30
CONNECTOR_FIX: Final = (
    f"begin with a letter, and use at most {MAX_CONNECTOR} lower-case letters, digits and _"
)
_CONNECTOR: Final = re.compile(rf"[a-z][a-z0-9_]{{0,{MAX_CONNECTOR - 1}}}")


class ImportFolder(Struct, frozen=True, kw_only=True):
    """The folder of one imported document."""

    schemas: Path
    connector: str
    new_overlay: Path | None = None
    """The file of the overlay that a new import gets. None: there is that of the folder, or none.
    """

    @property
    def path(self) -> PurePosixPath:
        """Relative to the schemas folder."""
        return PurePosixPath(UPSTREAMS, self.connector)

    @property
    def files(self) -> Path:
        return self.schemas / self.path

    def bound(self) -> frozenset[str]:
        """The names of the operations that tools with contract files call."""
        return bound_names(self.schemas, self.connector)

    def wishes(self) -> tuple[ImportFile, Document]:
        """The content of `import.yaml`. Raises `ContractRefused`."""
        return read_import_file(self.schemas, self.path / IMPORT_FILE)

    def overlay(self) -> Document | None:
        """The overlay, if there is one. Raises `ContractRefused`."""
        if self.new_overlay is not None:
            place = os.path.relpath(self.new_overlay, self.schemas)
            return read_document(self.schemas, PurePosixPath(Path(place).as_posix()))
        if not (self.files / OVERLAY_FILE).exists():
            return None
        return read_document(self.schemas, self.path / OVERLAY_FILE)

    def overlay_text(self) -> bytes | None:
        """The text of `overlay.yaml` for the overlay that a new import gets.

        Raises `ContractRefused`.
        """
        overlay = self.overlay()
        if self.new_overlay is None or overlay is None:
            return None
        is_json = self.new_overlay.suffix == ".json"
        return written(overlay.value).encode() if is_json else self.new_overlay.read_bytes()


def is_connector(name: str) -> bool:
    """Whether `name` can be the name of an imported connector."""
    return _CONNECTOR.fullmatch(name) is not None


def import_folders(schemas: Path) -> tuple[ImportFolder, ...]:
    """The folders with an `import.yaml`, sorted by connector.

    Raises `ContractRefused` if the name of a folder cannot be the name of a connector.
    """
    found = sorted((schemas / UPSTREAMS).glob(f"*/{IMPORT_FILE}"))
    names = [each.parent.name for each in found if not each.parent.name.startswith(".")]
    if wrong := [_wrong_name(name) for name in names if not is_connector(name)]:
        raise ContractRefused(wrong)
    return tuple(ImportFolder(schemas=schemas, connector=name) for name in names)


def _wrong_name(name: str) -> Finding:
    return Finding(
        path=str(PurePosixPath(UPSTREAMS, name, IMPORT_FILE)),
        line=1,
        pointer="",
        rule="import/connector",
        message=f"{name!r} cannot be the name of a connector",
        fix=f"rename the folder: {CONNECTOR_FIX}",
    )


def read_import(folder: ImportFolder) -> ImportOutcome:
    """What is served of the document in `folder`.

    Raises `ContractRefused` if a file cannot be used, or if the document is not the pinned one.
    """
    wishes, text = folder.wishes()
    document = folder.files / wishes.document
    found = digest_of(document)
    if found != wishes.sha256:
        again = f"--as {folder.connector} --update"
        if found is None:
            message, fix = f"{wishes.document} is missing", f"gateway import DOCUMENT {again}"
        else:
            message = f"{wishes.document} was changed"
            fix = (
                "restore it and write the change to overlay.yaml, or accept it:"
                f" gateway import {document.as_posix()} {again}"
            )
        raise ContractRefused([finding_at(text, "/sha256", "import/sha256", message, fix)])
    return lower_import(folder, read_document_of(folder, wishes), wishes, text)


def read_document_of(folder: ImportFolder, wishes: ImportFile) -> SourceDocument:
    """The vendor's document in `folder`. Findings have the path of `folder`."""
    path = folder.files / wishes.document
    try:
        return read_source(path / (wishes.entry or ""), root=path if wishes.entry else None)
    except DocumentRefused as refused:
        raise DocumentRefused(_inside(folder.path / path.name, refused.findings)) from None


def unmatched_targets(folder: ImportFolder) -> tuple[Finding, ...]:
    """A note for each target of the overlay that matches nothing. Raises `ContractError`."""
    if not (folder.files / OVERLAY_FILE).exists():
        return ()
    wishes, _ = folder.wishes()
    _, notes = _overlaid(folder, read_document_of(folder, wishes))
    return tuple(notes)


def operation_names(folder: ImportFolder, source: SourceDocument) -> frozenset[str]:
    """The names by which `import.yaml` may name operations of `source` with the overlay.

    Raises `ContractError`.
    """
    source, _ = _overlaid(folder, source)
    return known_names(FoundOperations(DocumentView(normalise(source))).operations)


def tags_of(folder: ImportFolder, source: SourceDocument) -> tuple[dict[str, int], int]:
    """The number of operations by tag, and of operations without a tag, with the overlay.

    Raises `ContractError`.
    """
    source, _ = _overlaid(folder, source)
    operations = FoundOperations(DocumentView(normalise(source))).operations
    counts = Counter(tag for each in operations for tag in dict.fromkeys(each.tags))
    return dict(counts), sum(not each.tags for each in operations)


def lower_import(
    folder: ImportFolder,
    source: SourceDocument,
    wishes: ImportFile,
    text: Document | None,
    bound: Collection[str] = (),
) -> ImportOutcome:
    """What is served of `source` with `wishes` and the overlay of `folder`.

    `text` is the source of `wishes`, for the lines in errors. `bound` are operations that tools
    with contract files will call, besides those that they call. Raises `ContractError`.
    """
    source, notes = _overlaid(folder, source)
    place = folder.path / wishes.document
    called = {*folder.bound(), *bound}
    try:
        outcome = lower_connector(normalise(source), folder.connector, wishes, called)
    except WrongSelection as wrong:
        raise _refused(text, wrong) from None
    except DocumentRefused as refused:
        raise DocumentRefused(_inside(place, refused.findings)) from None
    return _placed(place, outcome, notes)


def inbound_messages(
    folder: ImportFolder, source: SourceDocument, wishes: ImportFile
) -> InboundMessages:
    """What the vendor of `source` sends, with the overlay of `folder`. Raises `ContractError`."""
    source, _ = _overlaid(folder, source)
    place = folder.path / wishes.document
    try:
        found = lower_messages(normalise(source), wishes)
    except WrongSelection as wrong:
        raise _refused(None, wrong) from None
    except DocumentRefused as refused:
        raise DocumentRefused(_inside(place, refused.findings)) from None
    return InboundMessages(
        read=tuple(_with_place(place, each) for each in found.read),
        refused=tuple(_with_place(place, each) for each in found.refused),
    )


_M = TypeVar("_M", InboundMessage, RefusedMessage, RefusedOperation)


def _with_place(place: PurePosixPath, each: _M) -> _M:
    """`each` with the path of the stored file."""
    return msgspec.structs.replace(each, finding=_inside(place, [each.finding])[0])


def _overlaid(
    folder: ImportFolder, source: SourceDocument
) -> tuple[SourceDocument, tuple[Finding, ...]]:
    """`source` with the overlay of `folder`, and the notes on the overlay."""
    overlay = folder.overlay()
    if overlay is None:
        return source, ()
    overlaid = apply_overlay(overlay, source.value)
    return source.replaced(overlaid.value), overlaid.notes


def digest_of(path: Path) -> str | None:
    """The SHA-256 digest of a file, or of the names and digests of all files of a folder.

    None if there is nothing at `path`.
    """
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    files = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else []
    return digest_of_files({each.relative_to(path).as_posix(): each.read_bytes() for each in files})


def digest_of_files(files: dict[str, bytes]) -> str | None:
    """The digest of a folder with these files, by relative path. None if there are none."""
    if not files:
        return None
    lines = (f"{hashlib.sha256(files[name]).hexdigest()} {name}\n" for name in sorted(files))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _refused(text: Document | None, wrong: WrongSelection) -> ContractError:
    """The error for a selection in `text`. Without `text`, it was given with the command."""
    if text is None:
        return ContractError(f"{wrong.message}; {wrong.fix}")
    finding = finding_at(text, wrong.pointer, "import/selection", wrong.message, wrong.fix)
    return ContractRefused([finding])


def _placed(
    place: PurePosixPath, outcome: ImportOutcome, notes: tuple[Finding, ...]
) -> ImportOutcome:
    """`outcome` with paths relative to the schemas folder, and with `notes` on the overlay."""
    report = outcome.report
    refused = tuple(_with_place(place, each) for each in report.refused)
    all_notes = (*notes, *_inside(place, report.notes))
    report = msgspec.structs.replace(report, refused=refused, notes=all_notes)
    return msgspec.structs.replace(outcome, report=report)


def _inside(place: PurePosixPath, findings: Iterable[Finding]) -> list[Finding]:
    """`findings` with the paths of the stored files. `place` is the stored document."""
    is_file = "." in place.name
    return [
        msgspec.structs.replace(each, path=str(place if is_file else place / each.path))
        for each in findings
    ]
