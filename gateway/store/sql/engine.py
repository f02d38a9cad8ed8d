"""Opens the store: checks its health and version, and creates its tables."""

import importlib
from collections.abc import Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from sqlalchemy import Table, inspect, text

from gateway.clock import Clock, SystemClock
from gateway.errors import StoreError
from gateway.job_policy import WORK_POLICY, WorkPolicy
from gateway.store.sql.database import Database
from gateway.store.sql.engines import engines_at
from gateway.store.sql.failures import failures
from gateway.store.sql.preparing import check, prepare
from gateway.store.sql.store import SqlStore
from gateway.store.sql.versions import EntityTables
from gateway.store.tables.base import AGENT_KEYS


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
