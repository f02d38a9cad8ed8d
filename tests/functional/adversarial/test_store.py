"""Poison messages on PostgreSQL, as tests/adversarial/test_store.py has them on SQLite."""

import asyncio

import pytest

from tests.adversarial.test_store import (
    store,
    test_messages_that_the_database_refuses_stop_no_others,
)
from tests.postgres import create_database, drop_database, server_url

__all__ = ["store", "test_messages_that_the_database_refuses_stop_no_others"]
pytestmark = pytest.mark.postgres


@pytest.fixture
def url():
    """An empty database."""
    server = server_url()
    made = asyncio.run(create_database(server))
    yield made
    asyncio.run(drop_database(server, made))
