"""Copies SQLite databases. A copy is consistent, also while a gateway writes."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

from gateway.errors import StoreError
from gateway.store.sql.engine import ENTITY_VERSIONS, VERSIONS
from gateway.store.sql.engines import explain
from gateway.store.sql.sqlite import sqlite3

SIGNATURE: Final = b"SQLite format 3\x00"
"""The first bytes of each SQLite database."""
COMPANIONS: Final = ("-wal", "-shm", "-journal")
"""The suffixes of the files that SQLite keeps beside a database."""
_PAGES: Final = 4096
"""Pages in one step of a copy."""


def copy_database(
    source: Path, target: Path, on_progress: Callable[[int, int], None]
) -> dict[str, str]:
    """Copy `source` to the new file `target`. Returns its revisions by version table.

    The copy is one snapshot, which is not older than this call. `on_progress` is called with the
    number of copied pages and of all pages. Raises `StoreError` for a database that is corrupt or
    cannot be read.
    """
    target.touch(mode=0o600, exist_ok=False)
    try:
        with (
            closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=rw", uri=True)) as origin,
            closing(sqlite3.connect(target)) as copy,
        ):
            # Only the gateway's writer may run checkpoints.
            origin.execute("PRAGMA wal_autocheckpoint = 0")
            # One snapshot for all steps. Otherwise each commit of the gateway restarts the copy.
            origin.execute("BEGIN")
            origin.execute("SELECT count(*) FROM sqlite_master").fetchone()
            origin.backup(
                copy, pages=_PAGES, progress=lambda _, left, total: on_progress(total - left, total)
            )
            found = copy.execute("PRAGMA quick_check(1)").fetchone()[0]
            if found != "ok":
                raise StoreError(f"{source} is corrupt ({found}); restore an older backup")
            return _revisions(copy)
    except sqlite3.Error as error:
        raise StoreError(f"{source} {explain(error)}") from None


def changed(path: Path, table: str, statement: str) -> list[str]:
    """Change rows of `table`, if the database has it, and return the first column that it returns.

    Raises `StoreError`.
    """
    try:
        with closing(sqlite3.connect(path)) as connection, connection:
            named = connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,))
            is_there = named.fetchone() is not None
            return [row[0] for row in connection.execute(statement)] if is_there else []
    except sqlite3.Error as error:
        raise StoreError(f"{path} {explain(error)}") from None


def _revisions(connection: sqlite3.Connection) -> dict[str, str]:
    names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    return {
        table: str(found[0])
        for table in (VERSIONS, ENTITY_VERSIONS)
        if table in names
        and (found := connection.execute(f"SELECT version_num FROM {table}").fetchone())  # noqa: S608 - one of two constants
    }
