"""Connections to SQLite that run only operations that may wait in another thread.

To get a result back from there takes a round of the event loop, which is long when it is busy.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, cast

import aiosqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.store.sql.sqlite.plans import NO_VALUES, Plans, Ready, Row, Statement
from gateway.store.sql.sqlite_library import sqlite3

WRITING: Final = "BEGIN IMMEDIATE"
_WAITING: Final = ("BEGIN", "PRAGMA")
"""The first words of statements that may wait."""
_SHORT: Final = frozenset({"cursor", "execute", "executemany", "fetchall", "fetchmany", "fetchone"})
"""The functions of the driver that do not wait."""
_UNLOCKED: Final = frozenset({"cursor", "execute", "rollback"})
"""Those that do not wait in a transaction without locks, if `execute` is not of a query."""


class WritingConnection(aiosqlite.Connection):
    """Waits for locks and for the disk in its own thread, and runs the rest in the caller's thread.

    A transaction of the gateway is a few short statements. In another thread, each row would wait
    for the interpreter lock: up to five milliseconds when the event loop is busy. So only the
    beginning of a transaction, if it must wait for another program's lock, and its end, which waits
    for the disk, run in the other thread.
    """

    plans: Plans | None = None
    """Those of the statements that `run` has run."""

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
    driver = driver_of(connection)
    if driver is not None:
        if driver.plans is None:
            driver.plans = Plans(connection.dialect)
        if (ready := driver.plans.ready(statement, values)) is not None:
            return ready.rows(driver.run(ready))
    done = await connection.execute(statement, values)
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
