"""SQLite: checks of the file, and connections whose commits are durable."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Any, Final

import aiosqlite
from sqlalchemy import URL, Connection, event
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import AsyncAdaptedQueuePool

from gateway.errors import StoreError
from gateway.store.sql.failures import explain
from gateway.store.sql.sqlite.connection import WRITING, ReadingConnection, WritingConnection
from gateway.store.sql.sqlite_library import SQLITE_DRIVER, sqlite3

SQLITE_PREFIXES: Final = ("sqlite+aiosqlite:///", "sqlite:///")
MINIMUM_SQLITE: Final = (3, 35)
SAFE_SQLITE: Final = (3, 51, 3)
READING: Final = "BEGIN"
IN_MEMORY: Final = Path(":memory:")
"""SQLite's name for a database that exists as long as its one connection."""
BUSY_MILLISECONDS: Final = 5000
"""How long a connection waits for another program's lock."""
STARTING_MILLISECONDS: Final = 20_000
"""How long a start waits for the lock: another start may be migrating the file."""
READERS: Final = 4
_CHUNK: Final = 64
"""Rows that aiosqlite fetches at once."""
_PRAGMAS: Final = (
    "PRAGMA foreign_keys = ON",
    "PRAGMA synchronous = FULL",
    "PRAGMA journal_size_limit = 67108864",
    # KiB for each connection, in place of 2,000. The system caches the pages of the file too. The
    # five connections would fill theirs while the database grows.
    "PRAGMA cache_size = -512",
)
_WRITER_PRAGMAS: Final = (*_PRAGMAS, "PRAGMA journal_mode = WAL")
# Only the writer runs checkpoints: readers would compete with it.
_READER_PRAGMAS: Final = (*_PRAGMAS, "PRAGMA wal_autocheckpoint = 0", "PRAGMA query_only = ON")


def sqlite_caveat(version: tuple[int, ...] = sqlite3.sqlite_version_info) -> str | None:
    """A warning for the operator about the SQLite library in use, or None."""
    if version >= SAFE_SQLITE:
        return None
    used, safe = (".".join(map(str, parts)) for parts in (version, SAFE_SQLITE))
    return (
        f"SQLite {used} can damage a database that two programs write at the same time "
        f"(fixed in {safe}), and no wheel of pysqlite3 is installed; install one, or a Python with "
        "a newer SQLite, or use PostgreSQL; until then, run no command that writes while the "
        "gateway runs"
    )


def sqlite_path(url: str) -> Path:
    """The path of the file in `url`. Raises `StoreError`."""
    for prefix in SQLITE_PREFIXES:
        if url.startswith(prefix) and len(url) > len(prefix):
            return Path(url.removeprefix(prefix))
    raise StoreError("a database URL must be sqlite:///<path>")


def refuse_unusable(path: Path) -> None:
    """Create the file if it does not exist. Raises `StoreError` if it cannot be a database."""
    if sqlite3.sqlite_version_info < MINIMUM_SQLITE:
        raise StoreError(f"SQLite {sqlite3.sqlite_version} is too old; use 3.35 or newer")
    if path.is_dir():
        raise StoreError(f"{path} is a folder; name a file for the database")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            # SQLite would let everybody read the file. An empty file is an empty database.
            path.touch(mode=0o600)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be created ({error.strerror}); name a file in a writable folder"
        ) from None
    try:
        # Open it with SQLite: closing a descriptor of our own would drop SQLite's locks.
        sqlite3.connect(path).close()
    except sqlite3.Error as error:
        raise StoreError(f"{path} {explain(error)}") from None


def sqlite_engine(path: Path, begin: str) -> AsyncEngine:
    """Connections to the file: one that writes (`WRITING`), or several that read (`READING`)."""
    is_writer = begin == WRITING
    pragmas = _WRITER_PRAGMAS if is_writer else _READER_PRAGMAS
    kind = WritingConnection if is_writer else ReadingConnection
    engine = create_async_engine(
        URL.create("sqlite+aiosqlite", database=str(path)),
        async_creator=partial(_connect, path if path == IN_MEMORY else path.absolute(), kind),
        poolclass=AsyncAdaptedQueuePool,
        module=SQLITE_DRIVER,
        # Half of the readers run plans, on connections that stay open.
        pool_size=1 if is_writer else 2 * READERS,
        max_overflow=0,
        hide_parameters=True,
    )

    @event.listens_for(engine.sync_engine, "connect")
    def configure(connection: Any, _record: object) -> None:
        # Otherwise the driver begins transactions itself: later, and not as immediate ones.
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}")
        for pragma in pragmas:
            cursor.execute(pragma)
        cursor.close()

    @event.listens_for(engine.sync_engine, "begin")
    def start(connection: Connection) -> None:
        driver = connection.connection.driver_connection
        if not (isinstance(driver, WritingConnection) and driver.in_transaction):
            connection.exec_driver_sql(begin)

    return engine


async def wait_for_lock(connection: AsyncConnection, milliseconds: int) -> None:
    """Set how long `connection` waits for another program's lock. Call it between transactions."""
    await connection.run_sync(_set_timeout, milliseconds)


def _set_timeout(connection: Connection, milliseconds: int) -> None:
    cursor = connection.connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {milliseconds}")
    cursor.close()


async def _connect(path: Path, kind: type[aiosqlite.Connection]) -> aiosqlite.Connection:
    """A connection. If it cannot be opened, its thread ends before the error is raised."""
    connection = kind(partial(sqlite3.connect, path, check_same_thread=False), _CHUNK)
    thread = connection._thread  # noqa: SLF001 - nothing public shows when it has ended
    thread.daemon = True
    try:
        return await connection
    except sqlite3.Error:
        # The thread still uses the event loop, which the caller may close after this error.
        await asyncio.to_thread(thread.join)
        raise
