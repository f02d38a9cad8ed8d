"""Databases for the tests of this folder."""

import asyncio
from collections.abc import Callable, Iterator

import pytest

from tests.postgres import create_database, drop_database, server_url


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


@pytest.fixture
def fresh_url(new_database: Callable[[], str]) -> str:
    """The URL of a database without tables."""
    return new_database()
