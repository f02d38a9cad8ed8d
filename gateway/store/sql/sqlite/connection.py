"""A connection to SQLite that runs only operations that may wait in another thread."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import aiosqlite

from gateway.store.sql.sqlite_library import sqlite3

_WAITING: Final = ("BEGIN", "PRAGMA")
"""The first words of statements that may wait."""
_SHORT: Final = frozenset({"cursor", "execute", "executemany", "fetchall", "fetchmany", "fetchone"})
"""The functions of the driver that do not wait."""


class WritingConnection(aiosqlite.Connection):
    """Waits for locks and for the disk in its own thread, and runs the rest in the caller's thread.

    A transaction of the gateway is a few short statements. In another thread, each row would wait
    for the interpreter lock: up to five milliseconds when the event loop is busy. So only the
    beginning of a transaction, which may wait for another program's lock, and its end, which waits
    for the disk, run in the other thread.
    """

    async def _execute(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if not _may_wait(fn, args) or self._has_nothing_to_undo(fn):
            return fn(*args, **kwargs)
        return await super()._execute(fn, *args, **kwargs)  # type: ignore[no-untyped-call]  # aiosqlite gives it no types

    def _has_nothing_to_undo(self, fn: Callable[..., Any]) -> bool:
        """Whether `fn` is the rollback that a pool runs after a commit."""
        return getattr(fn, "__name__", "") == "rollback" and not self._conn.in_transaction

    def insert_rows(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run `statement` once for each row, in the caller's thread."""
        self._conn.executemany(statement, rows)

    def first_column(self, statement: str, values: Sequence[Any]) -> list[Any]:
        """Run `statement` in the caller's thread. Returns the first column of its result."""
        return [row[0] for row in self._conn.execute(statement, values)]


def _may_wait(function: Callable[..., Any], arguments: tuple[Any, ...]) -> bool:
    name = getattr(function, "__name__", "")
    if name == "close":
        return not isinstance(getattr(function, "__self__", None), sqlite3.Cursor)
    if name == "execute":
        return str(arguments[0]).startswith(_WAITING)
    return name not in _SHORT
