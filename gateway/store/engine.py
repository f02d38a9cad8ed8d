"""Opening the store: its health, its version, its tables."""

import importlib
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection, Table, inspect, text
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway import failpoints
from gateway.clock import Clock, SystemClock
from gateway.errors import StoreError
from gateway.store.database import Database
from gateway.store.engines import Engines, engines_at
from gateway.store.failures import failures
from gateway.store.migrations import HEAD
from gateway.store.sql_store import SqlStore
from gateway.store.tables import METADATA

_MIGRATE: Final = "gateway.store.migrations.upgrade"
_VERSIONS: Final = "alembic_version"
_ENTITY_VERSIONS: Final = "entity_version"
_LOCK: Final = 0x67617466
"""PostgreSQL's advisory lock under which one start at a time brings the tables up to date."""
_MIGRATION_WAIT: Final = "60s"
_ALTER_WAIT: Final = "2s"


class EntityTables(Struct, frozen=True):
    """What the generated package keeps of its entities."""

    tables: dict[str, Table]
    """By kind."""
    head: str | None
    """The newest of its revisions; None where it has none."""
    migrations: Path | None


async def open_store(url: str, package: str | None = None, clock: Clock | None = None) -> SqlStore:
    """The store at `url`, checked and brought to the current version.

    `url` is `sqlite:///<path>` (`sqlite:////<path>` when absolute), `postgresql://…`, or `memory:`
    for state that ends with the process. `package` is the generated one, whose entities get their
    tables; without it there are none. `clock` is the time where the database has none of its own.
    Raises `StoreError`, one line naming the place, when it is corrupt, locked, no database, not
    writable, not to be reached, or newer than this program.
    """
    entities = _entities_of(package)
    engines = engines_at(url)
    try:
        async with failures(engines.place):
            await _prepare(engines, entities)
    except StoreError:
        await engines.dispose()
        raise
    return SqlStore(Database(engines, clock or SystemClock()), entities.tables)


def _entities_of(package: str | None) -> EntityTables:
    if package is None or find_spec(f"{package}.entities") is None:
        return EntityTables({}, None, None)
    tables = importlib.import_module(f"{package}.entities").TABLES
    migrations = importlib.import_module(f"{package}.migrations")
    return EntityTables(dict(tables), migrations.HEAD, Path(str(migrations.__file__)).parent)


async def _prepare(engines: Engines, entities: EntityTables) -> None:
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
    """Check the file, and bring it to the head.

    The check takes no lock, because it takes as long as the file is large; the migration holds the
    write lock, so that two starts do not clash.
    """
    async with engines.reader.connect() as connection:
        found = (await connection.execute(text("PRAGMA quick_check(1)"))).scalar_one()
        if found != "ok":
            raise StoreError(f"{engines.place} is corrupt; restore it from a backup")
        if not await _is_current(connection, engines, entities):
            # Alembic is loaded only here, for most starts find the database at its head; and before
            # the lock is taken, for others who start at the same moment wait for it.
            importlib.import_module(_MIGRATE)
    # That connection may have seen the file before the writer turned it to write-ahead logging.
    await engines.reader.dispose()
    async with engines.writer.begin() as connection:
        if not await _is_current(connection, engines, entities):
            await _migrate(connection, engines, entities)


async def _prepare_server(engines: Engines, entities: EntityTables) -> None:
    async with engines.writer.connect() as connection:
        if await _is_current(connection, engines, entities):
            return
    importlib.import_module(_MIGRATE)
    async with engines.writer.begin() as connection:
        await connection.execute(text(f"SET LOCAL lock_timeout = '{_MIGRATION_WAIT}'"))
        await connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        # A table that others use is not waited for: whoever waits to alter one makes others wait.
        await connection.execute(text(f"SET LOCAL lock_timeout = '{_ALTER_WAIT}'"))
        if not await _is_current(connection, engines, entities):
            await _migrate(connection, engines, entities)


async def _migrate(connection: AsyncConnection, engines: Engines, entities: EntityTables) -> None:
    migration = importlib.import_module(_MIGRATE)
    await connection.run_sync(migration.upgrade, engines.place)
    if entities.migrations is not None:
        await connection.run_sync(
            migration.upgrade_entities, engines.place, entities.migrations, _ENTITY_VERSIONS
        )
    failpoints.hit("migration.before_commit")


async def _is_current(
    connection: AsyncConnection, engines: Engines, entities: EntityTables
) -> bool:
    names = await connection.run_sync(lambda sync: inspect(sync).get_table_names())
    if _VERSIONS not in names and (
        set(names) & set(METADATA.tables) or _is_foreign(engines, names)
    ):
        raise StoreError(f"{engines.place} belongs to another program; name another one")
    return await _version(connection, names, _VERSIONS) == HEAD and (
        entities.head is None
        or await _version(connection, names, _ENTITY_VERSIONS) == entities.head
    )


def _is_foreign(engines: Engines, names: Sequence[str]) -> bool:
    """A file is one program's; a server's database may hold the tables of several."""
    return bool(METADATA.tables.keys() & names if engines.is_postgres else names)


async def _version(connection: AsyncConnection, names: Sequence[str], table: str) -> str | None:
    if table not in names:
        return None
    found = await connection.execute(text(f"SELECT version_num FROM {table}"))  # noqa: S608 - one of two constants
    return found.scalar_one_or_none()
