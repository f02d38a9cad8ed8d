"""`gateway import`: puts a vendor's document into the project, or a new version of it."""

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from gateway.authoring.contracts.finding import ContractRefused
from gateway.authoring.openapi.folder import (
    BASE_URL_FIX,
    CONNECTOR_FIX,
    IMPORT_FILE,
    MAX_CONNECTOR,
    OVERLAY_FILE,
    ImportFolder,
    digest_of,
    digest_of_files,
    file_name,
    import_text,
    is_base_url,
    is_connector,
    lower_import,
    operation_names,
    read_import,
    updated_text,
    why_no_base_url,
)
from gateway.authoring.openapi.lowering.records import ImportFile, ImportOutcome, OperationSelection
from gateway.authoring.openapi.lowering.selecting import snake_case
from gateway.authoring.openapi.reading.normalise import normalise
from gateway.authoring.openapi.reading.source import SourceDocument, is_document
from gateway.contract.imported import ImportedConnector, ImportedOperation
from gateway.contract.operation import JOBS
from gateway.contract.values.pointers import steps
from gateway.contract.values.schema import with_definitions
from gateway.errors import ContractError

# The document that a user gives to `gateway import`, and the name of its connector.

RESERVED: Final = frozenset({"gateway", JOBS})
"""Names that no connector may have: the gateway's own grants or paths begin with them."""
_GENERIC: Final = frozenset({"api", "document", "index", "openapi", "spec", "swagger", "stdin"})
"""File names that say nothing about the vendor."""
_FOLDER: Final = "document"


class GivenDocument(Struct, frozen=True, kw_only=True):
    """The document that the user gave."""

    source: SourceDocument
    files: dict[str, bytes]
    """The vendor's bytes by relative path."""
    origin: str
    """Where it came from."""

    @property
    def is_folder(self) -> bool:
        return len(self.files) > 1

    @property
    def name(self) -> str:
        """The name in the folder of the import: of the file, or of a folder with the files."""
        if self.is_folder:
            return _FOLDER
        return file_name(next(iter(self.files)), ".json" if self.source.file.is_json else ".yaml")

    @property
    def entry(self) -> str | None:
        """Of a folder, the path of the document in it, if it is not the only one at the top."""
        others = {path for path in self.files if is_document(self.files[path])}
        is_plain = "/" not in self.source.path and others <= {self.source.path}
        return None if is_plain or not self.is_folder else self.source.path

    @property
    def sha256(self) -> str:
        digest = digest_of_files(self.files) if self.is_folder else None
        return digest or self.source.sha256


def given_document(source: SourceDocument, origin: str) -> GivenDocument:
    """The document `source` with all files that it refers to. Raises `DocumentRefused`."""
    files = {each.path: each.raw for each in normalise(source).files}
    return GivenDocument(source=source, files=files, origin=origin)


def connector_name(given: GivenDocument, wish: str | None) -> str:
    """The name of the connector: `wish`, else of the file, else of the title.

    Raises `ContractError` if it is not a name for a connector.
    """
    name = _connector_name(given, wish)
    if name in RESERVED:
        raise ContractError(f"a connector cannot be named {name!r}; choose another with --as")
    return name


def _connector_name(given: GivenDocument, wish: str | None) -> str:
    if wish is not None:
        if not is_connector(wish):
            raise ContractError(f"{wish!r} cannot be the name of a connector; {CONNECTOR_FIX}")
        return wish
    stem = snake_case(Path(given.origin).name.partition(".")[0])
    facts = given.source.value.get("info")
    title = snake_case(str(facts.get("title", ""))) if isinstance(facts, dict) else ""
    name = title if stem in _GENERIC or not stem else stem
    short = name[:MAX_CONNECTOR].rstrip("_")
    if not is_connector(short):
        raise ContractError(
            "neither the file nor the title gives a name for the connector; choose one with --as"
        )
    return short


# Compares two versions of an imported connector: what came, what went and what changed.

_SCHEMAS: Final = ("input_schema", "replies")
_REPORTED: Final = (
    "tool",
    "title",
    "description",
    "effect",
    "method",
    "path",
    "server",
    "input_schema",
    "parameters",
    "body",
    "replies",
    "security",
)
"""Members whose change is reported, in the order of the report."""


Use = Literal["calls", "tokens"]


class ChangedOperation(Struct, frozen=True, kw_only=True):
    """An operation that both versions have, with the members that differ."""

    operation: str
    tool: str
    members: tuple[str, ...]


class ChangedAddress(Struct, frozen=True, kw_only=True):
    """An address to which the new version sends a credential, and the old one does not."""

    slot: str
    use: Use
    """`tokens`: the credentials of a client are sent there for a token."""
    old: tuple[str, ...]
    """The addresses of the old version for the same use. Empty: it names none."""
    new: str

    def __str__(self) -> str:
        what = "requests with" if self.use == "calls" else "the token requests of"
        return f"{what} {self.slot}: {' and '.join(self.old) or 'no address'} → {self.new}"


class ImportChanges(Struct, frozen=True, kw_only=True):
    """The differences between two versions. Operations are `GET /path`, sorted."""

    came: tuple[str, ...] = ()
    went: tuple[str, ...] = ()
    tools_went: tuple[str, ...] = ()
    """The ids of tools that the new version does not have."""
    changed: tuple[ChangedOperation, ...] = ()
    addresses: tuple[ChangedAddress, ...] = ()
    base_urls: tuple[str | None, str | None] | None = None
    """The old and the new base URL, if they differ."""
    webhooks_came: tuple[str, ...] = ()
    webhooks_went: tuple[str, ...] = ()
    """Webhooks and callbacks, as `ImportReport.webhooks` names them."""


def compared(old_outcome: ImportOutcome, new_outcome: ImportOutcome) -> ImportChanges:
    """The differences of the served operations and the webhooks of the new version."""
    old, new = old_outcome.connector, new_outcome.connector
    before, after = _by_key(old), _by_key(new)
    sent, sends = {*old_outcome.report.webhooks}, {*new_outcome.report.webhooks}
    both = sorted(before.keys() & after.keys())
    return ImportChanges(
        came=tuple(sorted(after.keys() - before.keys())),
        went=tuple(sorted(before.keys() - after.keys())),
        tools_went=tuple(sorted({e.id for e in old.operations} - {e.id for e in new.operations})),
        changed=tuple(
            ChangedOperation(operation=key, tool=after[key].tool, members=members)
            for key in both
            if (members := tuple(_changed(old, before[key], new, after[key])))
        ),
        addresses=tuple(_changed_addresses(old, new)),
        base_urls=None if old.base_url == new.base_url else (old.base_url, new.base_url),
        webhooks_came=tuple(sorted(sends - sent)),
        webhooks_went=tuple(sorted(sent - sends)),
    )


def _changed_addresses(old: ImportedConnector, new: ImportedConnector) -> Iterator[ChangedAddress]:
    """The new addresses of the slots that both versions have. Others have no credentials yet."""
    before, after = _addresses(old), _addresses(new)
    known = {each.name for each in old.slots}
    for (slot, use), urls in sorted(after.items()):
        was = before.get((slot, use), set())
        for url in sorted(urls - was) if slot in known else ():
            yield ChangedAddress(slot=slot, use=use, old=tuple(sorted(was)), new=url)


def _addresses(connector: ImportedConnector) -> dict[tuple[str, Use], set[str]]:
    """Where the credentials of each slot are sent."""
    found: dict[tuple[str, Use], set[str]] = {}
    for slot in connector.slots:
        if slot.token_url is not None:
            found[slot.name, "tokens"] = {slot.token_url}
    for operation in connector.callable_operations:
        url = operation.server or connector.base_url
        for use in (use for uses in operation.security for use in uses):
            if url is not None:
                found.setdefault((use.slot, "calls"), set()).add(url)
    return found


def kept_names(old: ImportedConnector, new: ImportedConnector) -> dict[str, str]:
    """The old names of operations whose tools would have other names in `new`, by operation."""
    before, after = _by_key(old), _by_key(new)
    return {
        key: before[key].tool
        for key in sorted(before.keys() & after.keys())
        if before[key].tool != after[key].tool
    }


def _by_key(connector: ImportedConnector) -> dict[str, ImportedOperation]:
    # Several operations may have the same path, apart from a fixed query or a fragment.
    return {
        _key(each): each for each in sorted(connector.callable_operations, key=lambda e: e.pointer)
    }


def _key(operation: ImportedOperation) -> str:
    match steps(operation.pointer):
        case ["paths", path, *_] if path.startswith(operation.path):
            return f"{operation.method} {path}"
    return f"{operation.method} {operation.path}"


def _changed(
    old: ImportedConnector,
    before: ImportedOperation,
    new: ImportedConnector,
    after: ImportedOperation,
) -> Iterator[str]:
    for member in _REPORTED:
        first, second = getattr(before, member), getattr(after, member)
        if first != second or (
            member in _SCHEMAS
            and _complete(before, member, old.definitions)
            != _complete(after, member, new.definitions)
        ):
            yield member


def _complete(
    operation: ImportedOperation, member: str, definitions: Mapping[str, Any]
) -> list[Any]:
    """The schemas of a member, with the definitions that they need."""
    if member == "input_schema":
        return [with_definitions(operation.input_schema, definitions)]
    return [with_definitions(each.schema, definitions) for each in operation.replies]


# `gateway import`: puts a vendor's document into the project, or a new version of it.

_YAML: Final = frozenset({".yaml", ".yml"})


class ImportRun(Struct, frozen=True, kw_only=True):
    """The result of one import."""

    outcome: ImportOutcome
    wishes: ImportFile
    """The content of `import.yaml`."""
    files: tuple[str, ...]
    """The files of the import, relative to the schemas folder."""
    contents: Mapping[PurePosixPath, bytes] = {}
    """Those that have to be written, relative to the schemas folder."""
    removed: tuple[PurePosixPath, ...] = ()
    """Files of the former version that the new one does not have."""
    changes: ImportChanges | None = None
    """For a new version of a document: the differences."""
    dropped_names: tuple[str, ...] = ()
    """The keys of `names` in `import.yaml` that were removed, because their operations are gone."""

    @property
    def is_changed(self) -> bool:
        """Whether the files differ from those that are there."""
        return bool(self.contents or self.removed)


def import_new(
    folder: ImportFolder,
    given: GivenDocument,
    select: OperationSelection,
    *,
    base_url: str | None = None,
) -> ImportRun:
    """Import a document for the first time: nothing is written. The same import again changes
    nothing.

    `base_url` replaces the servers of the document. Raises `ContractError` if it is no base URL, if
    the name is taken or files there were edited, and `ContractRefused` if the selection or the
    document cannot be used.
    """
    _refuse_taken(folder)
    if base_url is not None and not is_base_url(base_url):
        raise ContractError(f"{base_url!r} {why_no_base_url(base_url)}; {BASE_URL_FIX}")
    is_there = (folder.files / IMPORT_FILE).is_file()
    wishes = ImportFile(
        document=given.name,
        entry=given.entry,
        sha256=given.sha256,
        source=given.origin,
        long_names=folder.wishes()[0].long_names if is_there else "words",
    )
    if select != wishes.select:
        wishes = msgspec.structs.replace(wishes, select=select)
    if base_url is not None:
        wishes = msgspec.structs.replace(wishes, base_url=base_url)
    files = _files(given, wishes.document) | {IMPORT_FILE: import_text(wishes).encode()}
    if (overlay := folder.overlay_text()) is not None:
        files[OVERLAY_FILE] = overlay
    changed = _changed_files(folder, files)
    if folder.files.exists() and changed:
        raise ContractError(_why_there(folder, given))
    outcome = lower_import(folder, given.source, wishes, None)
    refuse_nothing(outcome)
    return ImportRun(
        outcome=outcome, wishes=wishes, files=_shown_paths(folder, files), contents=changed
    )


def import_again(folder: ImportFolder, given: GivenDocument) -> ImportRun:
    """Import a new version of a document: nothing is written. The selection and the overlay stay.

    Names of tools stay too: those that would change are written to `import.yaml`. Names there of
    operations that are gone are removed. Raises `ContractError`, also if the old document was
    edited and is not the one that is given, and `ContractRefused`.
    """
    if not (folder.files / IMPORT_FILE).is_file():
        raise ContractError(f"{folder.files} holds no import; leave out --update to make one")
    old_wishes, text = folder.wishes()
    _refuse_edited(folder, old_wishes, _files(given, old_wishes.document), given.sha256)
    old = _old_outcome(folder)
    name = _kept_file_name(old_wishes.document, given)
    dropped = _obsolete_names(folder, given, old_wishes)
    names = {key: tool for key, tool in old_wishes.names.items() if key not in dropped}
    wishes = msgspec.structs.replace(
        old_wishes, document=name, entry=given.entry, sha256=given.sha256, names=names
    )
    outcome = lower_import(folder, given.source, wishes, text)
    if old is not None and (kept := kept_names(old.connector, outcome.connector)):
        wishes = msgspec.structs.replace(wishes, names={**wishes.names, **kept})
        outcome = lower_import(folder, given.source, wishes, text)
    refuse_nothing(outcome)
    before = (folder.files / IMPORT_FILE).read_bytes().decode()
    after = updated_text(before, old_wishes, wishes)
    files = _files(given, name) | {IMPORT_FILE: after.encode()}
    return ImportRun(
        outcome=outcome,
        wishes=wishes,
        files=_shown_paths(folder, files),
        contents=_changed_files(folder, files),
        removed=_obsolete_files(folder, old_wishes.document, files),
        changes=compared(old, outcome) if old else None,
        dropped_names=dropped,
    )


def _kept_file_name(old: str, given: GivenDocument) -> str:
    """The name `old`, with the suffix of the new file if that is of another format."""
    if given.is_folder or "." not in old:
        return given.name if given.is_folder == ("." in old) else old
    suffixes = {Path(old).suffix, Path(given.name).suffix}
    if len(suffixes) == 1 or suffixes <= _YAML:
        return old
    suffix = Path(given.name).suffix
    return file_name(f"{Path(old).stem}{suffix}", suffix)


def _obsolete_names(
    folder: ImportFolder, given: GivenDocument, wishes: ImportFile
) -> tuple[str, ...]:
    """The keys of `names` in `wishes` that name no operation of the new version."""
    if not wishes.names:
        return ()
    known = operation_names(folder, given.source)
    return tuple(key for key in wishes.names if key not in known)


def _old_outcome(folder: ImportFolder) -> ImportOutcome | None:
    """What was served before the update. None if its files cannot be used any more."""
    try:
        return read_import(folder)
    except ContractRefused:
        return None


def _why_there(folder: ImportFolder, given: GivenDocument) -> str:
    """The problem and the fix for an import that is there already and differs."""
    if folder.wishes()[0].sha256 == given.sha256:
        return (
            f"{folder.files} is an import of this document with another {IMPORT_FILE} or"
            f" {OVERLAY_FILE}; edit them to change what is served, and run `gateway generate`"
        )
    return (
        f"{folder.files} is an import of another document; use --update if this is a new version"
        " of it, or choose another name with --as"
    )


def _files(given: GivenDocument, name: str) -> dict[str, bytes]:
    if not given.is_folder:
        return {name: next(iter(given.files.values()))}
    return {f"{name}/{path}": content for path, content in given.files.items()}


def _refuse_taken(folder: ImportFolder) -> None:
    tools = folder.schemas / "tools" / folder.connector
    is_imported = (folder.files / IMPORT_FILE).is_file()
    if not is_imported and (tools.exists() or folder.files.exists()):
        where = tools if tools.exists() else folder.files
        raise ContractError(
            f"the name {folder.connector} is taken by {where}; choose one with --as"
        )


def refuse_nothing(outcome: ImportOutcome) -> None:
    """Raise `ContractError` if no operation is served, and no contract calls one.

    A document of webhooks alone has none.
    """
    report = outcome.report
    has_only_webhooks = bool(report.webhooks) and not report.operations
    if report.served or outcome.connector.bound or has_only_webhooks:
        return
    if report.refused:
        raise ContractRefused([each.finding for each in report.refused])
    raise ContractError(f"{report.document} has no operations; check that it is the right document")


def _changed_files(folder: ImportFolder, files: Mapping[str, bytes]) -> dict[PurePosixPath, bytes]:
    """Those of `files` that the folder of the import does not hold."""
    return {
        folder.path / name: content
        for name, content in files.items()
        if not (folder.files / name).is_file() or (folder.files / name).read_bytes() != content
    }


def _obsolete_files(
    folder: ImportFolder, document: str, files: Mapping[str, bytes]
) -> tuple[PurePosixPath, ...]:
    """The files of the former `document` that are not among `files`."""
    old = folder.files / document
    found = [old] if old.is_file() else [each for each in old.rglob("*") if each.is_file()]
    names = {each.relative_to(folder.files).as_posix() for each in found}
    return tuple(folder.path / name for name in sorted(names - files.keys()))


def _refuse_edited(
    folder: ImportFolder, wishes: ImportFile, files: Mapping[str, bytes], sha256: str
) -> None:
    """Raise `ContractError` if the stored document was edited, and is not the new one either.

    `files` and `sha256` are of the new one, under the old one's name.
    """
    document = folder.files / wishes.document
    if digest_of(document) in {None, wishes.sha256, sha256}:
        return
    if not _changed_files(folder, files):
        others = ", ".join(map(str, _obsolete_files(folder, wishes.document, files)))
        raise ContractError(
            f"the document refers to none of {others}, which would be removed; move that elsewhere"
        )
    raise ContractError(
        f"{document} was edited since it was imported, and the edits would be replaced; restore it"
        " and write them to overlay.yaml beside it, or accept them before the update: gateway"
        f" import {document.as_posix()} --as {folder.connector} --update"
    )


def _shown_paths(folder: ImportFolder, files: Mapping[str, bytes]) -> tuple[str, ...]:
    """The paths of `files`, relative to the schemas folder."""
    return tuple(str(folder.path / name) for name in sorted(files))
