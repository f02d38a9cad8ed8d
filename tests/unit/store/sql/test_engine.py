"""Opening a database: what it becomes, and what is said when it cannot be used."""

import asyncio
import socket
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from asyncpg.exceptions import ConnectionDoesNotExistError
from sqlalchemy import create_engine, inspect, select, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.errors import StoreError
from gateway.store.migrations import HEAD
from gateway.store.migrations.upgrade import migration_config, upgrade
from gateway.store.protocols import AgentKey
from gateway.store.sql.engine import open_store
from gateway.store.sql.engines import explain
from gateway.store.sql.sqlite import READING, sqlite3, sqlite_engine
from gateway.store.sql.store import SqlStore
from gateway.store.tables import METADATA, OLDEST_READERS

NOW = datetime(2026, 11, 20, tzinfo=UTC)
KEY = AgentKey(id="key_1", agent="a", label="l", digest="d" * 64, created_at=NOW)


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "data" / "gateway.db"


async def prepared(path: Path) -> Path:
    """A database with one key in it, closed again."""
    store = await open_store(f"sqlite:///{path}")
    await store.keys.add(KEY)
    await store.close()
    return path


def engines_of(store: SqlStore) -> tuple[AsyncEngine, AsyncEngine]:
    engines = store.database.engines
    return engines.reader, engines.writer


async def refusal(path: Path) -> str:
    with pytest.raises(StoreError) as refused:
        await open_store(f"sqlite:///{path}")
    message = str(refused.value)
    assert str(path) in message
    assert "\n" not in message
    return message


def database_threads() -> set[threading.Thread]:
    return {each for each in threading.enumerate() if "_connection_worker" in each.name}


async def test_what_was_stored_is_there_after_a_restart(path) -> None:
    await prepared(path)

    store = await open_store(f"sqlite:///{path}")

    assert await store.keys.list() == [KEY]
    await store.close()


async def test_a_name_that_means_something_in_a_url_is_just_a_name(tmp_path) -> None:
    path = tmp_path / "50% off?#.db"

    await prepared(path)

    assert path.exists()


async def test_the_database_and_its_folder_are_the_owners_alone(path) -> None:
    await prepared(path)

    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


async def test_the_connections_are_durable_and_cache_little(path) -> None:
    store = await open_store(f"sqlite:///{path}")

    pragmas = {}
    for name, engine in zip(("reader", "writer"), engines_of(store), strict=True):
        async with engine.connect() as connection:
            for pragma in (
                "journal_mode",
                "synchronous",
                "busy_timeout",
                "foreign_keys",
                "cache_size",
            ):
                found = await connection.exec_driver_sql(f"PRAGMA {pragma}")
                pragmas[name, pragma] = found.scalar_one()
    await store.close()

    for name in ("reader", "writer"):
        assert pragmas[name, "journal_mode"] == "wal"
        assert pragmas[name, "synchronous"] == 2
        assert pragmas[name, "cache_size"] == -512
        assert pragmas[name, "busy_timeout"] == 5000
        assert pragmas[name, "foreign_keys"] == 1


async def test_a_write_transaction_holds_the_lock_from_its_start(path) -> None:
    """One that took it later could find that another program had written in between."""
    store = await open_store(f"sqlite:///{path}")
    other = sqlite3.connect(path, timeout=0, isolation_level=None)
    reader, writer = engines_of(store)

    async with reader.connect() as connection:
        await connection.exec_driver_sql("SELECT * FROM agent_keys")
        other.execute("BEGIN IMMEDIATE")
        other.execute("ROLLBACK")
    async with writer.begin():
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")

    other.close()
    await store.close()


async def test_two_programs_may_write_at_the_same_time(path) -> None:
    """Write transactions begin immediate, so that they wait for each other and never fail."""
    stores = [await open_store(f"sqlite:///{path}") for _ in range(3)]

    await asyncio.gather(
        *(
            store.keys.add(AgentKey(id=f"{n}", agent="", label="", digest=f"{n}", created_at=NOW))
            for n, store in enumerate(stores * 10)
        )
    )

    assert len(await stores[0].keys.list()) == 30
    for store in stores:
        await store.close()


async def test_programs_that_start_together_make_one_database(path) -> None:
    stores = await asyncio.gather(*(open_store(f"sqlite:///{path}") for _ in range(4)))

    await stores[0].keys.add(KEY)

    assert await stores[3].keys.list() == [KEY]
    for store in stores:
        await store.close()


async def test_a_file_that_is_no_database_is_refused_and_left_alone(path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"these are my notes\n" * 500)

    assert "is not a SQLite database; move it away" in await refusal(path)
    assert path.read_bytes() == b"these are my notes\n" * 500


async def test_a_corrupt_database_is_refused(path) -> None:
    await prepared(path)
    content = path.read_bytes()
    path.write_bytes(content[:4096] + bytes(byte ^ 0x5A for byte in content[4096:]))

    assert "is corrupt; restore it from a backup" in await refusal(path)


async def test_a_truncated_database_is_refused(path) -> None:
    await prepared(path)
    path.write_bytes(path.read_bytes()[:6000])

    assert "is corrupt" in await refusal(path)


async def test_a_database_of_another_program_is_refused_and_left_alone(path) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE notes (text)")
    connection.close()
    content = path.read_bytes()

    assert "belongs to another program" in await refusal(path)
    assert path.read_bytes()[100:] == content[100:]


async def test_a_folder_in_place_of_the_file_is_refused(path) -> None:
    path.mkdir(parents=True)

    assert "is a folder" in await refusal(path)


async def test_a_folder_that_cannot_be_made_is_refused(tmp_path) -> None:
    (tmp_path / "file").touch()

    assert "cannot be created" in await refusal(tmp_path / "file" / "gateway.db")


async def test_a_file_that_cannot_be_opened_is_refused_before_any_thread_starts(path) -> None:
    """A socket in its place: permissions would not keep root out."""
    before = database_threads()
    path.parent.mkdir()
    with socket.socket(socket.AF_UNIX) as taken:
        taken.bind(str(path))

        message = await refusal(path)

    assert "cannot be opened; make the file and its folder writable" in message
    assert database_threads() - before == set()


async def test_a_connection_that_fails_has_ended_its_thread(path) -> None:
    """The thread answers to the event loop: one that outlived it would complain on the way out."""
    before = database_threads()
    engine = sqlite_engine(path, READING)

    with pytest.raises(OperationalError):
        await engine.connect()

    assert database_threads() - before == set()
    await engine.dispose()


async def test_a_locked_database_is_refused(path, monkeypatch) -> None:
    await prepared(path)
    monkeypatch.setattr("gateway.store.sql.sqlite.BUSY_MILLISECONDS", 20)
    monkeypatch.setattr("gateway.store.sql.sqlite.STARTING_MILLISECONDS", 20)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")

    message = await refusal(path)

    other.close()
    assert "is locked by another program" in message


async def test_a_start_waits_for_a_start_that_migrates(path, monkeypatch) -> None:
    """On a busy machine, migrations may take longer than a message may wait."""
    await prepared(path)
    monkeypatch.setattr("gateway.store.sql.sqlite.BUSY_MILLISECONDS", 20)
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    opening = asyncio.create_task(open_store(f"sqlite:///{path}"))
    await asyncio.sleep(0.1)
    assert not opening.done()
    other.execute("ROLLBACK")
    other.close()

    store = await opening
    _, writer = engines_of(store)
    async with writer.connect() as connection:
        assert (await connection.exec_driver_sql("PRAGMA busy_timeout")).scalar_one() == 20
    await store.close()


async def test_a_start_waits_for_one_that_writes_the_new_file(path) -> None:
    """SQLite refuses to switch such a file to write-ahead logging, and does not wait for it."""
    path.parent.mkdir()
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    opening = asyncio.create_task(open_store(f"sqlite:///{path}"))
    await asyncio.sleep(0.1)
    assert not opening.done()
    other.execute("ROLLBACK")
    other.close()

    store = await opening
    assert await store.keys.list() == []
    await store.close()


async def test_a_database_of_a_newer_version_is_refused(path) -> None:
    await prepared(path)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.execute("UPDATE oldest_readers SET revision = '9998'")
    connection.close()

    said = await refusal(path)

    assert "was written by a newer version" in said
    assert "install a version with revision 9998" in said


def test_a_revision_that_names_no_oldest_reader_can_be_read_by_no_older_one() -> None:
    """Forgetting it must not let through a gateway that finds other tables than it knows."""
    step = SimpleNamespace(
        is_upgrade=True, up_revision_id="0099", up_revision=SimpleNamespace(module=object())
    )
    with create_engine("sqlite://").begin() as connection:
        OLDEST_READERS.create(connection)
        migration_config().attributes["on_version_apply"](
            ctx=SimpleNamespace(connection=connection), step=step
        )
        assert connection.execute(select(OLDEST_READERS.c.revision)).scalar_one() == "0099"


async def test_a_database_of_a_newer_version_that_only_added_is_opened_as_it_is(path) -> None:
    await prepared(path)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.execute("ALTER TABLE agent_keys ADD COLUMN more TEXT")
    connection.close()

    store = await open_store(f"sqlite:///{path}")

    assert await store.keys.list() == [KEY]
    await store.close()
    with sqlite3.connect(path) as connection:
        found = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    connection.close()
    assert found == [("9999",)]


async def test_a_database_that_is_only_checked_is_left_as_it_is(path) -> None:
    store = await open_store(f"sqlite:///{path}", is_upgraded=False)
    await store.close()
    assert path.read_bytes() == b""

    again = await open_store(f"sqlite:///{path}", is_upgraded=False)
    await again.upgrade()
    assert await again.keys.list() == []
    await again.close()


@pytest.mark.parametrize("url", ["sqlite:///", "mysql://me:word@db/x", "gateway.db"])
async def test_an_unknown_kind_of_url_is_refused_without_being_repeated(url) -> None:
    with pytest.raises(StoreError) as refused:
        await open_store(url)

    assert "word" not in str(refused.value)
    assert "sqlite:///<path>" in str(refused.value)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("SQLITE_READONLY_DIRECTORY", "cannot be written"),
        ("SQLITE_CANTOPEN", "cannot be opened"),
        ("SQLITE_FULL", "disk is full"),
        ("SQLITE_IOERR_FSYNC", "disk failed"),
        ("SQLITE_SCHEMA", "failed (SQLITE_SCHEMA)"),
    ],
)
def test_what_the_disk_does_is_reported_in_plain_words(name, said) -> None:
    error = sqlite3.OperationalError("the text of the driver")
    error.sqlite_errorname = name

    assert said in explain(error)


def test_a_session_that_the_server_ended_is_reported_in_plain_words() -> None:
    assert explain(ConnectionDoesNotExistError()) == "ended the connection; try again"


def test_the_migrations_end_where_the_tables_are(tmp_path) -> None:
    """A change of the tables without a migration, or of neither HEAD nor file, shows here."""
    engine = create_engine(f"sqlite:///{tmp_path}/gateway.db")
    with engine.begin() as connection:
        upgrade(connection, "gateway.db")
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        differences = compare_metadata(context, METADATA)
    engine.dispose()

    assert differences == []
    assert ScriptDirectory.from_config(migration_config()).get_current_head() == HEAD


def test_a_new_file_is_what_the_migrations_make(tmp_path) -> None:
    """Its tables, indexes and constraints, and what it says of its revision."""
    asyncio.run(prepared(tmp_path / "new.db"))
    migrated = create_engine(f"sqlite:///{tmp_path}/migrated.db")
    with migrated.begin() as connection:
        upgrade(connection, "migrated.db")

    assert described(f"sqlite:///{tmp_path}/new.db") == described(str(migrated.url))


def described(url: str) -> dict[str, Any]:
    engine = create_engine(url)
    found = inspect(engine)
    tables = {
        table: {
            "columns": {
                column["name"]: (str(column["type"]), column["nullable"], column["default"])
                for column in found.get_columns(table)
            },
            "primary_key": found.get_pk_constraint(table)["constrained_columns"],
            "unique": sorted(map(str, found.get_unique_constraints(table))),
            "checks": sorted(map(str, found.get_check_constraints(table))),
            "foreign_keys": sorted(map(str, found.get_foreign_keys(table))),
        }
        for table in found.get_table_names()
    }
    with engine.connect() as connection:
        revision = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
        readers = connection.execute(text("SELECT tables, revision FROM oldest_readers")).all()
        others = connection.execute(
            text("SELECT type, name, sql FROM sqlite_master WHERE type != 'table' ORDER BY name")
        ).all()
    engine.dispose()
    return {"tables": tables, "revision": revision, "readers": readers, "others": others}


def test_a_database_at_its_head_is_opened_without_alembic(tmp_path) -> None:
    asyncio.run(prepared(tmp_path / "gateway.db"))
    for name in [name for name in sys.modules if name.startswith("gateway.store.migrations.up")]:
        del sys.modules[name]

    asyncio.run(prepared_again(tmp_path / "gateway.db"))

    assert "gateway.store.migrations.upgrade" not in sys.modules


async def prepared_again(path: Path) -> None:
    store = await open_store(f"sqlite:///{path}")
    await store.close()
