"""The state of a mock, in a SQLite file in the data folder or in memory.

Each mock has its own file, which is created with the first change. The changes of one request are
one transaction, which is committed before the reply is sent. So no id is used twice, even if the
process is killed. Several processes may use one file: one of them writes at a time, and all see
what was committed. The journal is a rollback journal, because SQLite's write-ahead log had defects
with several writers. The file is not synchronised to the disk, because its data is invented. A
crash of the machine may therefore damage it; the error for this contains a fix.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from gateway.contract.mock import MAX_MESSAGES, MAX_ROWS, MAX_TABLE_BYTES, MockMessage
from gateway.errors import ConfigurationError

_VERSION: Final = 1
_FIRST_NUMBER: Final = 10_000_001
_BUSY_SECONDS: Final = 5.0
_TABLES: Final = """
CREATE TABLE rows (seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, id TEXT NOT NULL,
                   row BLOB NOT NULL, UNIQUE (kind, id));
CREATE TABLE sizes (kind TEXT PRIMARY KEY, count INTEGER NOT NULL, bytes INTEGER NOT NULL);
CREATE TABLE numbers (prefix TEXT PRIMARY KEY, number INTEGER NOT NULL);
CREATE TABLE messages (seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, id TEXT NOT NULL,
                       message BLOB NOT NULL);
CREATE INDEX messages_at ON messages (at, seq);
CREATE INDEX messages_id ON messages (id);
CREATE TABLE clock (only INTEGER PRIMARY KEY CHECK (only = 1), now INTEGER NOT NULL);
"""
_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder().decode
_message: Final = msgspec.msgpack.Decoder(MockMessage).decode


class StoredState:
    """The `MockState` in the file at `path`, or in memory if that is None.

    All methods raise `ConfigurationError` if the file cannot be read or written.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._open: sqlite3.Connection | None = None
        self._begun = False
        self._in_transaction = False
        self._returned: set[int] = set()
        """Messages that `due` has returned and that are not sent yet."""

    @contextmanager
    def transaction(self, now: datetime) -> Iterator[None]:
        """Commit all changes of the block, or none if it raises. `now` is the mock's time."""
        self._in_transaction = True
        try:
            yield
            if self._begun:
                self._run("INSERT OR REPLACE INTO clock VALUES (1, ?)", _micros(now))
                self._run("COMMIT")
        except BaseException:
            # SQLite may have ended the transaction itself, for example because the disk is full.
            if self._open is not None and self._open.in_transaction:
                self._open.execute("ROLLBACK")
            raise
        finally:
            self._in_transaction = self._begun = False

    def new_id(self, prefix: str) -> str:
        """See `MockState.new_id`."""
        sql = (
            "INSERT INTO numbers VALUES (?, ?) "
            "ON CONFLICT (prefix) DO UPDATE SET number = number + 1 RETURNING number"
        )
        return f"{prefix}-{self._run(sql, prefix, _FIRST_NUMBER)[0][0]}"

    def add(self, table: str, row_id: str, row: dict[str, Any]) -> None:
        """See `MockState.add`."""
        text = _encode(row)
        before = self._run("SELECT length(row) FROM rows WHERE kind = ? AND id = ?", table, row_id)
        self._run(
            "INSERT INTO rows (kind, id, row) VALUES (?, ?, ?) "
            "ON CONFLICT (kind, id) DO UPDATE SET row = excluded.row",
            *(table, row_id, text),
        )
        self._grow(table, 0 if before else 1, len(text) - (before[0][0] if before else 0))

    def find(self, table: str, row_id: str) -> dict[str, Any] | None:
        """See `MockState.find`."""
        if not self._exists():
            return None
        found = self._run("SELECT row FROM rows WHERE kind = ? AND id = ?", table, row_id)
        row: dict[str, Any] | None = _decode(found[0][0]) if found else None
        return row

    def rows(self, table: str, prefix: str = "") -> list[tuple[str, dict[str, Any]]]:
        """The ids and rows of `table` whose id begins with `prefix`, oldest first."""
        if not self._exists():
            return []
        sql = "SELECT id, row FROM rows WHERE kind = ? AND substr(id, 1, ?) = ? ORDER BY seq"
        return [(found, _decode(row)) for found, row in self._run(sql, table, len(prefix), prefix)]

    def later(self, moment: datetime, message: MockMessage) -> None:
        """See `MockState.later`."""
        sql = "INSERT INTO messages (at, id, message) VALUES (?, ?, ?)"
        self._run(sql, _micros(moment), message.id, _encode(message))
        self._run(
            "DELETE FROM messages WHERE seq IN "
            "(SELECT seq FROM messages ORDER BY at, seq LIMIT -1 OFFSET ?)",
            MAX_MESSAGES,
        )

    def due(self, now: datetime) -> list[MockMessage]:
        """The messages to be sent by `now`, earliest first. Each is returned once per process.

        Messages that are not passed to `sent` are returned again after a restart.
        """
        if not self._exists():
            return []
        sql = "SELECT seq, message FROM messages WHERE at <= ? ORDER BY at, seq"
        found = dict(self._run(sql, _micros(now)))
        new = [seq for seq in found if seq not in self._returned]
        self._returned = set(found)  # other processes may have sent messages meanwhile
        return [_message(found[seq]) for seq in new]

    def sent(self, message: MockMessage) -> None:
        """Delete a message that `due` has returned."""
        found = self._run("DELETE FROM messages WHERE id = ? RETURNING seq", message.id)
        self._returned.difference_update(seq for (seq,) in found)

    def latest(self) -> datetime | None:
        """The mock's time at the latest change, or None if there was none."""
        found = self._run("SELECT now FROM clock") if self._exists() else []
        return datetime.fromtimestamp(found[0][0] / 1e6, UTC) if found else None

    def close(self) -> None:
        """Close the file."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def _grow(self, table: str, rows: int, size: int) -> None:
        """Record the new size of `table`. Delete its oldest rows while it is too large."""
        sql = (
            "INSERT INTO sizes VALUES (?, ?, ?) ON CONFLICT (kind) DO UPDATE "
            "SET count = count + excluded.count, bytes = bytes + excluded.bytes "
            "RETURNING count, bytes"
        )
        count, total = self._run(sql, table, rows, size)[0]
        while count > 1 and (count > MAX_ROWS or total > MAX_TABLE_BYTES):
            oldest = (
                "DELETE FROM rows WHERE seq = (SELECT min(seq) FROM rows WHERE kind = ?) "
                "RETURNING length(row)"
            )
            deleted_bytes = self._run(oldest, table)[0][0]
            count, total = self._run(sql, table, -1, -deleted_bytes)[0]

    def _exists(self) -> bool:
        """Whether there can be anything to read. A read does not create the file."""
        return self._path is None or self._open is not None or self._path.exists()

    def _run(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        try:
            connection = self._connection()
            if self._in_transaction and not self._begun:
                connection.execute("BEGIN IMMEDIATE")
                self._begun = True
            return connection.execute(sql, values).fetchall()
        except (sqlite3.Error, OSError) as error:
            raise self._unusable(str(error)) from error

    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            if self._path is not None:
                self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._open = _connected(self._path)
            if self._open.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
                self.close()
                raise self._unusable("it is of another version")
        return self._open

    def _unusable(self, reason: str) -> ConfigurationError:
        where = self._path or "memory"
        return ConfigurationError(
            f"{where}: the data of a mock cannot be used ({reason}); "
            "move the file away, and the mock starts again"
        )


def _connected(path: Path | None) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path or ":memory:", timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    connection.execute("PRAGMA journal_mode = TRUNCATE")
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("BEGIN IMMEDIATE")
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
        for statement in filter(str.strip, _TABLES.split(";")):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {_VERSION}")
    connection.execute("COMMIT")
    return connection


def _micros(moment: datetime) -> int:
    """Whole microseconds since 1970. Works for every year of the calendar."""
    passed = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (passed.days * 86400 + passed.seconds) * 1_000_000 + passed.microseconds
