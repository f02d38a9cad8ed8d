"""Copies of a gateway's databases: SQLite files, and the tables on a PostgreSQL server."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
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
from gateway.store.sql.engine import ENTITY_VERSIONS, VERSIONS, EntityTables, entities_of
from gateway.store.sql.engines import CONNECT_SECONDS, engines_at, explain, failures
from gateway.store.sql.sqlite import sqlite3
from gateway.store.tables import METADATA
from gateway.workspace import bring_up_to_date, tables_of

# Copies the tables of a gateway on a PostgreSQL server by `COPY`, without another program.
#
# Only rows are copied. A restore makes the tables with the same migrations as before, so it runs no
# statement that comes from a copy.

_DAY: Final = 86_400.0
_SETTINGS: Final = {
    "application_name": "contract-gateway backup",
    "statement_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    # COPY writes values in the session's formats. The defaults of a server or a role may lose
    # precision, or another session may read them differently.
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
    """The tables of one database, in an order that foreign keys allow."""

    tables: Sequence[Table]
    entities: EntityTables | None
    """None for a database without migrations."""


class ServerCopy(Struct, frozen=True, kw_only=True):
    """The contents of a copy, except its rows."""

    revisions: Mapping[str, str]
    """The applied revision by version table."""
    columns: Mapping[str, Sequence[str]]
    """The columns by table, in the order of the tables and of each row's values."""
    sequences: Mapping[str, Mapping[str, int]]
    """The next number by table and column."""


def store_tables(package: str | None) -> ServerTables:
    """The gateway's own tables, and those of the package's entities."""
    entities = entities_of(package)
    return ServerTables(sort_tables([*METADATA.sorted_tables, *entities.tables.values()]), entities)


def workspace_tables(shapes: Iterable[Shape]) -> ServerTables:
    """The tables of the workspace database for `shapes`."""
    return ServerTables(sort_tables(tables_of(shapes).values()), None)


def refuse_unknown(revisions: Mapping[str, str], package: str | None) -> None:
    """Raise `StoreError` for revisions that this version does not have."""
    migrations = entities_of(package).migrations
    if ENTITY_VERSIONS in revisions and migrations is None:
        raise StoreError(
            "it contains tables of entities, and this project's generated package has none; use "
            "the generated package that wrote it"
        )
    folders = {VERSIONS: OWN_REVISIONS, ENTITY_VERSIONS: migrations}
    for table, applied in revisions.items():
        known = folders.get(table)
        if known is None or unknown_revision(known, applied):
            raise StoreError(
                f"its tables are at revision {applied} of {table}, and this version does not have "
                "that revision; install the version that wrote it"
            )


async def copy_rows(
    url: str, label: str, tables: ServerTables, write: Callable[[str, bytes], None]
) -> ServerCopy:
    """Call `write` with the name of a table and data of its rows in the text format of `COPY`.

    All rows are from one snapshot, which is not older than this call. Gateways can write meanwhile.
    Raises `StoreError`, which calls the database `label`.
    """
    # Most gateways keep their state in a file and do not need this library.
    import asyncpg  # type: ignore[import-untyped]  # noqa: PLC0415 - no types; see above

    try:
        connection = await asyncpg.connect(url, timeout=CONNECT_SECONDS, server_settings=_SETTINGS)
        try:
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                return await _copy(connection, tables, write)
        finally:
            await connection.close(timeout=CONNECT_SECONDS)
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, ValueError) as error:
        raise StoreError(f"{label} {explain(error)}") from None


async def _copy(
    connection: Any, tables: ServerTables, write: Callable[[str, bytes], None]
) -> ServerCopy:
    columns: dict[str, list[str]] = {}
    sequences: dict[str, dict[str, int]] = {}
    for table in tables.tables:
        name = table.name
        found = [row["attname"] for row in await connection.fetch(_COLUMNS, _quoted(name))]
        if not found:
            continue

        async def on_data(data: bytes, name: str = name) -> None:
            write(name, data)

        columns[name] = found
        listed = ", ".join(map(_quoted, found))
        query = f"SELECT {listed} FROM {_quoted(name)}"  # noqa: S608 - names of the catalogue, quoted
        await connection.copy_from_query(query, output=on_data)
        for row in await connection.fetch(_SEQUENCES, _quoted(name)):
            query = f"SELECT last_value + is_called::int FROM {row['sequence']}"  # noqa: S608 - quoted by the server
            sequences.setdefault(name, {})[row["attname"]] = await connection.fetchval(query)
    revisions = {} if tables.entities is None else await _server_revisions(connection)
    return ServerCopy(revisions=revisions, columns=columns, sequences=sequences)


async def _server_revisions(connection: Any) -> dict[str, str]:
    found = {}
    for table in (VERSIONS, ENTITY_VERSIONS):
        if await connection.fetchval("SELECT to_regclass($1)", table) is not None:
            query = f"SELECT version_num FROM {table}"  # noqa: S608 - one of two constants
            found[table] = await connection.fetchval(query)
    return {table: str(version) for table, version in found.items() if version is not None}


class ServerRestore:
    """Restores rows in one transaction of a database that has none of the tables."""

    def __init__(self, connection: AsyncConnection, tables: ServerTables, label: str) -> None:
        self._connection = connection
        self._tables = tables
        self._label = label

    async def refuse_existing(self) -> None:
        """Raise `StoreError` when a table exists already: a restore replaces nothing."""
        names = await self._connection.run_sync(lambda sync: inspect(sync).get_table_names())
        existing = sorted({table.name for table in self._tables.tables} & set(names))
        if existing:
            raise StoreError(
                f"{self._label} is not empty: it has the table {existing[0]}; restore into an "
                "empty database"
            )

    async def make_tables(self, copy: ServerCopy) -> None:
        """Create the tables at the copy's revisions, without rows.

        Raises `StoreError` when their columns differ from the copy's.
        """
        if self._tables.entities is None:
            await self._connection.run_sync(bring_up_to_date, self._tables.tables, self._label)
        else:
            await self._migrate(copy.revisions, self._tables.entities)
        names = ", ".join(_quoted(name) for name in copy.columns)
        # A gateway would end a session of its own name that waits for rows, as if it had frozen.
        await self._connection.execute(
            text("SET LOCAL application_name = 'contract-gateway restore'")
        )
        await self._connection.execute(text("SET LOCAL statement_timeout = 0"))
        await self._connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
        driver = await self._driver()
        for table, columns in copy.columns.items():
            made = [row["attname"] for row in await driver.fetch(_COLUMNS, _quoted(table))]
            if set(made) != set(columns):
                column = min(set(made) ^ set(columns)) if made else table
                raise StoreError(
                    f"{self._label}: {column} of {table} is not the same in the backup and in this "
                    "project's contracts; restore with the generated package of the backup"
                )
        if names:
            # Migrations may have added rows.
            await driver.execute(f"TRUNCATE {names}")

    async def _migrate(self, revisions: Mapping[str, str], entities: EntityTables) -> None:
        own, of_entities = revisions.get(VERSIONS), revisions.get(ENTITY_VERSIONS)
        if own is not None:
            await self._connection.run_sync(upgrade, self._label, own)
        if of_entities is not None and entities.migrations is not None:
            await self._connection.run_sync(
                upgrade_entities, self._label, entities.migrations, ENTITY_VERSIONS, of_entities
            )

    async def add(self, table: str, columns: Sequence[str], rows: AsyncIterator[bytes]) -> None:
        """Add rows in the text format of `COPY`."""
        driver = await self._driver()
        await driver.copy_to_table(table, source=rows, columns=list(columns), timeout=_DAY)

    async def changed(self, statement: str) -> list[str]:
        """Change rows, and return the first column that the statement returns."""
        return [row[0] for row in await self._connection.execute(text(statement))]

    async def set_sequences(self, copy: ServerCopy) -> None:
        """Set the sequences to their next numbers."""
        driver = await self._driver()
        for table, columns in copy.sequences.items():
            for column, next_number in columns.items():
                query = "SELECT setval(pg_get_serial_sequence($1, $2), $3, false)"
                await driver.execute(query, _quoted(table), column, next_number)

    async def _driver(self) -> Any:
        raw = await self._connection.get_raw_connection()
        return raw.driver_connection


@asynccontextmanager
async def restoring(url: str, name: str, tables: ServerTables) -> AsyncIterator[ServerRestore]:
    """A transaction at `url`, which is committed if the block ends without an error.

    Raises `StoreError`, which calls the database "the `name`".
    """
    import asyncpg  # noqa: PLC0415 - as in `copy_rows`

    engines = engines_at(url, name)
    try:
        async with failures(engines.label), engines.writer.begin() as connection:
            yield ServerRestore(connection, tables, engines.label)
    except (asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise StoreError(f"{engines.label} {explain(error)}") from None
    finally:
        await engines.dispose()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# Copies SQLite databases. A copy is consistent, also while a gateway writes.

SIGNATURE: Final = b"SQLite format 3\x00"
"""The first bytes of each SQLite database."""
COMPANIONS: Final = ("-wal", "-shm", "-journal")
"""The suffixes of the files that SQLite keeps beside a database."""
_PAGES: Final = 4096
"""Pages in one step of a copy."""


def copy_database(
    source: Path, target: Path, on_progress: Callable[[int, int], None]
) -> dict[str, str]:
    """Copy `source` to the new file `target`. Returns its revisions by version table.

    The copy is one snapshot, which is not older than this call. `on_progress` is called with the
    number of copied pages and of all pages. Raises `StoreError` for a database that is corrupt or
    cannot be read.
    """
    target.touch(mode=0o600, exist_ok=False)
    try:
        with (
            closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=rw", uri=True)) as origin,
            closing(sqlite3.connect(target)) as copy,
        ):
            # Only the gateway's writer may run checkpoints.
            origin.execute("PRAGMA wal_autocheckpoint = 0")
            # One snapshot for all steps. Otherwise each commit of the gateway restarts the copy.
            origin.execute("BEGIN")
            origin.execute("SELECT count(*) FROM sqlite_master").fetchone()
            origin.backup(
                copy, pages=_PAGES, progress=lambda _, left, total: on_progress(total - left, total)
            )
            found = copy.execute("PRAGMA quick_check(1)").fetchone()[0]
            if found != "ok":
                raise StoreError(f"{source} is corrupt ({found}); restore an older backup")
            return _file_revisions(copy)
    except sqlite3.Error as error:
        raise StoreError(f"{source} {explain(error)}") from None


def changed(path: Path, table: str, statement: str) -> list[str]:
    """Change rows of `table`, if the database has it, and return the first column that it returns.

    Raises `StoreError`.
    """
    try:
        with closing(sqlite3.connect(path)) as connection, connection:
            named = connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,))
            is_there = named.fetchone() is not None
            return [row[0] for row in connection.execute(statement)] if is_there else []
    except sqlite3.Error as error:
        raise StoreError(f"{path} {explain(error)}") from None


def _file_revisions(connection: sqlite3.Connection) -> dict[str, str]:
    names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    return {
        table: str(found[0])
        for table in (VERSIONS, ENTITY_VERSIONS)
        if table in names
        and (found := connection.execute(f"SELECT version_num FROM {table}").fetchone())  # noqa: S608 - one of two constants
    }
