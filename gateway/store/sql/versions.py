"""Compares the revisions of a database with those of this gateway.

A database can be newer than the gateway: one of several gateways was updated and has migrated it,
or an update was reverted. Each revision of the gateway's own tables defines the oldest gateway that
can still use them, and the database stores this. Without such a row, no older gateway can use them.
Revisions of entities only add. So a gateway can use tables of entities that have all columns of its
package, if it can leave the other columns empty.
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
