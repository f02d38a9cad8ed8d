"""A connection to SQLite that leaves the event loop's thread only for what may wait."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import aiosqlite

from gateway.store.sql.sqlite_library import sqlite3

_WAITING: Final = ("BEGIN", "PRAGMA")
_SHORT: Final = frozenset({"cursor", "execute", "executemany", "fetchall", "fetchmany", "fetchone"})


class WritingConnection(aiosqlite.Connection):
    """Waits for locks and for the disk in its own thread, and does the rest where it is called.

    A transaction of the gateway's is a handful of short statements. In another thread each row of
    each of them would have to win the interpreter back from a busy event loop, up to five
    milliseconds at a time; so only its beginning, which may wait for another program's lock, and
    its end, which waits for the disk, are worth the way there.
    """

    async def _execute(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if not _may_wait(fn, args) or self._has_nothing_to_undo(fn):
            return fn(*args, **kwargs)
        return await super()._execute(fn, *args, **kwargs)  # type: ignore[no-untyped-call]  # aiosqlite gives it no types

    def _has_nothing_to_undo(self, fn: Callable[..., Any]) -> bool:
        """Whether this is the rollback by which a pool makes sure of what a commit has ended."""
        return getattr(fn, "__name__", "") == "rollback" and not self._conn.in_transaction

    def added(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run a statement that adds rows, once for each, where it is called."""
        self._conn.executemany(statement, rows)

    def answers(self, statement: str, values: Sequence[Any]) -> list[Any]:
        """Run a statement where it is called; the first column of what it answers."""
        return [row[0] for row in self._conn.execute(statement, values)]


def _may_wait(function: Callable[..., Any], arguments: tuple[Any, ...]) -> bool:
    name = getattr(function, "__name__", "")
    if name == "close":
        return not isinstance(getattr(function, "__self__", None), sqlite3.Cursor)
    if name == "execute":
        return str(arguments[0]).startswith(_WAITING)
    return name not in _SHORT
