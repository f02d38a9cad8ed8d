"""Opens the store: checks its health and version, and creates its tables.

A database can be newer than the gateway: one of several gateways was updated and has migrated it,
or an update was reverted. Each revision of the gateway's own tables defines the oldest gateway that
can still use them, and the database stores this. Without such a row, no older gateway can use them.
Revisions of entities only add. So a gateway can use tables of entities that have all columns of its
package, if it can leave the other columns empty.
"""

import asyncio
import importlib
import logging
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from msgspec import Struct
from sqlalchemy import Column, Connection, MetaData, String, Table, inspect, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlalchemy.orm import configure_mappers

from gateway.clock import Clock, SystemClock
from gateway.errors import StoreError
from gateway.failpoints import hit
from gateway.job_policy import WORK_POLICY, WorkPolicy
from gateway.store.migrations import HEAD, OLDEST_READER
from gateway.store.sql import sqlite as file
from gateway.store.sql.database import Database
from gateway.store.sql.engines import (
    Engines,
    engines_at,
    failures,
    is_lock_refused,
    is_serialization_failure,
)
from gateway.store.sql.sqlite import wait_for_lock
from gateway.store.sql.store import SqlStore
from gateway.store.tables import AGENT_KEYS, METADATA, OLDEST_READERS

VERSIONS: Final = "alembic_version"
ENTITY_VERSIONS: Final = "entity_version"
_VERSION: Final = "version_num"
"""The name and type that Alembic gives it."""
_log: Final = logging.getLogger(__name__)
_LOCK: Final = 0x67617466
"""The advisory lock of PostgreSQL that lets one start at a time migrate."""
_REPORT_SECONDS: Final = 10.0
_TRIES: Final = 30
_RETRY_SECONDS: Final = 1.0
_PROGRESS: Final = text(
    "SELECT c.relname, p.phase, 100 * p.blocks_done / greatest(p.blocks_total, 1) "
    "FROM pg_stat_progress_create_index p JOIN pg_class c ON c.oid = p.index_relid "
    "WHERE p.datname = current_database()"
)


class EntityTables(Struct, frozen=True):
    """The entities of the generated package."""

    tables: dict[str, Table]
    """The tables by kind."""
    head: str | None
    """The newest revision, or None if there are none."""
    migrations: Path | None
    """The folder of the revisions."""


class PendingMigrations(Struct, frozen=True):
    """Which tables of a database need migrations."""

    needs_own: bool
    needs_entities: bool
    is_new: bool = False
    """Whether the database is an SQLite file without any table."""

    @property
    def is_empty(self) -> bool:
        """Whether all tables are current."""
        return not (self.needs_own or self.needs_entities)


def newest_revisions(entities: EntityTables) -> dict[str, str]:
    """The newest revisions by version table."""
    newest = {} if entities.head is None else {ENTITY_VERSIONS: entities.head}
    return {VERSIONS: HEAD, **newest}


async def pending_migrations(
    connection: AsyncConnection, engines: Engines, entities: EntityTables
) -> PendingMigrations:
    """The migrations that the database needs.

    Raises `StoreError` for a database of another program, and for one that is too new.
    """
    names = await connection.run_sync(lambda sync: inspect(sync).get_table_names())
    if VERSIONS not in names and (set(names) & set(METADATA.tables) or _is_foreign(engines, names)):
        raise StoreError(f"{engines.label} belongs to another program; name another one")
    own = await _version(connection, names, VERSIONS)
    if _is_newer(own, HEAD):
        await _refuse_unreadable(connection, engines, names)
    version = await _version(connection, names, ENTITY_VERSIONS)
    if entities.head is not None and _is_newer(version, entities.head):
        await connection.run_sync(_refuse_changed, engines, entities)
    return PendingMigrations(
        needs_own=own != HEAD and not _is_newer(own, HEAD),
        needs_entities=entities.head is not None
        and version != entities.head
        and not _is_newer(version, entities.head),
        is_new=not (names or engines.is_postgres),
    )


def _is_foreign(engines: Engines, names: Sequence[str]) -> bool:
    """Whether the tables `names` are another program's.

    A file belongs to one program. A database on a server can have tables of several programs.
    """
    return bool(METADATA.tables.keys() & names if engines.is_postgres else names)


def _is_newer(version: str | None, known: str) -> bool:
    """Whether `version` is newer than `known`. Revisions are ascending numbers of four digits."""
    return version is not None and version > known


async def _refuse_unreadable(
    connection: AsyncConnection, engines: Engines, names: Sequence[str]
) -> None:
    oldest = None
    if OLDEST_READERS.name in names:
        query = select(OLDEST_READERS.c.revision).where(OLDEST_READERS.c.tables == "store")
        oldest = await connection.scalar(query)
    if oldest is None or oldest > HEAD:
        needed = "a newer version" if oldest is None else f"a version with revision {oldest}"
        raise StoreError(
            f"{engines.label} was written by a newer version of the gateway, and this version has "
            f"revision {HEAD} of the tables; install {needed}"
        )


def _refuse_changed(connection: Connection, engines: Engines, entities: EntityTables) -> None:
    found = inspect(connection)
    names = found.get_table_names()
    for table in entities.tables.values():
        existing = {
            column["name"]: column
            for column in (found.get_columns(table.name) if table.name in names else ())
        }
        unusable = [name for name in table.columns.keys() if name not in existing]  # noqa: SIM118 - the names
        unusable += [
            name
            for name, column in existing.items()
            if name not in table.columns and not (column["nullable"] or column.get("default"))
        ]
        if unusable:
            raise StoreError(
                f"{engines.label} was changed by a newer generated package, and this package does "
                f"not match column {unusable[0]} of {table.name}; install the newer package"
            )


async def _version(connection: AsyncConnection, names: Sequence[str], table: str) -> str | None:
    if table not in names:
        return None
    found = await connection.execute(text(f"SELECT version_num FROM {table}"))  # noqa: S608 - one of two constants
    return found.scalar_one_or_none()


def create_all(connection: Connection, entities: Iterable[Table]) -> None:
    """Create the current tables that do not exist. `entities` are those of entities."""
    METADATA.create_all(connection)
    for table in entities:
        table.create(connection, checkfirst=True)


def create_at_head(
    connection: Connection, entities: Iterable[Table], revisions: Mapping[str, str]
) -> None:
    """Create the current tables in an empty file, and store that no revision is missing.

    `revisions` are the newest ones by version table. This takes a third of the processor time of
    all revisions, and a start needs no Alembic.
    """
    create_all(connection, entities)
    connection.execute(OLDEST_READERS.insert().values(tables="store", revision=OLDEST_READER))
    for name, revision in revisions.items():
        _store_version(connection, name, revision)
    hit("migration.before_commit")


def _store_version(connection: Connection, name: str, revision: str) -> None:
    table = Table(name, MetaData(), Column(_VERSION, String(32), primary_key=True, nullable=False))
    table.create(connection, checkfirst=False)
    connection.execute(table.insert().values({_VERSION: revision}))


async def check(engines: Engines, entities: EntityTables) -> None:
    """Check a database without changing it.

    Raises `StoreError` for a database of another program, and for one that is too new.
    """
    if engines.is_postgres or engines.file is not None:
        async with engines.reader.connect() as connection:
            await pending_migrations(connection, engines, entities)


async def prepare(engines: Engines, entities: EntityTables) -> None:
    """Migrate the database to the current revision, unless it has that or a newer one."""
    if engines.is_postgres:
        await _prepare_server(engines, entities)
    elif engines.file is None:
        async with engines.writer.begin() as connection:
            # A database in memory is never migrated.
            await connection.run_sync(create_all, entities.tables.values())
    else:
        await _prepare_file(engines, entities)


async def _prepare_file(engines: Engines, entities: EntityTables) -> None:
    """Migrate a file under the write lock, so that two starts do not conflict.

    This does not read the whole file. To check all of it, use `check_file`.
    """
    async with engines.reader.connect() as connection:
        pending = await pending_migrations(connection, engines, entities)
        if not (pending.is_empty or pending.is_new):
            # Load it before taking the lock, because other starts wait for the lock.
            _load_alembic()
        # It may have opened the file before the writer switched it to write-ahead logging. Others
        # of its pool may be in use: a reload prepares a database that is served.
        await connection.invalidate()
    async with engines.writer.connect() as connection:
        await wait_for_lock(connection, file.STARTING_MILLISECONDS)
        async with connection.begin():
            pending = await pending_migrations(connection, engines, entities)
            if pending.is_new:
                tables = entities.tables.values()
                await connection.run_sync(create_at_head, tables, newest_revisions(entities))
            elif not pending.is_empty:
                await _migrate(connection, engines, entities, pending)
        await wait_for_lock(connection, file.BUSY_MILLISECONDS)


async def _prepare_server(engines: Engines, entities: EntityTables) -> None:
    async with engines.writer.connect() as connection:
        if (await pending_migrations(connection, engines, entities)).is_empty:
            return
    _load_alembic()
    if engines.maintenance is None:
        raise TypeError("a server has connections for maintenance")
    async with engines.maintenance.begin() as lock, _reporting(engines.maintenance):
        # A transaction of its own holds the lock: it lasts longer than those of the revisions, and
        # a proxy cannot move it to another session. While another start migrates, this one waits.
        await lock.execute(text("SET LOCAL lock_timeout = 0"))
        await lock.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        # A concurrent build of an index waits for transactions that have a snapshot. After this
        # statement, this transaction has none.
        await lock.execute(text("SET LOCAL lock_timeout = 0"))
        await _migrate_server(engines.maintenance, engines, entities)


def _load_alembic() -> None:
    """Import Alembic. Most starts do not need it, because the database is current."""
    import gateway.store.migrations.upgrade  # noqa: F401, PLC0415 - see above


async def _migrate_server(
    maintenance: AsyncEngine, engines: Engines, entities: EntityTables
) -> None:
    failures = 0
    is_current = False
    while not is_current:
        try:
            # A failed attempt leaves its settings in its session, so each has its own connection.
            async with maintenance.connect() as connection:
                is_current = await _take_step(connection, engines, entities)
        except DBAPIError as error:
            failures += 1
            is_temporary = is_lock_refused(error) or is_serialization_failure(error)
            if failures == _TRIES or not is_temporary:
                raise
            _log.info("a table to be migrated is in use; trying again")
            await asyncio.sleep(_RETRY_SECONDS)


async def _take_step(connection: AsyncConnection, engines: Engines, entities: EntityTables) -> bool:
    """Migrate the gateway's own tables, or else those of the entities.

    Returns whether there was nothing to migrate.
    """
    pending = await pending_migrations(connection, engines, entities)
    # Each migration must begin outside of a transaction.
    await connection.rollback()
    if not pending.is_empty:
        next_step = PendingMigrations(
            pending.needs_own, pending.needs_entities and not pending.needs_own
        )
        await _migrate(connection, engines, entities, next_step)
    return pending.is_empty


async def _migrate(
    connection: AsyncConnection,
    engines: Engines,
    entities: EntityTables,
    pending: PendingMigrations,
) -> None:
    from gateway.store.migrations.upgrade import (  # noqa: PLC0415 - see `_load_alembic`
        upgrade,
        upgrade_entities,
    )

    _log.info("migrating %s; a large database takes longer", engines.label)
    if pending.needs_own:
        await connection.run_sync(upgrade, engines.label)
    if pending.needs_entities and entities.migrations is not None:
        await connection.run_sync(
            upgrade_entities, engines.label, entities.migrations, ENTITY_VERSIONS
        )


@asynccontextmanager
async def _reporting(engine: AsyncEngine) -> AsyncIterator[None]:
    """Log every ten seconds that a migration runs, and the progress of its index."""

    async def report() -> None:
        while True:
            await asyncio.sleep(_REPORT_SECONDS)
            _log.info("the database is being migrated%s", await _progress(engine))

    reporter = asyncio.create_task(report())
    try:
        yield
    finally:
        reporter.cancel()
        await asyncio.gather(reporter, return_exceptions=True)


async def _progress(engine: AsyncEngine) -> str:
    async with engine.connect() as connection:
        rows = (await connection.execute(_PROGRESS)).all()
    return "".join(f"; index {name}: {phase}, {percent} %" for name, phase, percent in rows)


async def open_store(
    url: str,
    package: str | None = None,
    clock: Clock | None = None,
    *,
    policy: WorkPolicy = WORK_POLICY,
    is_upgraded: bool = True,
) -> SqlStore:
    """The store at `url`, checked and upgraded to the current version.

    `url` is `sqlite:///<path>` (`sqlite:////<path>` if absolute), `postgresql://…`, or `memory:`
    for state that ends with the process. `package` is the generated package. Its entities get
    tables; without it there are none. `clock` is used where the database has no clock of its own.
    `policy` defines how often jobs that this store creates may be tried.
    If `is_upgraded` is false, the database is only checked. Then call `SqlStore.upgrade` before any
    other method.
    Raises `StoreError` with one line that names the database, when it is corrupt, locked, not a
    database, not writable, not reachable, or too new for this program.
    """
    # The first session would do it, and let calls wait for tens of milliseconds.
    configure_mappers()
    entities = entities_of(package)
    engines = engines_at(url)
    database = Database(engines, clock or SystemClock())
    store = SqlStore(database, entities.tables, policy, partial(prepare, engines, entities))
    try:
        if is_upgraded:
            await store.upgrade()
        else:
            async with failures(engines.label):
                await check(engines, entities)
    except StoreError:
        await engines.dispose()
        raise
    return store


def store_beside(store: SqlStore, package: str, policy: WorkPolicy = WORK_POLICY) -> SqlStore:
    """Another store on the connections of `store`, with the entities that `package` has now.

    Call `SqlStore.upgrade` before any other method. Only `store` is closed. Raises `StoreError` if
    the entities have changed and the database is in memory, which is never migrated.
    """
    engines, entities = store.database.engines, entities_of(package)
    is_in_memory = engines.file is None and not engines.is_postgres
    if is_in_memory and _shape_of(entities.tables) != _shape_of(store.tables):
        raise StoreError(
            f"{engines.label} cannot get other tables of entities while it is in use; restart, or"
            " use a file"
        )
    return SqlStore(store.database, entities.tables, policy, partial(prepare, engines, entities))


def _shape_of(tables: Mapping[str, Table]) -> dict[str, list[str]]:
    return {kind: [repr(column) for column in table.columns] for kind, table in tables.items()}


async def check_file(store: SqlStore) -> None:
    """Check the SQLite file of `store` by reading all of it. The time grows with its size.

    Raises `StoreError` when it is corrupt. Does nothing for a database on a server.
    """
    engines = store.database.engines
    if engines.file is None:
        return
    async with failures(engines.label), engines.reader.connect() as connection:
        found = (await connection.execute(text("PRAGMA quick_check(1)"))).scalar_one()
    if found != "ok":
        raise StoreError(f"{engines.label} is corrupt; restore it from a backup")


async def has_tables(store: SqlStore) -> bool:
    """Whether the gateway's tables exist. Raises `StoreError`."""
    engines = store.database.engines
    async with failures(engines.label), engines.reader.connect() as connection:
        return await connection.run_sync(lambda sync: inspect(sync).has_table(AGENT_KEYS.name))


def entities_of(package: str | None) -> EntityTables:
    """The entities of the generated `package`. None gives no entities."""
    if package is None or find_spec(f"{package}.entities") is None:
        return EntityTables({}, None, None)
    tables = importlib.import_module(f"{package}.entities").TABLES
    migrations = importlib.import_module(f"{package}.migrations")
    return EntityTables(dict(tables), migrations.HEAD, Path(str(migrations.__file__)).parent)
