"""What is kept of the tables of entities ends with them: each reload has its own."""

import gc
from datetime import datetime
from weakref import ref

from sqlalchemy import MetaData, Table
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.clock import SystemClock
from gateway.store.sql.database import Database
from gateway.store.sql.engines import engines_at
from gateway.store.sql.entities import write_entities
from tests.conformance.entity_database import change
from tests.conformance.entity_table import KIND, TABLE


async def reloaded() -> "ref[Table]":
    """The table of a generation that has written a row, changed it, and is gone."""
    table = TABLE.to_metadata(MetaData())
    table.info.pop("kept", None)  # what is kept of `TABLE`, if another test has used it
    database = Database(engines_at("memory:"), SystemClock())

    async def write(connection: AsyncConnection, now: datetime) -> None:
        await connection.run_sync(table.create)
        for minute, status in enumerate(("open", "closed")):
            changes = [change({"name": "a", "status": status}, minute)]
            await write_entities(connection, {KIND: table}, changes, now)

    await database.write(write)
    await database.close()
    return ref(table)


async def test_nothing_is_kept_of_the_tables_of_an_earlier_generation() -> None:
    table = await reloaded()
    gc.collect()
    assert table() is None
