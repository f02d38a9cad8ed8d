"""What the database says when it cannot, as one line that says what the operator must do."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnection

from gateway.errors import StoreError
from gateway.store.refused import StoreRefused
from gateway.store.sql.sqlite_library import sqlite3

_SQLITE: Final = (
    ("SQLITE_NOTADB", "is not a SQLite database; move it away or name another one"),
    ("SQLITE_CORRUPT", "is corrupt; restore it from a backup"),
    ("SQLITE_READONLY", "cannot be written; make the file and its folder writable"),
    ("SQLITE_CANTOPEN", "cannot be opened; make the file and its folder writable"),
    ("SQLITE_BUSY", "is locked by another program; stop that one first"),
    ("SQLITE_LOCKED", "is locked by another program; stop that one first"),
    ("SQLITE_FULL", "cannot grow: the disk is full; make room"),
    ("SQLITE_IOERR", "cannot be read or written: the disk failed; look at the system's log"),
    ("SQLITE_CONSTRAINT_PRIMARYKEY", "holds such a record already"),
    ("SQLITE_CONSTRAINT_UNIQUE", "holds such a record already"),
)
_POSTGRES: Final = (
    ("28", "refuses the user or the password; fix them in the URL"),
    ("3D000", "does not exist; make it, or name another one in the URL"),
    ("3F", "has no schema to make tables in; name one in the user's search_path"),
    ("42501", "does not let the user make, read or change tables; grant it, or name another user"),
    ("53300", "has no free connection; allow more, or stop others"),
    ("57", "is stopping, or cancelled the statement; try again"),
    ("40", "could not order concurrent changes; try again"),
    ("53", "has no room or memory left; make room"),
    ("55P03", "did not grant a lock in time, for others use the table; try again"),
    ("23505", "holds such a record already"),
)
_REFUSALS: Final = (
    ("SQLITE_CONSTRAINT", "refuses what breaks one of its constraints"),
    ("SQLITE_TOOBIG", "refuses a value that is too large"),
    ("23", "refuses what breaks one of its constraints"),
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
"""SQLite's texts of a broken constraint, and its names of them. The package `pysqlite3` passes on
the primary result code only, which says no more than that there was a constraint."""
_OUT_OF_ORDER: Final = frozenset({"40001", "40P01"})
_NO_LOCK: Final = "55P03"
_VALUES: Final = (
    # PostgreSQL: a row twice in one statement (21), a value (22), a constraint (23, 44), the limits
    # of a row or an index (54), what a trigger raises by itself (P0001).
    *("21", "22", "23", "44", "54", "P0001"),
    *("SQLITE_CONSTRAINT", "SQLITE_TOOBIG", "SQLITE_MISMATCH"),
)
"""Beginnings of the codes of what is about the values: it would come back each time. Every other
error is about the database, its rights, its tables, its disk or its server, which can be fixed:
what was accepted must not be given up for it."""


def explain(error: BaseException) -> str:
    """What went wrong and how to fix it, without any value that was being stored."""
    if isinstance(error, NoConnection):
        return "is too busy to take more work; try again"
    code, kind = _code(error)
    for prefix, meaning in (*_SQLITE, *_POSTGRES):
        if code.startswith(prefix):
            return meaning
    for prefix, meaning in _REFUSALS:
        if code.startswith(prefix):
            return f"{meaning} ({code})"
    if kind in {"ConnectionRefusedError", "gaierror", "TimeoutError"}:
        return "cannot be reached; start it, or fix host and port in the URL"
    return f"failed ({code or kind})"


def is_conflict(error: BaseException) -> bool:
    """Whether a key that exists already, or a reference between rows, forbids the change."""
    return _code(error)[0] in _CONFLICTS


def is_out_of_order(error: BaseException) -> bool:
    """Whether PostgreSQL gave a transaction up for others' sake: it can be repeated as a whole."""
    return _code(error)[0] in _OUT_OF_ORDER


def is_lock_refused(error: BaseException) -> bool:
    """Whether PostgreSQL did not grant a lock within its time."""
    return _code(error)[0] == _NO_LOCK


def is_transient(error: BaseException) -> bool:
    """Whether the same work may succeed later: the database failed, and not what it was given."""
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    code, _ = _code(error)
    if code:
        return not code.startswith(_VALUES)
    # Without a code: no free connection, or none at all. What a driver refuses to send has none
    # either, and is the value's fault.
    return isinstance(error, NoConnection | OSError | asyncio.TimeoutError)


def _code(error: BaseException) -> tuple[str, str]:
    """SQLite's name of the error or PostgreSQL's SQLSTATE, and the name of its class."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
    code = getattr(cause, "sqlite_errorname", None) or getattr(cause, "sqlstate", None)
    if code == "SQLITE_CONSTRAINT":
        code = _CONSTRAINTS.get(str(cause).partition(":")[0], code)
    return str(code or ""), type(cause).__name__


@asynccontextmanager
async def failures(database: str = "the database") -> AsyncIterator[None]:
    """Turn what the database raises into a `StoreError` that begins with `database`.

    It is a `StoreRefused` when trying again cannot help.
    """
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, OSError) as error:
        # The original holds the statement and its parameters, which no log may show.
        kind = StoreError if is_transient(error) else StoreRefused
        raise kind(f"{database} {explain(error)}") from None
