"""The files of an import in its folder: those that are there, and those that have to be."""

from collections.abc import Mapping
from pathlib import PurePosixPath

from gateway.errors import ContractError
from gateway.openapi.folder.reading import ImportFolder, digest_of
from gateway.openapi.lowering.selection import ImportFile


def changed_files(folder: ImportFolder, files: Mapping[str, bytes]) -> dict[PurePosixPath, bytes]:
    """Those of `files` that the folder of the import does not hold."""
    return {
        folder.path / name: content
        for name, content in files.items()
        if not (folder.files / name).is_file() or (folder.files / name).read_bytes() != content
    }


def obsolete_files(
    folder: ImportFolder, document: str, files: Mapping[str, bytes]
) -> tuple[PurePosixPath, ...]:
    """The files of the former `document` that are not among `files`."""
    old = folder.files / document
    found = [old] if old.is_file() else [each for each in old.rglob("*") if each.is_file()]
    names = {each.relative_to(folder.files).as_posix() for each in found}
    return tuple(folder.path / name for name in sorted(names - files.keys()))


def refuse_edited(
    folder: ImportFolder, wishes: ImportFile, files: Mapping[str, bytes], sha256: str
) -> None:
    """Raise `ContractError` if the stored document was edited, and is not the new one either.

    `files` and `sha256` are of the new one, under the old one's name.
    """
    document = folder.files / wishes.document
    if digest_of(document) in {None, wishes.sha256, sha256}:
        return
    if not changed_files(folder, files):
        others = ", ".join(map(str, obsolete_files(folder, wishes.document, files)))
        raise ContractError(
            f"the document refers to none of {others}, which would be removed; move that elsewhere"
        )
    raise ContractError(
        f"{document} was edited since it was imported, and the edits would be replaced; restore it"
        " and write them to overlay.yaml beside it, or accept them before the update: gateway"
        f" import {document.as_posix()} --as {folder.connector} --update"
    )


def shown_paths(folder: ImportFolder, files: Mapping[str, bytes]) -> tuple[str, ...]:
    """The paths of `files`, relative to the schemas folder."""
    return tuple(str(folder.path / name) for name in sorted(files))
