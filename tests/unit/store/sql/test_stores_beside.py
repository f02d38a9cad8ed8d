"""A store for other entities on the connections of one that is in use."""

import pytest

from gateway.errors import StoreError
from gateway.store.sql import engine
from gateway.store.sql.engine import EntityTables, open_store, store_beside

PACKAGE = "generated"


async def test_both_use_one_database_and_one_of_them_closes_it() -> None:
    store = await open_store("memory:", PACKAGE)
    beside = store_beside(store, PACKAGE)
    await beside.upgrade()
    assert beside.database is store.database
    assert beside.tables == store.tables
    await store.close()


async def test_a_database_in_memory_cannot_get_other_tables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = await open_store("memory:", PACKAGE)
    monkeypatch.setattr(engine, "entities_of", lambda _: EntityTables({}, None, None))
    with pytest.raises(StoreError, match="other tables of entities while it is in use; restart"):
        store_beside(store, PACKAGE)
    await store.close()
