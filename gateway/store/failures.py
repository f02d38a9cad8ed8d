"""What the database says when it cannot, as one line that tells the operator what to do."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from gateway.errors import StoreError

_SQLITE: Final = (
    ("SQLITE_NOTADB", "is not a SQLite database; move it away or name another one"),
    ("SQLITE_CORRUPT", "is corrupt; restore it from a backup"),
    ("SQLITE_READONLY", "cannot be written; make the file and its folder writable"),
    ("SQLITE_CANTOPEN", "cannot be opened; make the file and its folder writable"),
    ("SQLITE_BUSY", "is locked by another program; stop that one first"),
    ("SQLITE_LOCKED", "is locked by another program; stop that one first"),
    ("SQLITE_FULL", "cannot grow: the disk is full; make room"),
    ("SQLITE_IOERR", "cannot be read or written: the disk failed; look at the system's log"),
    ("SQLITE_CONSTRAINT", "holds such a record already"),
)


def explain(error: BaseException) -> str:
    """What went wrong and how to mend it, without any value that was being stored."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    code = str(getattr(cause, "sqlite_errorname", ""))
    for prefix, meaning in _SQLITE:
        if code.startswith(prefix):
            return meaning
    return f"failed ({code or type(cause).__name__})"


@asynccontextmanager
async def failures(database: str = "the database") -> AsyncIterator[None]:
    """Turn what the database raises into a `StoreError` that begins with `database`."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, OSError) as error:
        # The original holds the statement and its parameters, which no log may show.
        raise StoreError(f"{database} {explain(error)}") from None
