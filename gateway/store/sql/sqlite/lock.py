"""One server for each SQLite file: a lock of the operating system, held for the server's life.

SQLite lets several programs write one file, and short commands do so beside a gateway. Two servers
would do each other's work twice: both take up what the other one has claimed before the last crash,
both send mocked webhooks, and each keeps its own limits. The lock ends with the process that
holds it, however that ends.
"""

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from gateway.errors import StoreError
from gateway.store.sql.sqlite.file import SQLITE_PREFIXES, sqlite_path

LOCK: Final = ".lock"
"""How the name of a file's lock ends, after that of the file."""
_MAX_HOLDER: Final = 200


@contextmanager
def only_server(*urls: str) -> Iterator[None]:
    """Be the only server of the SQLite files among `urls` for the length of a block.

    Raises `StoreError` when another process is, or when the folder cannot hold locks.
    """
    with only_owner(*(sqlite_path(url) for url in urls if url.startswith(SQLITE_PREFIXES))):
        yield


@contextmanager
def only_owner(*files: Path) -> Iterator[None]:
    """The same for these files, which need not be there."""
    with ExitStack() as stack:
        for path in sorted({file.resolve() for file in files}):
            stack.enter_context(_held(path))
        yield


@contextmanager
def _held(database: Path) -> Iterator[None]:
    # A separate file: closing any descriptor of the database drops the locks of SQLite on it.
    lock = database.with_name(database.name + LOCK)
    try:
        lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreError(
            f"{lock} cannot be made ({error.strerror}); name a file in a writable folder"
        ) from None
    try:
        _take(descriptor, database)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int, database: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise StoreError(
            f"{database} is in use by another gateway{_holder(descriptor)}; stop that one, or name "
            "another folder with --data; several gateways on one database need PostgreSQL"
        ) from None
    except OSError as error:
        raise StoreError(
            f"{database} cannot be locked ({error.strerror}); keep it on a local disk, or use "
            "PostgreSQL"
        ) from None
    # Who holds it is a note; a full disk must not stop the process that has the lock.
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)


def _holder(descriptor: int) -> str:
    """Who has written itself down, in parentheses; nothing while it has not."""
    said = os.pread(descriptor, _MAX_HOLDER, 0).decode(errors="replace")
    return f" ({said})" if said and said.isprintable() else ""
