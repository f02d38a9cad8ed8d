"""The state of a gateway, its databases and files, and new files that are complete and durable."""

import errno
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from msgspec import Struct

from gateway.app.processes.record import PROCESSES
from gateway.backup.archive import MAGIC, is_backup
from gateway.backup.copies import COMPANIONS, SIGNATURE, ServerTables
from gateway.errors import StoreError
from gateway.store.sql.sqlite import LOCK

# The state of a gateway: its databases and the files in its data folder.

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


# Creates files that are complete, durable and private, and never replaces a file.

_NO_HARD_LINKS: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK})
"""The errors of file systems without hard links."""


@contextmanager
def atomic_file(target: Path) -> Iterator[BinaryIO]:
    """A file to write. It gets the name `target` if the block ends without an error.

    Otherwise it is removed. Raises `StoreError` when the name exists by then.
    """
    draft = target.with_name(f"{DRAFT}{secrets.token_hex(6)}")
    try:
        with new_file(draft) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _rename(draft, target)
        sync_folder(target.parent)
    finally:
        draft.unlink(missing_ok=True)


def new_file(path: Path) -> BinaryIO:
    """A new file to write, with mode 600."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` durable, if the system supports this."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


class NewFiles:
    """Adds files under new names, and removes them again if the block ends with an error."""

    def __init__(self) -> None:
        self._files: list[Path] = []
        self._folders: list[Path] = []

    def __enter__(self) -> "NewFiles":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            return
        for file in self._files:
            file.unlink(missing_ok=True)
        for folder in reversed(self._folders):
            # Another program may have put a file into it.
            with suppress(OSError):
                folder.rmdir()

    def add(self, staged: Path, target: Path) -> None:
        """Give `staged`, a file that is synced to the disk, the name `target`.

        It is copied if `target` is on another file system. Raises `StoreError` when the name
        exists.
        """
        self._make(target.parent)
        try:
            _rename(staged, target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            with staged.open("rb") as source, atomic_file(target) as file:
                shutil.copyfileobj(source, file)
        self._files.append(target)
        sync_folder(target.parent)

    def _make(self, folder: Path) -> None:
        if not folder.is_dir():
            self._make(folder.parent)
            folder.mkdir(mode=0o700)
            self._folders.append(folder)
            sync_folder(folder.parent)


def _rename(file: Path, target: Path) -> None:
    """Give the file a new name. A link never replaces a file, unlike `rename`."""
    try:
        os.link(file, target)
    except FileExistsError:
        raise _already_exists(target) from None
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        if target.exists():
            raise _already_exists(target) from None
        file.rename(target)


def _already_exists(target: Path) -> StoreError:
    return StoreError(
        f"{target} already exists: it was created in the meantime; name another file or folder"
    )
