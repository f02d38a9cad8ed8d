"""The checks of `gateway doctor` on the database."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from gateway.settings import Settings
from gateway.store.sql.engine import check_file, has_tables, open_store
from gateway.store.sql.store import SqlStore

_TICK_SECONDS: Final = 5.0
_MEGABYTE: Final = 1_000_000

Report = Callable[[str], None]
"""A function that receives a line about the progress."""


async def examine_database(settings: Settings, report: Report) -> tuple[str, int]:
    """The location of the database, without password, and the number of keys in it.

    Changes nothing. Reads the whole SQLite file, and reports its progress every five seconds.
    Raises `StoreError` for a database that cannot be opened or read, and for a corrupt file.
    """
    store = await open_store(settings.database, settings.package, is_upgraded=False)
    try:
        async with _reporting(store, report):
            await check_file(store)
        # Without tables there are no keys yet. The next start creates both.
        return store.label, len(await store.keys.list()) if await has_tables(store) else 0
    finally:
        await store.close()


@asynccontextmanager
async def _reporting(store: SqlStore, report: Report) -> AsyncIterator[None]:
    file = store.database.engines.file
    size = f" of {file.path.stat().st_size // _MEGABYTE} MB" if file is not None else ""

    async def tick() -> None:
        seconds = 0.0
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            seconds += _TICK_SECONDS
            report(f"reading {store.label}{size}: {seconds:.0f} s so far")

    ticking = asyncio.create_task(tick())
    try:
        yield
    finally:
        ticking.cancel()
