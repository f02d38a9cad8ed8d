"""What connections to SQLite do in their own thread, and what where they are called."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import aiosqlite
import pytest

from gateway.store.sql.sqlite import READING, WRITING, sqlite3, sqlite_engine


@pytest.fixture
def seen(monkeypatch) -> list[tuple[str, bool]]:
    """The statements that SQLite ran, and whether on the test's own thread."""
    statements: list[tuple[str, bool]] = []
    here = threading.get_ident()
    connect = sqlite3.connect

    def traced(*arguments, **options) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.set_trace_callback(
            lambda text: statements.append((text.split()[0], threading.get_ident() == here))
        )
        return connection

    monkeypatch.setattr(sqlite3, "connect", traced)
    return statements


async def test_only_what_may_wait_leaves_the_thread(tmp_path, seen) -> None:
    engine = sqlite_engine(Path(tmp_path) / "a.db", WRITING)
    async with engine.begin() as connection:
        await connection.exec_driver_sql("CREATE TABLE t (x)")
        await connection.exec_driver_sql("INSERT INTO t VALUES (?)", [(1,), (2,)])
        found = (await connection.exec_driver_sql("SELECT x FROM t")).scalars().all()
    with pytest.raises(ZeroDivisionError):
        async with engine.begin():
            raise ZeroDivisionError
    await engine.dispose()

    assert found == [1, 2]
    elsewhere = {word for word, is_here in seen if not is_here}
    assert elsewhere == {"PRAGMA", "COMMIT", "ROLLBACK"}
    here = {word for word, is_here in seen if is_here}
    assert here == {"PRAGMA", "BEGIN", "CREATE", "INSERT", "SELECT"}


async def test_the_event_loop_goes_on_while_another_program_holds_the_lock(tmp_path) -> None:
    engine = sqlite_engine(Path(tmp_path) / "a.db", WRITING)
    async with engine.begin() as connection:
        await connection.exec_driver_sql("CREATE TABLE t (x)")
    other = sqlite3.connect(Path(tmp_path) / "a.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    async def write() -> None:
        async with engine.begin() as connection:
            await connection.exec_driver_sql("INSERT INTO t VALUES (1)")

    writing = asyncio.create_task(write())
    for _ in range(20):
        await asyncio.sleep(0.001)
    assert not writing.done()
    other.execute("COMMIT")
    await writing

    other.close()
    await engine.dispose()


async def test_a_rollback_that_undoes_nothing_leaves_no_thread(tmp_path, monkeypatch) -> None:
    """A pool rolls back what it takes back: after a commit that would cost a way for nothing."""
    elsewhere: list[str] = []
    execute = aiosqlite.Connection._execute

    async def noted(self, function, *arguments, **options) -> Any:
        elsewhere.append(getattr(function, "__name__", ""))
        return await execute(self, function, *arguments, **options)

    engine = sqlite_engine(Path(tmp_path) / "a.db", WRITING)
    async with engine.begin() as connection:
        await connection.exec_driver_sql("CREATE TABLE t (x)")
    monkeypatch.setattr(aiosqlite.Connection, "_execute", noted)
    async with engine.begin() as connection:
        await connection.exec_driver_sql("INSERT INTO t VALUES (1)")

    async def fail() -> None:
        async with engine.begin() as connection:
            await connection.exec_driver_sql("INSERT INTO t VALUES (2)")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    async with engine.begin() as connection:
        found = (await connection.exec_driver_sql("SELECT x FROM t")).scalars().all()
    await engine.dispose()

    assert found == [1]
    assert elsewhere.count("commit") == 2
    assert elsewhere.count("rollback") == 1


async def test_a_query_leaves_the_thread_once(tmp_path, monkeypatch) -> None:
    elsewhere: list[str] = []
    execute = aiosqlite.Connection._execute

    async def noted(self, function, *arguments, **options) -> Any:
        elsewhere.append(getattr(function, "__name__", ""))
        return await execute(self, function, *arguments, **options)

    writer = sqlite_engine(Path(tmp_path) / "a.db", WRITING)
    async with writer.begin() as connection:
        await connection.exec_driver_sql("CREATE TABLE t (x)")
        await connection.exec_driver_sql("INSERT INTO t VALUES (?)", [(1,), (2,)])
    engine = sqlite_engine(Path(tmp_path) / "a.db", READING)
    async with engine.connect():
        pass  # the first connection is set up
    monkeypatch.setattr(aiosqlite.Connection, "_execute", noted)
    async with engine.connect() as connection:
        first = (await connection.exec_driver_sql("SELECT x FROM t")).scalars().all()
        second = (await connection.exec_driver_sql("SELECT x FROM t WHERE x > 1")).scalars().all()
        none = (await connection.exec_driver_sql("SELECT x FROM t WHERE x > 2")).scalars().all()
    monkeypatch.setattr(aiosqlite.Connection, "_execute", execute)
    await engine.dispose()
    await writer.dispose()

    assert (first, second, none) == ([1, 2], [2], [])
    assert elsewhere == ["_query"] * 3
