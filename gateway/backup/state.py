"""The state of a gateway: its databases and the files in its data folder."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Final

from msgspec import Struct

from gateway.app.processes.record import PROCESSES
from gateway.backup.encryption import MAGIC, is_backup
from gateway.backup.server_copies import ServerTables
from gateway.backup.sqlite_copies import COMPANIONS, SIGNATURE
from gateway.errors import StoreError
from gateway.store.sql.sqlite import LOCK

DATABASES: Final = "databases"
FILES: Final = "files"
DRAFT: Final = ".backup-"
"""The prefix of temporary files. A backup or a restore that is killed leaves them behind."""
SQLITE_ENTRY: Final = "sqlite"


class SavedDatabase(Struct, frozen=True, kw_only=True):
    """One database of a gateway."""

    name: str
    """Its purpose: `gateway` or `workspace`."""
    path: Path | None = None
    """The file of SQLite. None for PostgreSQL."""
    url: str = ""
    """The URL of PostgreSQL, which may contain a password. Empty for SQLite."""
    tables: ServerTables

    @property
    def label(self) -> str:
        """The name of the database in messages. It never contains a password."""
        return f"the {self.name} database" if self.path is None else str(self.path)

    @property
    def engine(self) -> str:
        """The engine, as the manifest names it."""
        return "postgresql" if self.path is None else "sqlite"


class SavedState(Struct, frozen=True, kw_only=True):
    """Everything that a backup must contain. Contracts and settings are not part of it."""

    data: Path
    databases: tuple[SavedDatabase, ...]
    package: str
    configured: Mapping[str, str]
    """Secrets that come from settings, by the names of the files that otherwise hold them."""


def files_of(state: SavedState) -> Iterator[tuple[str, Path]]:
    """The files of the data folder to back up: relative path and path, sorted.

    The gateway's databases, the companion files of databases, records of processes, other backups
    and symbolic links are left out. Raises `StoreError` for a file that cannot be read.
    """
    data = state.data.absolute()
    own = {database.path.absolute() for database in state.databases if database.path is not None}
    found = sorted(_files_in(data))
    databases = own | {path for path in found if is_database(path)}
    companions = {Path(f"{path}{suffix}") for path in databases for suffix in (*COMPANIONS, LOCK)}
    for path in found:
        name = path.relative_to(data)
        is_draft = any(part.startswith(DRAFT) for part in name.parts) or name.parts[0] == PROCESSES
        if not (is_draft or path in own or path in companions or is_backup(_first_bytes(path))):
            yield name.as_posix(), path


def is_database(path: Path) -> bool:
    """Whether the file is a SQLite database, which must be copied by SQLite."""
    return _first_bytes(path).startswith(SIGNATURE)


def open_file(path: Path) -> BinaryIO:
    """Open the file to read it. Raises `StoreError`."""
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


def _first_bytes(path: Path) -> bytes:
    with open_file(path) as file:
        return file.read(max(len(MAGIC), len(SIGNATURE)))


def _unreadable(error: OSError) -> StoreError:
    return StoreError(
        f"{error.filename} cannot be read ({error.strerror}); give the user of this command the "
        "right to read it"
    )
