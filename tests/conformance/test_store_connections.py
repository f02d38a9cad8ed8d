"""Each connection of a SQLite file is closed, whatever happens to the store meanwhile."""

import pytest

from gateway.errors import StoreError
from gateway.store.sql.engine import open_store


async def test_a_closed_store_refuses_requests(tmp_path):
    """They would open connections that nobody closes."""
    store = await open_store(f"sqlite:///{tmp_path}/g.db")
    await store.close()
    with pytest.raises(StoreError, match="is closed"):
        await store.audit.latest(1)
    assert store.database.engines.reader.pool.checkedin() == 0


async def test_an_upgrade_loses_no_connection_that_is_in_use(tmp_path):
    """As on each reload, which prepares the database for its entities again."""
    store = await open_store(f"sqlite:///{tmp_path}/g.db")
    async with store.database.engines.reader.connect() as connection:
        held = (await connection.get_raw_connection()).driver_connection
        await store.upgrade()
    await store.close()
    assert held._connection is None
