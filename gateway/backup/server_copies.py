"""Copies of a gateway's tables on a PostgreSQL server, by COPY alone: no other program is needed.

The rows are copied, not the tables: those are made by the migrations that made them before, so no
statement ever comes out of a copy.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from msgspec import Struct
from sqlalchemy import Table, inspect, text
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql.ddl import sort_tables

from gateway.contract.rows.rows import Shape
from gateway.errors import StoreError
from gateway.store.migrations.upgrade import (
    OWN_REVISIONS,
    unknown_revision,
    upgrade,
    upgrade_entities,
)
from gateway.store.sql.engine import entities_of
from gateway.store.sql.engines import CONNECT_SECONDS, engines_at
from gateway.store.sql.failures import explain, failures
from gateway.store.sql.versions import ENTITY_VERSIONS, VERSIONS, EntityTables
from gateway.store.tables.base import METADATA
from gateway.workspace.tables import bring_up_to_date, tables_of

_DAY: Final = 86_400.0
_SETTINGS: Final = {
    "application_name": "contract-gateway backup",
    "statement_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    # COPY writes values as the session shows them, and the server's or the role's default may show
    # less than there is, or what another session reads otherwise.
    "DateStyle": "ISO",
    "IntervalStyle": "postgres",
    "bytea_output": "hex",
    "extra_float_digits": "3",
}
_COLUMNS: Final = """
SELECT attname FROM pg_attribute
WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""
_SEQUENCES: Final = """
SELECT attname, pg_get_serial_sequence($1, attname) AS sequence FROM pg_attribute
WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped
AND pg_get_serial_sequence($1, attname) IS NOT NULL
"""


class ServerTables(Struct, frozen=True):
    """The tables that belong to one database, in an order in which rows can be added."""

    tables: Sequence[Table]
    entities: EntityTables | None
    """None for a database that the migrations know nothing of."""


class ServerCopy(Struct, frozen=True, kw_only=True):
    """What a copy holds, beside the rows."""

    revisions: Mapping[str, str]
    columns: Mapping[str, Sequence[str]]
    """By table, in the order of the tables and of each row's values."""
    sequences: Mapping[str, Mapping[str, int]]
    """By table and column: the next number."""


def store_tables(package: str | None) -> ServerTables:
    """The gateway's own tables, and those of the package's entities."""
    entities = entities_of(package)
    return ServerTables(sort_tables([*METADATA.sorted_tables, *entities.tables.values()]), entities)


def workspace_tables(shapes: Iterable[Shape]) -> ServerTables:
    """The tables of these shapes."""
    return ServerTables(sort_tables(tables_of(shapes).values()), None)


def refuse_unknown(revisions: Mapping[str, str], package: str | None) -> None:
    """Raise `StoreError` for tables that this version cannot have made: a newer one did."""
    migrations = entities_of(package).migrations
    if ENTITY_VERSIONS in revisions and migrations is None:
        raise StoreError(
            "it holds the tables of entities, and this project's generated package has none; use "
            "the generated package that wrote it"
        )
    folders = {VERSIONS: OWN_REVISIONS, ENTITY_VERSIONS: migrations}
    for table, applied in revisions.items():
        folder = folders.get(table)
        if folder is None or unknown_revision(folder, applied):
            raise StoreError(
                f"its tables are at revision {applied} of {table}, which this version does not "
                "know; install the version that wrote it"
            )


async def copy_rows(
    url: str, place: str, wanted: ServerTables, take: Callable[[str, bytes], None]
) -> ServerCopy:
    """Give every row of the tables to `take`, by table, as COPY writes it.

    All of it is what had been committed at one moment, at the earliest that of the call; the
    gateways go on. Raises `StoreError`, which calls the database `place`.
    """
    # Most gateways keep their state in a file.
    import asyncpg  # type: ignore[import-untyped]  # noqa: PLC0415 - no types; see above

    try:
        connection = await asyncpg.connect(url, timeout=CONNECT_SECONDS, server_settings=_SETTINGS)
        try:
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                return await _copied(connection, wanted, take)
        finally:
            await connection.close(timeout=CONNECT_SECONDS)
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, ValueError) as error:
        raise StoreError(f"{place} {explain(error)}") from None


async def _copied(
    connection: Any, wanted: ServerTables, take: Callable[[str, bytes], None]
) -> ServerCopy:
    columns: dict[str, list[str]] = {}
    sequences: dict[str, dict[str, int]] = {}
    for table in wanted.tables:
        name = table.name
        found = [row["attname"] for row in await connection.fetch(_COLUMNS, _quoted(name))]
        if not found:
            continue

        async def taken(data: bytes, name: str = name) -> None:
            take(name, data)

        columns[name] = found
        listed = ", ".join(map(_quoted, found))
        query = f"SELECT {listed} FROM {_quoted(name)}"  # noqa: S608 - names of the catalogue, quoted
        await connection.copy_from_query(query, output=taken)
        for row in await connection.fetch(_SEQUENCES, _quoted(name)):
            query = f"SELECT last_value + is_called::int FROM {row['sequence']}"  # noqa: S608 - quoted by the server
            sequences.setdefault(name, {})[row["attname"]] = await connection.fetchval(query)
    revisions = {} if wanted.entities is None else await _revisions(connection)
    return ServerCopy(revisions=revisions, columns=columns, sequences=sequences)


async def _revisions(connection: Any) -> dict[str, str]:
    found = {}
    for table in (VERSIONS, ENTITY_VERSIONS):
        if await connection.fetchval("SELECT to_regclass($1)", table) is not None:
            query = f"SELECT version_num FROM {table}"  # noqa: S608 - one of two constants
            found[table] = await connection.fetchval(query)
    return {table: str(version) for table, version in found.items() if version is not None}


class ServerRestore:
    """Rows on their way back, in one transaction of a database without such tables."""

    def __init__(self, connection: AsyncConnection, wanted: ServerTables, place: str) -> None:
        self._connection = connection
        self._wanted = wanted
        self._place = place

    async def refuse_taken(self) -> None:
        """Raise `StoreError` where a table is there already: a restore replaces nothing."""
        names = await self._connection.run_sync(lambda sync: inspect(sync).get_table_names())
        taken = sorted({table.name for table in self._wanted.tables} & set(names))
        if taken:
            raise StoreError(
                f"{self._place} is not empty: it has the table {taken[0]}; restore into a new one"
            )

    async def make_tables(self, copy: ServerCopy) -> None:
        """Make the tables as they were at the copy's revisions, without any row."""
        if self._wanted.entities is None:
            await self._connection.run_sync(bring_up_to_date, self._wanted.tables, self._place)
        else:
            await self._migrate(copy.revisions, self._wanted.entities)
        names = ", ".join(_quoted(name) for name in copy.columns)
        await self._connection.execute(text("SET LOCAL statement_timeout = 0"))
        await self._connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
        driver = await self._driver()
        for table, columns in copy.columns.items():
            made = [row["attname"] for row in await driver.fetch(_COLUMNS, _quoted(table))]
            if set(made) != set(columns):
                odd = min(set(made) ^ set(columns)) if made else table
                raise StoreError(
                    f"{self._place}: {odd} of {table} is not the same in the backup and in this "
                    "project's contracts; restore with the generated package of the backup"
                )
        if names:
            # Migrations may have added their own rows.
            await driver.execute(f"TRUNCATE {names}")

    async def _migrate(self, revisions: Mapping[str, str], entities: EntityTables) -> None:
        own, theirs = revisions.get(VERSIONS), revisions.get(ENTITY_VERSIONS)
        if own is not None:
            await self._connection.run_sync(upgrade, self._place, own)
        if theirs is not None and entities.migrations is not None:
            await self._connection.run_sync(
                upgrade_entities, self._place, entities.migrations, ENTITY_VERSIONS, theirs
            )

    async def add(self, table: str, columns: Sequence[str], rows: AsyncIterator[bytes]) -> None:
        """Add rows as COPY wrote them."""
        driver = await self._driver()
        await driver.copy_to_table(table, source=rows, columns=list(columns), timeout=_DAY)

    async def set_sequences(self, copy: ServerCopy) -> None:
        """Let numbers go on where they were."""
        driver = await self._driver()
        for table, columns in copy.sequences.items():
            for column, following in columns.items():
                query = "SELECT setval(pg_get_serial_sequence($1, $2), $3, false)"
                await driver.execute(query, _quoted(table), column, following)

    async def _driver(self) -> Any:
        raw = await self._connection.get_raw_connection()
        return raw.driver_connection


@asynccontextmanager
async def restoring(url: str, name: str, wanted: ServerTables) -> AsyncIterator[ServerRestore]:
    """One transaction at `url`; it is committed when the block ends well.

    Raises `StoreError`, which calls the database "the `name`".
    """
    import asyncpg  # noqa: PLC0415 - as in `copy_rows`

    engines = engines_at(url, name)
    try:
        async with failures(engines.place), engines.writer.begin() as connection:
            yield ServerRestore(connection, wanted, engines.place)
    except (asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise StoreError(f"{engines.place} {explain(error)}") from None
    finally:
        await engines.dispose()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
