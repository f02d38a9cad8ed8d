"""Connections to SQLite: what runs in their thread, and one server for each file."""

import asyncio
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiosqlite
import pytest

from gateway.app import Gateway
from gateway.errors import StoreError
from gateway.settings import read_settings
from gateway.store.sql.engine import open_store
from gateway.store.sql.sqlite import READING, WRITING, only_server, sqlite3, sqlite_engine


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


@pytest.fixture
def url(tmp_path) -> str:
    return f"sqlite:///{tmp_path}/data/gateway.db"


@pytest.fixture
def holder(url) -> Iterator[None]:
    """A server of the file, which is this process too."""
    with only_server(url):
        yield


def refusal(*urls) -> str:
    with pytest.raises(StoreError) as refused, only_server(*urls):
        pytest.fail("both serve it")
    return str(refused.value)


def test_a_second_server_is_refused_and_informed_who_is_there(url, holder, tmp_path) -> None:
    said = refusal(url)

    assert f"{tmp_path}/data/gateway.db is in use by another gateway" in said
    assert f"process {os.getpid()} on " in said
    assert "stop that one, or name another folder with --data" in said


def test_it_is_the_file_that_counts_and_not_its_name(url, holder, tmp_path) -> None:
    (tmp_path / "other").symlink_to(tmp_path / "data")

    assert "is in use" in refusal(f"sqlite:///{tmp_path}/other/gateway.db")


async def test_others_may_open_the_file_meanwhile(url, holder) -> None:
    store = await open_store(url)

    assert await store.keys.list() == []
    await store.close()


def test_a_folder_that_holds_no_lock_is_named(tmp_path) -> None:
    (tmp_path / "file").touch()

    assert f"{tmp_path}/file/gateway.db.lock cannot be created" in refusal(
        f"sqlite:///{tmp_path}/file/gateway.db"
    )


def test_what_is_no_file_needs_no_lock(url) -> None:
    with only_server("memory:", "postgresql://a@b/c"), only_server("memory:"):
        pass


def test_a_full_disk_takes_the_note_and_not_the_lock(url, monkeypatch) -> None:
    def _fail(*_) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gateway.store.sql.sqlite.os.pwrite", _fail)
    with only_server(url):
        assert "is in use by another gateway; stop" in refusal(url)


def test_two_urls_of_one_file_are_one_lock(url) -> None:
    with only_server(url, url):
        pass


def test_a_lock_file_that_somebody_wrote_shows_nothing_odd(url, tmp_path) -> None:
    with only_server(url):
        (tmp_path / "data" / "gateway.db.lock").write_text("\x1b[31mred")

        assert "\x1b" not in refusal(url)


async def test_gateways_on_one_server_may_share_a_data_folder(tmp_path) -> None:
    """Their workspace is a file in it; `memory:` stands for a store that is no file."""
    shared = read_settings({"GATEWAY_DATABASE_URL": "memory:"}, None, {"data": tmp_path})
    async with Gateway.open(shared, is_server=True), Gateway.open(shared, is_server=True):
        pass
