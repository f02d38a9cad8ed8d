"""Which revision a database is at, and whether this gateway can work on it.

A database may be newer than the gateway: the update of one of several gateways has migrated it, or
an update was taken back. Each revision of the gateway's own tables says which is the oldest one
whose gateway can go on; the database keeps that. Where it says nothing, no older one can. The
revisions of entities only add, so a gateway can go on when the database has all its columns, and
can be without the others.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection, Table, inspect, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.errors import StoreError
from gateway.store.migrations import HEAD
from gateway.store.sql.engines import Engines
from gateway.store.tables.base import METADATA, OLDEST_READERS

VERSIONS: Final = "alembic_version"
ENTITY_VERSIONS: Final = "entity_version"


class EntityTables(Struct, frozen=True):
    """What the generated package keeps of its entities."""

    tables: dict[str, Table]
    """By kind."""
    head: str | None
    """The newest of its revisions; None where it has none."""
    migrations: Path | None


class Standing(Struct, frozen=True):
    """What a database is missing."""

    needs_own: bool
    needs_entities: bool

    @property
    def is_current(self) -> bool:
        """Whether it is missing nothing."""
        return not (self.needs_own or self.needs_entities)


async def standing_of(
    connection: AsyncConnection, engines: Engines, entities: EntityTables
) -> Standing:
    """Raises `StoreError` for another program's database, and for one that is too new."""
    names = await connection.run_sync(lambda sync: inspect(sync).get_table_names())
    if VERSIONS not in names and (set(names) & set(METADATA.tables) or _is_foreign(engines, names)):
        raise StoreError(f"{engines.label} belongs to another program; name another one")
    own = await _version(connection, names, VERSIONS)
    if _is_newer(own, HEAD):
        await _refuse_unreadable(connection, engines, names)
    version = await _version(connection, names, ENTITY_VERSIONS)
    if entities.head is not None and _is_newer(version, entities.head):
        await connection.run_sync(_refuse_changed, engines, entities)
    return Standing(
        needs_own=own != HEAD and not _is_newer(own, HEAD),
        needs_entities=entities.head is not None
        and version != entities.head
        and not _is_newer(version, entities.head),
    )


def _is_foreign(engines: Engines, names: Sequence[str]) -> bool:
    """A file is one program's; a server's database may hold the tables of several."""
    return bool(METADATA.tables.keys() & names if engines.is_postgres else names)


def _is_newer(version: str | None, known: str) -> bool:
    """Revisions are numbers of four digits, one more each time."""
    return version is not None and version > known


async def _refuse_unreadable(
    connection: AsyncConnection, engines: Engines, names: Sequence[str]
) -> None:
    oldest = None
    if OLDEST_READERS.name in names:
        asked = select(OLDEST_READERS.c.revision).where(OLDEST_READERS.c.tables == "store")
        oldest = await connection.scalar(asked)
    if oldest is None or oldest > HEAD:
        raise StoreError(
            f"{engines.label} was written by a newer version of the gateway, and this one knows "
            f"revision {HEAD} of its tables; install a version that knows {oldest or 'more'}"
        )


def _refuse_changed(connection: Connection, engines: Engines, entities: EntityTables) -> None:
    found = inspect(connection)
    names = found.get_table_names()
    for table in entities.tables.values():
        there = {
            column["name"]: column
            for column in (found.get_columns(table.name) if table.name in names else ())
        }
        odd = [name for name in table.columns.keys() if name not in there]  # noqa: SIM118 - the names
        odd += [
            name
            for name, column in there.items()
            if name not in table.columns and not (column["nullable"] or column.get("default"))
        ]
        if odd:
            raise StoreError(
                f"{engines.label} was changed by a newer generated package, which this one cannot "
                f"work beside: column {odd[0]} of {table.name}; install that package"
            )


async def _version(connection: AsyncConnection, names: Sequence[str], table: str) -> str | None:
    if table not in names:
        return None
    found = await connection.execute(text(f"SELECT version_num FROM {table}"))  # noqa: S608 - one of two constants
    return found.scalar_one_or_none()
