"""Opening the store: its health, its version, its tables."""

import importlib
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from sqlalchemy import inspect, text

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
    """The store at `url`, checked and brought to the current version.

    `url` is `sqlite:///<path>` (`sqlite:////<path>` when absolute), `postgresql://…`, or `memory:`
    for state that ends with the process. `package` is the generated one, whose entities get their
    tables; without it there are none. `clock` is the time where the database has none.
    `policy` says how often the jobs that are made here may be tried.
    Without `is_upgraded`, the database is checked and left as it is: call `SqlStore.upgrade` before
    anything else is asked of it.
    Raises `StoreError`, one line naming the place, when it is corrupt, locked, no database, not
    writable, not to be reached, or newer than this program can work on.
    """
    entities = entities_of(package)
    engines = engines_at(url)
    database = Database(engines, clock or SystemClock())
    store = SqlStore(database, entities.tables, policy, partial(prepare, engines, entities))
    try:
        if is_upgraded:
            await store.upgrade()
        else:
            async with failures(engines.place):
                await check(engines, entities)
    except StoreError:
        await engines.dispose()
        raise
    return store


async def check_file(store: SqlStore) -> None:
    """Read the whole SQLite file of `store`, which takes as long as it is large.

    Raises `StoreError` when it is corrupt. A database on a server checks itself.
    """
    engines = store.database.engines
    if engines.file is None:
        return
    async with failures(engines.place), engines.reader.connect() as connection:
        found = (await connection.execute(text("PRAGMA quick_check(1)"))).scalar_one()
    if found != "ok":
        raise StoreError(f"{engines.place} is corrupt; restore it from a backup")


async def has_tables(store: SqlStore) -> bool:
    """Whether some start has made the gateway's tables. Raises `StoreError`."""
    engines = store.database.engines
    async with failures(engines.place), engines.reader.connect() as connection:
        return await connection.run_sync(lambda sync: inspect(sync).has_table(AGENT_KEYS.name))


def entities_of(package: str | None) -> EntityTables:
    """The entities of the generated `package`; without it there are none."""
    if package is None or find_spec(f"{package}.entities") is None:
        return EntityTables({}, None, None)
    tables = importlib.import_module(f"{package}.entities").TABLES
    migrations = importlib.import_module(f"{package}.migrations")
    return EntityTables(dict(tables), migrations.HEAD, Path(str(migrations.__file__)).parent)
