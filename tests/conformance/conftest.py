"""Databases for the tests of this folder."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from gateway.store.sql.engine import open_store
from gateway.store.sql.store import SqlStore
from tests.clocks import ManualClock
from tests.postgres import create_database, drop_database, empty_database, server_url
from tests.work import timed


@pytest.fixture(scope="module")
def new_database() -> Iterator[Callable[[], str]]:
    """Makes databases of the module's own, dropped after its tests."""
    made: list[str] = []

    def make() -> str:
        made.append(asyncio.run(create_database(server_url())))
        return made[-1]

    yield make
    for url in made:
        asyncio.run(drop_database(server_url(), url))


@pytest.fixture(scope="session")
def common_url() -> Iterator[str]:
    """The URL of one database for the tests that use one after the other."""
    url = asyncio.run(create_database(server_url()))
    yield url
    asyncio.run(drop_database(server_url(), url))


@pytest.fixture
def fresh_url(common_url: str) -> str:
    """The URL of a database without tables."""
    asyncio.run(empty_database(common_url))
    return common_url


@pytest.fixture(params=["memory", "sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def store_url(request, tmp_path) -> str:
    """An empty database of every kind that the gateway keeps its state in."""
    match request.param:
        case "memory":
            return "memory:"
        case "sqlite":
            return f"sqlite:///{tmp_path}/gateway.db"
        case _:
            return request.getfixturevalue("fresh_url")


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def shared_url(request, tmp_path) -> str:
    """An empty database that several programs can open."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/gateway.db"
    return request.getfixturevalue("fresh_url")


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
