"""Copies of SQLite databases, consistent while a gateway goes on writing."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

from gateway.errors import StoreError
from gateway.store.sql.failures import explain
from gateway.store.sql.sqlite_library import sqlite3
from gateway.store.sql.versions import ENTITY_VERSIONS, VERSIONS

SIGNATURE: Final = b"SQLite format 3\x00"
"""How each such file begins."""
COMPANIONS: Final = ("-wal", "-shm", "-journal")
"""Ends of the names of files that SQLite keeps beside a database."""
_PAGES: Final = 4096


def copy_database(source: Path, target: Path, moved: Callable[[int, int], None]) -> dict[str, str]:
    """Copy `source` to the new file `target`; the revisions that it is at.

    The copy is what had been committed at one moment, at the earliest that of the call. `moved` is
    called with the pages done and the total. Raises `StoreError` for a database that cannot be
    read.
    """
    target.touch(mode=0o600, exist_ok=False)
    try:
        with (
            closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=rw", uri=True)) as origin,
            closing(sqlite3.connect(target)) as copy,
        ):
            # Only the gateway's writer may fold its log into the database.
            origin.execute("PRAGMA wal_autocheckpoint = 0")
            # One snapshot for all steps: else each commit of the gateway would restart the copy.
            origin.execute("BEGIN")
            origin.execute("SELECT count(*) FROM sqlite_master").fetchone()
            origin.backup(
                copy, pages=_PAGES, progress=lambda _, left, every: moved(every - left, every)
            )
            found = copy.execute("PRAGMA quick_check(1)").fetchone()[0]
            if found != "ok":
                raise StoreError(f"{source} is corrupt ({found}); restore an older backup")
            return _revisions(copy)
    except sqlite3.Error as error:
        raise StoreError(f"{source} {explain(error)}") from None


def _revisions(connection: sqlite3.Connection) -> dict[str, str]:
    names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    return {
        table: str(found[0])
        for table in (VERSIONS, ENTITY_VERSIONS)
        if table in names
        and (found := connection.execute(f"SELECT version_num FROM {table}").fetchone())  # noqa: S608 - one of two constants
    }
