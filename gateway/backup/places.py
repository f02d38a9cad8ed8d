"""What a gateway's state consists of, and where it is."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from gateway.backup.sealing import MAGIC, is_backup
from gateway.store.copies import COMPANIONS, SIGNATURE
from gateway.store.server_copies import ServerTables

DATABASES: Final = "databases"
FILES: Final = "files"
DRAFT: Final = ".backup-"
"""How the names of files begin that a backup or a restore leaves behind when it is killed."""
SQLITE_ENTRY: Final = "sqlite"
_LOCK: Final = ".lock"


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


class State(Struct, frozen=True, kw_only=True):
    """Everything that a gateway needs to go on, beside its contracts and its settings."""

    data: Path
    databases: tuple[DatabasePlace, ...]
    package: str
    configured: Mapping[str, str]
    """By the name of the file in the data folder that holds it otherwise: secrets that are set."""


def files_of(state: State) -> Iterator[tuple[str, Path]]:
    """Each file in the data folder that is state, with its path in it, in order.

    Not the databases, nor locks, nor other backups. Links are left out: where they lead is not
    the gateway's.
    """
    databases = {place.path.absolute() for place in state.databases if place.path is not None}
    without = {Path(f"{path}{end}") for path in databases for end in ("", *COMPANIONS)}
    for path in sorted(state.data.absolute().rglob("*")):
        if path.is_symlink() or not path.is_file() or path in without:
            continue
        name = path.relative_to(state.data.absolute()).as_posix()
        if DRAFT in name or name.endswith((_LOCK, *COMPANIONS)) or is_backup(_head(path)):
            continue
        yield name, path


def is_database(path: Path) -> bool:
    """Whether the file is one of SQLite's, which is copied by its own means."""
    return _head(path).startswith(SIGNATURE)


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(max(len(MAGIC), len(SIGNATURE)))
