"""What a gateway's state consists of, and where it is."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Final

from msgspec import Struct

from gateway.backup.sealing import MAGIC, is_backup
from gateway.backup.server_copies import ServerTables
from gateway.backup.sqlite_copies import COMPANIONS, SIGNATURE
from gateway.errors import StoreError
from gateway.store.sql.sqlite.lock import LOCK

DATABASES: Final = "databases"
FILES: Final = "files"
DRAFT: Final = ".backup-"
"""How the names of files begin that a backup or a restore leaves behind when it is killed."""
SQLITE_ENTRY: Final = "sqlite"


class DatabasePlace(Struct, frozen=True, kw_only=True):
    """One database of a gateway."""

    name: str
    """What it is for: `gateway` or `workspace`."""
    path: Path | None = None
    """Of SQLite."""
    url: str = ""
    """Of PostgreSQL; it may hold a password."""
    tables: ServerTables

    @property
    def place(self) -> str:
        """How messages call it; never with a password."""
        return f"the {self.name} database" if self.path is None else str(self.path)

    @property
    def engine(self) -> str:
        """As the manifest calls it."""
        return "postgresql" if self.path is None else "sqlite"


class SavedState(Struct, frozen=True, kw_only=True):
    """Everything that a gateway needs to go on, beside its contracts and its settings."""

    data: Path
    databases: tuple[DatabasePlace, ...]
    package: str
    configured: Mapping[str, str]
    """By the name of the file in the data folder that holds it otherwise: secrets that are set."""


def files_of(state: SavedState) -> Iterator[tuple[str, Path]]:
    """Each file in the data folder that is state, with its path in it, in order.

    Not the databases, nor what is kept beside a database, nor other backups. Links are left out:
    where they lead is not the gateway's. Raises `StoreError` for what cannot be read.
    """
    data = state.data.absolute()
    own = {place.path.absolute() for place in state.databases if place.path is not None}
    found = sorted(_files_in(data))
    databases = own | {path for path in found if is_database(path)}
    beside = {Path(f"{path}{end}") for path in databases for end in (*COMPANIONS, LOCK)}
    for path in found:
        name = path.relative_to(data)
        is_draft = any(part.startswith(DRAFT) for part in name.parts)
        if not (is_draft or path in own or path in beside or is_backup(_head(path))):
            yield name.as_posix(), path


def is_database(path: Path) -> bool:
    """Whether the file is one of SQLite's, which is copied by its own means."""
    return _head(path).startswith(SIGNATURE)


def opened(path: Path) -> BinaryIO:
    """The file, to be read. Raises `StoreError`."""
    try:
        return path.open("rb")
    except OSError as error:
        raise _unreadable(error) from None


def _files_in(folder: Path) -> Iterator[Path]:
    def fail(error: OSError) -> None:
        raise _unreadable(error)

    for name, _, files in os.walk(folder, onerror=fail):
        paths = (Path(name, file) for file in files)
        yield from (path for path in paths if path.is_file() and not path.is_symlink())


def _head(path: Path) -> bytes:
    with opened(path) as file:
        return file.read(max(len(MAGIC), len(SIGNATURE)))


def _unreadable(error: OSError) -> StoreError:
    return StoreError(
        f"{error.filename} cannot be read ({error.strerror}); let the user who runs this read it"
    )
