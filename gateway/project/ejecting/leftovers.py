"""The files beside an imported document, when nothing of the import is left."""

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Final

from msgspec import Struct

from gateway.contracts.sources.tree import is_read
from gateway.errors import ConfigurationError
from gateway.openapi.folder.importfile import IMPORT_FILE
from gateway.openapi.folder.reading import ImportFolder
from gateway.project.placing import Files, occupied
from gateway.project.staging import Project

_SUFFIX: Final = ".txt"
"""Of texts, which are no contracts."""


class Leftovers(Struct, frozen=True, kw_only=True):
    """What becomes of the files in the folder of an import."""

    files: Files = {}
    """Files of the author under the names with which they stay."""
    removed: frozenset[PurePosixPath] = frozenset()
    notes: tuple[str, ...] = ()


def leftovers(project: Project, folder: ImportFolder) -> Leftovers:
    """What becomes of all files in `folder`: those that `gateway import` wrote are removed.

    Files of the author stay. Without the import, some would be taken for contracts, such as its
    overlay: these get the suffix of a text.
    """
    found = [path for path in folder.files.rglob("*") if path.is_file()]
    names = {PurePosixPath(path.relative_to(folder.files).as_posix()): path for path in found}
    wishes, _ = folder.wishes()
    written = {name for name in names if name.parts[0] in {IMPORT_FILE, wishes.document}}
    kept = {name for name in names.keys() - written if is_read(name)}
    place = project.place_of(folder.path)
    return Leftovers(
        files={place / f"{name}{_SUFFIX}": names[name].read_bytes() for name in sorted(kept)},
        removed=frozenset(place / name for name in written | kept),
        notes=tuple(f"{place / name} is kept as {name.name}{_SUFFIX}" for name in sorted(kept)),
    )


def refuse_occupied(
    project: Project, paths: Iterable[PurePosixPath], known: Iterable[PurePosixPath]
) -> None:
    """Raise `ConfigurationError` if something is at one of `paths`. `known` files may be."""
    allowed = set(known)
    if found := [str(path) for path in occupied(project.folder, paths) if path not in allowed]:
        raise ConfigurationError(
            f"{', '.join(found)} would be replaced by what is ejected; move that elsewhere, or "
            "leave its tool in the import"
        )
