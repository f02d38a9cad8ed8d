"""Turns errors of the database into messages of one line, which say how to fix the cause."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnection

from gateway.errors import StoreError
from gateway.store.refused import StoreDamaged, StoreRefused
from gateway.store.sql.sqlite_library import sqlite3

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
