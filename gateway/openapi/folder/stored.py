"""The files of an import in its folder: those that are there, and those that have to be."""

from collections.abc import Mapping
from pathlib import PurePosixPath

from gateway.openapi.folder.reading import ImportFolder


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


def shown_paths(folder: ImportFolder, files: Mapping[str, bytes]) -> tuple[str, ...]:
    """The paths of `files`, relative to the schemas folder."""
    return tuple(str(folder.path / name) for name in sorted(files))
