"""Connections to a database of the gateway, from its URL, and its errors.

Errors become messages of one line, which say how to fix the cause.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, Final

import msgspec
from msgspec import Struct
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError, DisconnectionError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnection
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import AsyncAdaptedQueuePool, NullPool

from gateway.errors import StoreError
from gateway.store.protocols import StoreDamaged, StoreRefused
from gateway.store.sql.sqlite import (
    IN_MEMORY,
    MINIMUM_SQLITE,
    READERS,
    READING,
    SQLITE_PREFIXES,
    WRITING,
    sqlite3,
    sqlite_engine,
    sqlite_path,
)

_SQLITE: Final = (
    ("SQLITE_NOTADB", "is not a SQLite database; move it away or name another one"),
    ("SQLITE_CORRUPT", "is corrupt; restore it from a backup"),
    ("SQLITE_READONLY", "cannot be written; make the file and its folder writable"),
    ("SQLITE_CANTOPEN", "cannot be opened; make the file and its folder writable"),
    ("SQLITE_BUSY", "is locked by another program; stop that one first"),
    ("SQLITE_LOCKED", "is locked by another program; stop that one first"),
    ("SQLITE_FULL", "cannot grow: the disk is full; free disk space"),
    ("SQLITE_IOERR", "cannot be read or written: the disk failed; look at the system's log"),
    ("SQLITE_CONSTRAINT_PRIMARYKEY", "already has a row with this key"),
    ("SQLITE_CONSTRAINT_UNIQUE", "already has a row with this key"),
)
_POSTGRES: Final = (
    ("28", "refuses the user or the password; fix them in the URL"),
    ("3D000", "does not exist; create it, or name another one in the URL"),
    ("3F", "has no schema for new tables; name one in the user's search_path"),
    (
        "42501",
        "does not let the user create, read or change tables; grant this, or name another user",
    ),
    ("53300", "has no free connection; allow more, or close others"),
    ("08", "ended the connection; try again"),
    ("57", "is stopping, or cancelled the statement; try again"),
    ("40", "could not serialize concurrent changes; try again"),
    ("53", "has no disk space or memory left; free some"),
    ("55P03", "did not grant a lock in time, because the table is in use; try again"),
    ("23505", "already has a row with this key"),
)
_REFUSALS: Final = (
    ("SQLITE_CONSTRAINT", "refuses a change that breaks a constraint"),
    ("SQLITE_TOOBIG", "refuses a value that is too large"),
    ("23", "refuses a change that breaks a constraint"),
    ("54", "refuses a value that is larger than an index or a row can hold"),
    ("22", "refuses a value"),
)
_CONFLICTS: Final = frozenset(
    {"SQLITE_CONSTRAINT_PRIMARYKEY", "SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_FOREIGNKEY"}
    | {"23505", "23503"}
)
_CONSTRAINTS: Final = {
    "UNIQUE constraint failed": "SQLITE_CONSTRAINT_UNIQUE",
    "FOREIGN KEY constraint failed": "SQLITE_CONSTRAINT_FOREIGNKEY",
}
"""SQLite's error codes by its error texts. The package `pysqlite3` reports only the primary result
code SQLITE_CONSTRAINT, which does not show the kind of constraint."""
_SERIALIZATION_FAILURES: Final = frozenset({"40001", "40P01"})
_DAMAGES: Final = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
_NO_LOCK: Final = "55P03"
_VALUES: Final = (
    # PostgreSQL: a row twice in one statement (21), a value (22), a constraint (23, 44), the limits
    # of a row or an index (54), what a trigger raises by itself (P0001).
    *("21", "22", "23", "44", "54", "P0001"),
    *("SQLITE_CONSTRAINT", "SQLITE_TOOBIG", "SQLITE_MISMATCH"),
)
"""Prefixes of the codes of errors that values cause. Such an error would come back each time. The
causes of all other errors can be fixed: rights, tables, the disk or the server. So accepted data
must be kept until then."""
MEMORY_URL: Final = "memory:"
POSTGRES_PREFIXES: Final = ("postgresql://", "postgres://")
CONNECT_SECONDS: Final = 5.0
STATEMENT_SECONDS: Final = 30.0
IDLE_SECONDS: Final = 20.0
"""How long a transaction may wait for its process. It is less than a lease."""
_CONNECTIONS: Final = 10
_USED: Final = "used"
_UNUSED_SECONDS: Final = 120.0
"""Without use for longer, a connection is opened again: a firewall may have dropped it in silence,
and a statement would hang on it."""
_FORMS: Final = "sqlite:///<path>, postgresql://<user>@<host>/<database> or memory:"
_DURABLE: Final = frozenset({"on", "remote_apply"})
_SERVER_SETTINGS: Final = {
    "application_name": "contract-gateway",
    # A commit is on the disk when it is acknowledged. The default of a server or role may differ.
    "synchronous_commit": "on",
    "lock_timeout": "5s",
    "statement_timeout": f"{STATEMENT_SECONDS:.0f}s",
    # A queue can grow from nothing to a hundred thousand rows within a minute. A plan for the empty
    # queue must not be kept for the full one.
    "plan_cache_mode": "force_custom_plan",
    # The planner takes a recursive statement for an expensive one, as that which finds due jobs. To
    # compile it takes tens of milliseconds at each execution, to run it less than one.
    "jit": "off",
    # A process that hangs in a transaction would keep its rows locked for all others.
    "idle_in_transaction_session_timeout": f"{IDLE_SECONDS:.0f}s",
}
_MAINTENANCE: Final = {
    **_SERVER_SETTINGS,
    # Nobody ends its transactions as those of a frozen process.
    "application_name": "contract-gateway maintenance",
    # Wait only a short time to alter a table: other statements wait behind the one that waits.
    "lock_timeout": "2s",
    # Building an index of millions of rows takes minutes, and no other start may run meanwhile.
    "statement_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
}
"""The settings of connections for migrations."""


class DatabaseFile(Struct, frozen=True):
    """Identifies a database file as it was opened."""

    path: Path
    device: int
    inode: int

    @classmethod
    def at(cls, path: Path) -> "DatabaseFile":
        found = path.stat()
        return cls(path, found.st_dev, found.st_ino)

    def refuse_lost(self) -> None:
        """Raise `StoreError` if the path now names another file or none.

        SQLite would continue to use the old file, which no program can open again. All data would
        be lost when this process ends.
        """
        try:
            is_same = DatabaseFile.at(self.path) == self
        except OSError:
            is_same = False
        if not is_same:
            raise StoreError(
                f"{self.path} was deleted or replaced while it was in use; put the right file "
                "there, and restart"
            )


class Engines(Struct, frozen=True):
    """The engines of a database: one to read, one to write. They can be the same."""

    reader: AsyncEngine
    writer: AsyncEngine
    label: str
    """The name of the database in messages. It never contains a password."""
    file: DatabaseFile | None = None
    reads_at_once: int | None = None
    """How many reads have a connection at the same time. None: as many as the pool has."""
    maintenance: AsyncEngine | None = None
    """Connections to a server without a time limit for statements."""

    @property
    def is_postgres(self) -> bool:
        return self.writer.dialect.name == "postgresql"

    def refuse_lost(self) -> None:
        """Raise `StoreError` if the database file is gone, so that writes would be lost."""
        if self.file is not None:
            self.file.refuse_lost()

    def cancelled(self) -> StoreError:
        """The error of a request that the database ended, not its caller."""
        return StoreError(f"{self.label} cancelled the request; try again")

    def closed(self) -> StoreError:
        """The error of a request after the end."""
        return StoreError(f"{self.label} is closed")

    async def dispose(self) -> None:
        """Close all connections. With the last one, SQLite writes its log into the database."""
        await self.reader.dispose()
        if self.writer is not self.reader:
            await self.writer.dispose()


def explain(error: BaseException) -> str:
    """The cause of `error` and how to fix it. It never contains a value that was to be stored."""
    if isinstance(error, NoConnection):
        return "is too busy to take more work; try again"
    code, kind = _code(error)
    for prefix, meaning in (*_SQLITE, *_POSTGRES):
        if code.startswith(prefix):
            return meaning
    for prefix, meaning in _REFUSALS:
        if code.startswith(prefix):
            return f"{meaning} ({code})"
    if kind == "InternalClientError":  # the driver's, when a session ends as it is used
        return "ended the connection; try again"
    if kind in {"ConnectionRefusedError", "gaierror", "TimeoutError"}:
        return "cannot be reached; start it, or fix host and port in the URL"
    return f"failed ({code or kind})"


def is_conflict(error: BaseException) -> bool:
    """Whether the change breaks a unique key or a reference between rows."""
    return _code(error)[0] in _CONFLICTS


def is_serialization_failure(error: BaseException) -> bool:
    """Whether PostgreSQL aborted a transaction because of concurrent ones, so it can be repeated.

    This includes deadlocks.
    """
    return _code(error)[0] in _SERIALIZATION_FAILURES


def is_lock_refused(error: BaseException) -> bool:
    """Whether PostgreSQL did not grant a lock within its time."""
    return _code(error)[0] == _NO_LOCK


def is_transient(error: BaseException) -> bool:
    """Whether the same request may succeed later, because its values did not cause the error."""
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    code, _ = _code(error)
    if code:
        return not code.startswith(_VALUES)
    # Errors without a code: there is no connection, or the driver refuses a value.
    return isinstance(error, NoConnection | OSError | asyncio.TimeoutError)


def _code(error: BaseException) -> tuple[str, str]:
    """The code of the error (SQLite's error name or SQLSTATE), and the name of its class."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
    code = getattr(cause, "sqlite_errorname", None) or getattr(cause, "sqlstate", None)
    if code == "SQLITE_CONSTRAINT":
        code = _CONSTRAINTS.get(str(cause).partition(":")[0], code)
    return str(code or ""), type(cause).__name__


@asynccontextmanager
async def failures(database: str = "the database") -> AsyncIterator[None]:
    """Turn errors of the database into a `StoreError` that begins with `database`.

    It is a `StoreRefused` when the same request would fail again, and a `StoreDamaged` when the
    file is no database any more.
    """
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, OSError) as error:
        # The original error contains the statement and its parameters, which no log may show.
        kind = StoreError if is_transient(error) else StoreRefused
        if _code(error)[0].startswith(_DAMAGES):
            kind = StoreDamaged
        raise kind(f"{database} {explain(error)}") from None


def engines_at(url: str, name: str = "database") -> Engines:
    """The engines for `url`, not connected yet. Messages call the database "the `name`".

    Raises `StoreError` for any other form of URL and for a file that cannot be used.
    """
    if url == MEMORY_URL:
        engine = sqlite_engine(IN_MEMORY, WRITING)
        return Engines(engine, engine, f"the {name} in memory", reads_at_once=1)
    if url.startswith(SQLITE_PREFIXES):
        path = sqlite_path(url)
        refuse_unusable(path)
        return Engines(
            sqlite_engine(path, READING),
            sqlite_engine(path, WRITING),
            str(path),
            DatabaseFile.at(path.absolute()),
            READERS,
        )
    if url.startswith(POSTGRES_PREFIXES):
        reader = _postgres_engine(url, f"the {name}")
        writer = reader.execution_options(isolation_level="READ COMMITTED")
        maintenance = create_async_engine(
            "postgresql+asyncpg://",
            async_creator=partial(_connect, url, f"the {name}", _MAINTENANCE, None),
            poolclass=NullPool,
            hide_parameters=True,
        )
        return Engines(reader, writer, f"the {name}", maintenance=maintenance)
    raise StoreError(f"the URL of the {name} has an unknown form; write {_FORMS}")


def _postgres_engine(url: str, label: str) -> AsyncEngine:
    engine = create_async_engine(
        "postgresql+asyncpg://",
        async_creator=partial(_connect, url, label, _SERVER_SETTINGS, STATEMENT_SECONDS),
        poolclass=AsyncAdaptedQueuePool,
        pool_size=_CONNECTIONS,
        max_overflow=0,
        pool_timeout=CONNECT_SECONDS,
        # A read is one statement, or some that need no common snapshot. A transaction around it
        # would take four more messages to the server.
        isolation_level="AUTOCOMMIT",
        hide_parameters=True,
        json_serializer=_encode,
        json_deserializer=msgspec.json.decode,
    )

    @event.listens_for(engine.sync_engine, "checkout")
    def refuse_lost(connection: Any, record: Any, _holder: object) -> None:
        # The driver knows when the server has ended a connection. To ask the server before each
        # use, as `pool_pre_ping` does, takes two more messages and a third of the time of a read.
        now = monotonic()
        unused = now - record.info.get(_USED, now)
        if connection.driver_connection.is_closed() or unused > _UNUSED_SECONDS:
            raise DisconnectionError

    @event.listens_for(engine.sync_engine, "checkin")
    def note_use(_connection: object, record: Any) -> None:
        record.info[_USED] = monotonic()

    return engine


async def _connect(url: str, label: str, settings: Mapping[str, str], seconds: float | None) -> Any:
    """A connection. Raises `StoreError`, whose message contains no part of the URL."""
    # Most gateways keep their state in a file and do not need this library.
    import asyncpg  # type: ignore[import-untyped]  # noqa: PLC0415 - no types; see above

    try:
        connection = await asyncpg.connect(
            url,
            timeout=CONNECT_SECONDS,
            command_timeout=seconds,
            server_settings=settings,
        )
        synchronous_commit = await connection.fetchval("SHOW synchronous_commit")
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, ValueError) as error:
        raise StoreError(f"{label} {explain(error)}") from None
    if synchronous_commit not in _DURABLE:
        await connection.close()
        raise StoreError(
            f"{label} acknowledges commits before they are on the disk; let the server, or the "
            "proxy in front of it, accept synchronous_commit = on"
        )
    return connection


def _encode(value: Any) -> str:
    return msgspec.json.encode(value).decode()


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
