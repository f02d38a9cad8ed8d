"""SQLite: the library, the file, its connections, and the lock that allows one server.

Python often uses the system's library, which can be years old. Before 3.51.3, SQLite can damage a
database that two programs write. The package `pysqlite3` contains a current library and has wheels
for some platforms. Its interface is that of Python's `sqlite3`, but its classes are separate. So
code that opens a database or catches SQLite's errors must import `sqlite3` from this module.
"""

import asyncio
import fcntl
import os
import socket
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import aiosqlite
from sqlalchemy import URL, Connection, event
from sqlalchemy.dialects.sqlite.aiosqlite import AsyncAdapt_aiosqlite_dbapi
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import AsyncAdaptedQueuePool

from gateway.errors import StoreError
from gateway.store.sql.plans import NO_VALUES, Plans, Ready, Row, Statement

if not TYPE_CHECKING:
    try:
        from pysqlite3 import dbapi2 as _packaged
    except ImportError:
        _packaged = sqlite3
    if _packaged.sqlite_version_info > sqlite3.sqlite_version_info:
        sqlite3 = _packaged

__all__ = ["sqlite3"]  # what this module imports for others; the rest is defined here

_NAMES: Final = (
    *("Error", "DatabaseError", "IntegrityError", "NotSupportedError", "OperationalError"),
    *("ProgrammingError", "sqlite_version", "sqlite_version_info"),
)
_WAITING: Final = ("BEGIN", "PRAGMA")
"""The first words of statements that may wait."""
_SHORT: Final = frozenset({"cursor", "execute", "executemany", "fetchall", "fetchmany", "fetchone"})
"""The functions of the driver that do not wait."""
_UNLOCKED: Final = frozenset({"cursor", "execute", "rollback"})
"""Those that do not wait in a transaction without locks, if `execute` is not of a query."""
SQLITE_PREFIXES: Final = ("sqlite+aiosqlite:///", "sqlite:///")
MINIMUM_SQLITE: Final = (3, 35)
SAFE_SQLITE: Final = (3, 51, 3)
READING: Final = "BEGIN"
WRITING: Final = "BEGIN IMMEDIATE"
IN_MEMORY: Final = Path(":memory:")
"""SQLite's name for a database that exists as long as its one connection."""
BUSY_MILLISECONDS: Final = 5000
"""How long a connection waits for another program's lock."""
_SWITCH_SECONDS: Final = 0.02
"""The time between two tries to switch a file to write-ahead logging."""
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
# Only the writer runs checkpoints: readers would compete with it.
_READER_PRAGMAS: Final = (*_PRAGMAS, "PRAGMA wal_autocheckpoint = 0", "PRAGMA query_only = ON")
LOCK: Final = ".lock"
"""The suffix that is added to the name of a database file for its lock file."""
_MAX_HOLDER: Final = 200


class _Driver(AsyncAdapt_aiosqlite_dbapi):
    """SQLAlchemy's driver for aiosqlite, with the classes of the library that is used.

    aiosqlite itself exports the classes of Python's `sqlite3`.
    """

    def _init_dbapi_attributes(self) -> None:
        super()._init_dbapi_attributes()
        for name in _NAMES:
            setattr(self, name, getattr(self.sqlite, name))


class WritingConnection(aiosqlite.Connection):
    """Waits for locks and for the disk in its own thread, and runs the rest in the caller's thread.

    A transaction of the gateway is a few short statements. In another thread, each row would wait
    for the interpreter lock: up to five milliseconds when the event loop is busy. So only the
    beginning of a transaction, if it must wait for another program's lock, and its end, which waits
    for the disk, run in the other thread.
    """

    plans: Plans | None = None
    """Those of its database. None: `run` makes some."""

    async def begin(self) -> None:
        """Begin a transaction that writes, when no other program holds the lock."""
        await self._execute(self._conn.execute, WRITING)

    async def _execute(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if not _may_wait(fn, args) or self._has_nothing_to_undo(fn):
            return fn(*args, **kwargs)
        if _is_begin(fn, args) and self._begins(fn, args):
            return None
        return await super()._execute(fn, *args, **kwargs)  # type: ignore[no-untyped-call]  # aiosqlite gives it no types

    def _begins(self, execute: Callable[..., Any], arguments: tuple[Any, ...]) -> bool:
        """Begin a transaction. False if another program holds the lock."""
        waits = self._conn.execute("PRAGMA busy_timeout").fetchone()[0]
        self._conn.execute("PRAGMA busy_timeout = 0")
        try:
            execute(*arguments)
        except sqlite3.OperationalError:
            # The other thread tries again, and raises what is to be raised.
            return False
        finally:
            self._conn.execute(f"PRAGMA busy_timeout = {waits}")
        return True

    def _has_nothing_to_undo(self, fn: Callable[..., Any]) -> bool:
        """Whether `fn` is the rollback that a pool runs after a commit."""
        return getattr(fn, "__name__", "") == "rollback" and not self._conn.in_transaction

    def insert_rows(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run `statement` once for each row, in the caller's thread."""
        self._conn.executemany(statement, rows)

    def first_column(self, statement: str, values: Sequence[Any]) -> list[Any]:
        """Run `statement` in the caller's thread. Returns the first column of its result."""
        return [row[0] for row in self._conn.execute(statement, values)]

    def run(self, ready: Ready) -> list[Any]:
        """Run a statement in the caller's thread. Returns its rows, as the driver gives them."""
        return self._conn.execute(ready.text, ready.values).fetchall()


class ReadingConnection(aiosqlite.Connection):
    """Runs each query, to its last row, in its own thread, and the rest in the caller's thread.

    A query may wait for the disk. SQLAlchemy asks for all of its rows at once. What else it does
    for a read does not wait: a transaction that only reads takes no lock.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._rows: list[Any] | None = None
        """Those of the last query, until they are asked for."""

    async def fetch(self, query: Ready) -> list[Any]:
        """The rows of `query`, as the driver gives them. One hop to the other thread and back."""
        found: list[Any] = await super()._execute(self._fetch, query)  # type: ignore[no-untyped-call]  # aiosqlite gives it no types
        return found

    def _fetch(self, query: Ready) -> list[Any]:
        return self._conn.execute(query.text, query.values).fetchall()

    async def _execute(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        name = getattr(fn, "__name__", "")
        if name == "fetchall" and self._rows is not None:
            rows, self._rows = self._rows, None
            return rows
        if name == "execute" and not str(args[0]).startswith("BEGIN"):
            return await super()._execute(self._query, fn, *args)  # type: ignore[no-untyped-call]  # aiosqlite gives it no types
        if name in _UNLOCKED or _is_close_of_cursor(fn):
            return fn(*args, **kwargs)
        return await super()._execute(fn, *args, **kwargs)  # type: ignore[no-untyped-call]  # aiosqlite gives it no types

    def _query(self, execute: Callable[..., sqlite3.Cursor], *arguments: Any) -> sqlite3.Cursor:
        cursor = execute(*arguments)
        self._rows = cursor.fetchall()
        return cursor


SQLITE_DRIVER: Final = _Driver(aiosqlite, sqlite3)
"""The driver for `create_async_engine(module=…)`."""


def _may_wait(function: Callable[..., Any], arguments: tuple[Any, ...]) -> bool:
    name = getattr(function, "__name__", "")
    if name == "execute":
        return str(arguments[0]).startswith(_WAITING)
    return name not in _SHORT and not _is_close_of_cursor(function)


def _is_begin(function: Callable[..., Any], arguments: tuple[Any, ...]) -> bool:
    return getattr(function, "__name__", "") == "execute" and arguments[0].startswith("BEGIN")


def _is_close_of_cursor(function: Callable[..., Any]) -> bool:
    is_cursor = isinstance(getattr(function, "__self__", None), sqlite3.Cursor)
    return is_cursor and getattr(function, "__name__", "") == "close"


async def run(
    connection: AsyncConnection, statement: Statement, values: Mapping[str, Any] = NO_VALUES
) -> Sequence[Row]:
    """Run `statement` in a transaction. Returns its rows: those of a query or of RETURNING.

    For statements of the paths that are called most. All others are SQLAlchemy's to run.
    """
    return await run_each(connection, statement, [values])


async def run_each(
    connection: AsyncConnection, statement: Statement, rows: Sequence[Mapping[str, Any]]
) -> Sequence[Row]:
    """`run` once for each of `rows`, which are values of its parameters. Returns all rows."""
    if not rows:
        return ()
    driver = driver_of(connection)
    if driver is not None:
        if driver.plans is None:
            driver.plans = Plans(connection.dialect)
        if (every := driver.plans.ready_for_each(statement, rows)) is not None:
            return [row for ready in every for row in ready.rows(driver.run(ready))]
    done = await connection.execute(statement, rows[0] if len(rows) == 1 else [*rows])
    return cast("Sequence[Row]", done.mappings().all()) if done.returns_rows else ()


def driver_of(connection: AsyncConnection) -> WritingConnection | None:
    """The driver's connection to SQLite, if `connection` is one that writes."""
    sync = connection.sync_connection
    driver = None if sync is None else sync.connection.driver_connection
    return driver if isinstance(driver, WritingConnection) else None


@asynccontextmanager
async def transaction(connection: AsyncConnection) -> AsyncIterator[None]:
    """Commit what the block has written, or nothing if it raises or the commit fails.

    The driver begins and ends the transaction, which costs a fifth of what SQLAlchemy needs to.
    """
    driver = driver_of(connection)
    if driver is None:
        raise TypeError("the connection does not write to SQLite")
    try:
        await driver.begin()
    except asyncio.CancelledError:
        # The other thread still waits for the lock, and may get it.
        await connection.invalidate()
        raise
    try:
        yield
        await driver.commit()
    except BaseException:
        await driver.rollback()
        raise


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


def sqlite_engine(path: Path, begin: str) -> AsyncEngine:
    """Connections to the file: one that writes (`WRITING`), or several that read (`READING`)."""
    is_writer = begin == WRITING
    pragmas = _PRAGMAS if is_writer else _READER_PRAGMAS
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
    """A connection. If it cannot be opened, its thread ends before the error is raised.

    One that writes has switched the file to write-ahead logging.
    """
    waits = BUSY_MILLISECONDS / 1000
    opened = partial(sqlite3.connect, path, timeout=waits, check_same_thread=False)
    connection = kind(opened, _CHUNK)
    thread = connection._thread  # noqa: SLF001 - nothing public shows when it has ended
    thread.daemon = True
    try:
        await connection
        if kind is WritingConnection:
            await _log_ahead(connection)
    except sqlite3.Error:
        await connection.close()
        # The thread still uses the event loop, which the caller may close after this error.
        await asyncio.to_thread(thread.join)
        raise
    return connection


async def _log_ahead(connection: aiosqlite.Connection) -> None:
    """Switch the file to write-ahead logging, which it is in from then on.

    While another program writes a file that is not, as one that starts at the same time, SQLite
    refuses the switch at once, whatever the timeout: it is tried again for as long.
    """
    now = asyncio.get_running_loop().time
    until = now() + BUSY_MILLISECONDS / 1000
    while True:
        try:
            await connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY" or now() >= until:
                raise
            await asyncio.sleep(_SWITCH_SECONDS)
        else:
            return


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
