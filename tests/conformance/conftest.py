"""Databases for the tests of this folder."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from pathlib import Path

import pytest
from redis import ConnectionError as RedisConnectionError
from redis import Redis
from sqlalchemy import Connection, Table

from gateway.store.sql import engine as preparing
from gateway.store.sql.engine import create_all, open_store
from gateway.store.sql.store import SqlStore
from tests.clocks import ManualClock
from tests.conformance.entity_database import make_entities, make_facts
from tests.postgres import PreparedDatabases, run
from tests.postgrest import backends
from tests.redis_server import RedisServer, own_redis
from tests.work import timed


async def migrate(url: str) -> None:
    """Make the gateway's own tables."""
    await (await open_store(url)).close()


async def migrate_gateway(url: str) -> None:
    """Make the gateway's own tables, and those of the entities of the contracts."""
    await (await open_store(url, "generated")).close()


async def make_upstream(url: str) -> None:
    """Make the tables that Supabase has, and those of the tests."""
    await run(url, backends.scripts())


PREPARED = {
    "store": migrate,
    "gateway": migrate_gateway,
    "entities": make_entities,
    "facts": make_facts,
    "upstream": make_upstream,
    "workspace": backends.make_workspace,
}
"""What there are databases for, and what makes their tables."""


@pytest.fixture(scope="session")
def databases() -> Iterator[PreparedDatabases]:
    """Databases on the server, each made when it is first asked for."""
    prepared = PreparedDatabases()
    yield prepared
    prepared.close()


@pytest.fixture
def fresh_url(databases: PreparedDatabases) -> str:
    """The URL of a database on the server, without tables."""
    return databases.url("fresh")


@pytest.fixture
def prepared_url(databases: PreparedDatabases) -> Callable[[str], str]:
    """The URL of a database on the server with tables of a kind, and without rows."""
    return lambda kind: databases.url(kind, PREPARED[kind])


@pytest.fixture
def migrated_url(prepared_url: Callable[[str], str]) -> str:
    """The URL of a migrated database on the server, without rows."""
    return prepared_url("store")


@pytest.fixture
def upstream_url(prepared_url: Callable[[str], str]) -> str:
    """The URL of a database on the server with the tables of Supabase, without rows."""
    return prepared_url("upstream")


@pytest.fixture
def workspace_url(prepared_url: Callable[[str], str]) -> str:
    """The URL of a database on the server with the tables of a workspace, without rows."""
    return prepared_url("workspace")


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the gateway's tables, to be copied."""
    path = tmp_path_factory.mktemp("migrated") / "gateway.db"
    asyncio.run(migrate(f"sqlite:///{path}"))
    return path


@pytest.fixture(scope="session")
def _redis_server() -> Iterator[RedisServer]:
    with own_redis() as server:
        yield server


@pytest.fixture
def redis(_redis_server: RedisServer) -> RedisServer:
    """A server that holds nothing, and that the test may stop."""
    try:
        _emptied(_redis_server)
    except RedisConnectionError:
        # The test before stopped it.
        _redis_server.start()
        _emptied(_redis_server)
    return _redis_server


def _emptied(server: RedisServer) -> None:
    with Redis.from_url(server.url) as client:
        client.flushall()
        client.script_flush()


@pytest.fixture(scope="session", autouse=True)
def _quick_tables_in_memory() -> Iterator[None]:
    """Make the gateway's tables in memory from the statements that the first such database got.

    SQLAlchemy takes most of the time of a short test to compile them.
    """
    compiled: list[str] = []

    def create(connection: Connection, entities: Collection[Table]) -> None:
        is_new = connection.exec_driver_sql("SELECT 1 FROM sqlite_master").first() is None
        if is_new:
            for statement in compiled:
                connection.exec_driver_sql(statement)
        if entities or not (compiled and is_new):
            create_all(connection, entities)
        if is_new and not (entities or compiled):
            made = "SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY rowid"
            compiled.extend(connection.exec_driver_sql(made).scalars())

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(preparing, "create_all", create)
        yield


@pytest.fixture(params=["memory", "sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def store_url(request, tmp_path) -> str:
    """A database without rows, of every kind that the gateway keeps its state in."""
    return "memory:" if request.param == "memory" else _shared_url(request, tmp_path)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def shared_url(request, tmp_path) -> str:
    """A database without rows that several programs can open."""
    return _shared_url(request, tmp_path)


def _shared_url(request: pytest.FixtureRequest, folder: Path) -> str:
    if request.param == "sqlite":
        path = folder / "gateway.db"
        shutil.copyfile(request.getfixturevalue("migrated_file"), path)
        return f"sqlite:///{path}"
    return request.getfixturevalue("migrated_url")


@pytest.fixture(params=["memory", "sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def gateway_url(request, tmp_path, prepared_url) -> str:
    """Where a whole gateway starts: on the server, the tables of entities are there too."""
    if request.param == "postgres":
        return prepared_url("gateway")
    return "memory:" if request.param == "memory" else _shared_url(request, tmp_path)


@pytest.fixture
async def store(store_url) -> AsyncIterator[SqlStore]:
    opened = await open_store(store_url)
    yield opened
    await opened.close()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def timed_store(store_url, clock) -> AsyncIterator[SqlStore]:
    """A store whose time is the test's, even where the server has its own."""
    opened = await timed(store_url, clock)
    yield opened
    await opened.close()
