"""Checking a database, and bringing it to the current revision."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from gateway.store.sql.engines import Engines
from gateway.store.sql.failures import is_lock_refused, is_out_of_order
from gateway.store.sql.versions import ENTITY_VERSIONS, EntityTables, Standing, standing_of
from gateway.store.tables.base import METADATA

_log: Final = logging.getLogger(__name__)
_LOCK: Final = 0x67617466
"""PostgreSQL's advisory lock under which one start at a time brings the tables up to date."""
_TICK_SECONDS: Final = 10.0
_TRIES: Final = 30
_REST_SECONDS: Final = 1.0
_PROGRESS: Final = text(
    "SELECT c.relname, p.phase, 100 * p.blocks_done / greatest(p.blocks_total, 1) "
    "FROM pg_stat_progress_create_index p JOIN pg_class c ON c.oid = p.index_relid "
    "WHERE p.datname = current_database()"
)


async def check(engines: Engines, entities: EntityTables) -> None:
    """Open the database and change nothing in it.

    Raises `StoreError` for another program's database, and for one that is too new.
    """
    if engines.is_postgres or engines.file is not None:
        async with engines.reader.connect() as connection:
            await standing_of(connection, engines, entities)


async def prepare(engines: Engines, entities: EntityTables) -> None:
    """Bring the database to the current revision, where it is not there or beyond."""
    if engines.is_postgres:
        await _prepare_server(engines, entities)
    elif engines.file is None:
        async with engines.writer.begin() as connection:
            await connection.run_sync(_create_all, entities)
    else:
        await _prepare_file(engines, entities)


def _create_all(connection: Connection, entities: EntityTables) -> None:
    """A database in memory has no past that a revision could lead it from."""
    METADATA.create_all(connection)
    for table in entities.tables.values():
        table.create(connection)


async def _prepare_file(engines: Engines, entities: EntityTables) -> None:
    """Bring the file to the head, under the write lock, so that two starts do not clash.

    A start reads little of a file: whether all of it is sound, `check_file` says.
    """
    async with engines.reader.connect() as connection:
        if not (await standing_of(connection, engines, entities)).is_current:
            # Before the lock is taken, for others who start at the same moment wait for it.
            _load_alembic()
    # That connection may have seen the file before the writer turned it to write-ahead logging.
    await engines.reader.dispose()
    async with engines.writer.begin() as connection:
        standing = await standing_of(connection, engines, entities)
        if not standing.is_current:
            await _migrate(connection, engines, entities, standing)


async def _prepare_server(engines: Engines, entities: EntityTables) -> None:
    async with engines.writer.connect() as connection:
        if (await standing_of(connection, engines, entities)).is_current:
            return
    _load_alembic()
    if engines.maintenance is None:
        raise TypeError("a server has connections for maintenance")
    async with engines.maintenance.begin() as guard, _ticking(engines.maintenance):
        # Held by its own transaction, which outlives those of the revisions, and which no
        # proxy moves to another session. While another start migrates, this one waits.
        await guard.execute(text("SET LOCAL lock_timeout = 0"))
        await guard.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        # A transaction keeps the snapshot of its last query, which an index that is built beside it
        # would wait for; after this statement it has none.
        await guard.execute(text("SET LOCAL lock_timeout = 0"))
        async with engines.maintenance.connect() as connection:
            await _migrate_server(connection, engines, entities)


def _load_alembic() -> None:
    """Have it loaded. Most starts find the database at its head, and do without it."""
    import gateway.store.migrations.upgrade  # noqa: F401, PLC0415 - see above


async def _migrate_server(
    connection: AsyncConnection, engines: Engines, entities: EntityTables
) -> None:
    refusals = 0
    while not (standing := await standing_of(connection, engines, entities)).is_current:
        await connection.rollback()
        # One after the other: each must find the connection in no transaction.
        next_one = Standing(standing.needs_own, standing.needs_entities and not standing.needs_own)
        try:
            await _migrate(connection, engines, entities, next_one)
        except DBAPIError as error:
            refusals += 1
            may_pass = is_lock_refused(error) or is_out_of_order(error)
            if refusals == _TRIES or not may_pass:
                raise
            _log.info("a table to be migrated is in use; trying again")
            await asyncio.sleep(_REST_SECONDS)
        await connection.rollback()


async def _migrate(
    connection: AsyncConnection, engines: Engines, entities: EntityTables, standing: Standing
) -> None:
    from gateway.store.migrations.upgrade import (  # noqa: PLC0415 - see `_load_alembic`
        upgrade,
        upgrade_entities,
    )

    _log.info("migrating %s; a large database takes longer", engines.label)
    if standing.needs_own:
        await connection.run_sync(upgrade, engines.label)
    if standing.needs_entities and entities.migrations is not None:
        await connection.run_sync(
            upgrade_entities, engines.label, entities.migrations, ENTITY_VERSIONS
        )


@asynccontextmanager
async def _ticking(engine: AsyncEngine) -> AsyncIterator[None]:
    """Say every ten seconds that a migration is under way, and how far an index is."""

    async def tick() -> None:
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            _log.info("the database is being migrated%s", await _progress(engine))

    ticking = asyncio.create_task(tick())
    try:
        yield
    finally:
        ticking.cancel()
        await asyncio.gather(ticking, return_exceptions=True)


async def _progress(engine: AsyncEngine) -> str:
    async with engine.connect() as connection:
        rows = (await connection.execute(_PROGRESS)).all()
    return "".join(f"; index {name}: {phase}, {percent} %" for name, phase, percent in rows)
