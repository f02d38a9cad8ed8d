"""Allows one server for each SQLite file, by a lock of the operating system.

SQLite lets several programs write one file, and short commands do this while a gateway runs. Two
servers would repeat each other's work: both resume what was claimed before a crash, both send
mocked webhooks, and each has its own limits. The system releases the lock when the process ends,
also after a crash.
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
"""The suffix that is added to the name of a database file for its lock file."""
_MAX_HOLDER: Final = 200


@contextmanager
def only_server(*urls: str) -> Iterator[None]:
    """Hold the locks of the SQLite files among `urls` during a block.

    Raises `StoreError` when another process holds one, or when the folder does not allow locks.
    """
    with only_owner(*(sqlite_path(url) for url in urls if url.startswith(SQLITE_PREFIXES))):
        yield


@contextmanager
def only_owner(*files: Path) -> Iterator[None]:
    """Hold the locks of these files, which need not exist. As `only_server` otherwise."""
    with ExitStack() as stack:
        for path in sorted({file.resolve() for file in files}):
            stack.enter_context(_held(path))
        yield


@contextmanager
def _held(database: Path) -> Iterator[None]:
    # A separate file: closing any descriptor of the database would drop SQLite's locks on it.
    lock = database.with_name(database.name + LOCK)
    try:
        lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreError(
            f"{lock} cannot be created ({error.strerror}); name a file in a writable folder"
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
    # The holder's name is only a note: a full disk must not stop the process that has the lock.
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)


def _holder(descriptor: int) -> str:
    """The process that holds the lock, in parentheses. Empty if it is not written yet."""
    holder = os.pread(descriptor, _MAX_HOLDER, 0).decode(errors="replace")
    return f" ({holder})" if holder and holder.isprintable() else ""
