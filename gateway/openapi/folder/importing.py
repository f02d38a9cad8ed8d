"""`gateway import`: puts a vendor's document into the project, or a new version of it."""

from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec
from msgspec import Struct

from gateway.contracts.finding import ContractRefused
from gateway.errors import ContractError
from gateway.openapi.folder.comparing import ImportChanges, compared, kept_names
from gateway.openapi.folder.given import GivenDocument
from gateway.openapi.folder.importfile import (
    BASE_URL_FIX,
    IMPORT_FILE,
    OVERLAY_FILE,
    file_name,
    import_text,
    is_base_url,
    updated_text,
    why_no_base_url,
)
from gateway.openapi.folder.reading import (
    ImportFolder,
    digest_of,
    lower_import,
    operation_names,
    read_import,
)
from gateway.openapi.lowering.records import ImportOutcome
from gateway.openapi.lowering.selection import ImportFile, OperationSelection

_YAML: Final = frozenset({".yaml", ".yml"})

Progress = Callable[[str], None]


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
