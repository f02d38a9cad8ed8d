"""Connections to a database of the gateway, from its URL."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import AsyncAdaptedQueuePool, NullPool

from gateway.errors import StoreError
from gateway.store.sql.failures import explain
from gateway.store.sql.sqlite.connection import WRITING
from gateway.store.sql.sqlite.file import (
    IN_MEMORY,
    READERS,
    READING,
    SQLITE_PREFIXES,
    refuse_unusable,
    sqlite_engine,
    sqlite_path,
)

MEMORY_URL: Final = "memory:"
POSTGRES_PREFIXES: Final = ("postgresql://", "postgres://")
CONNECT_SECONDS: Final = 5.0
STATEMENT_SECONDS: Final = 30.0
_CONNECTIONS: Final = 10
_FORMS: Final = "sqlite:///<path>, postgresql://<user>@<host>/<database> or memory:"
_DURABLE: Final = frozenset({"on", "remote_apply"})
_SERVER_SETTINGS: Final = {
    "application_name": "contract-gateway",
    # A commit is on the disk when it is acknowledged. The default of a server or role may differ.
    "synchronous_commit": "on",
    "lock_timeout": "5s",
    "statement_timeout": f"{STATEMENT_SECONDS:.0f}s",
    # A queue can grow from nothing to a hundred thousand rows within a minute. A plan for the empty
    # queue must not be kept for the full one.
    "plan_cache_mode": "force_custom_plan",
    # A process that hangs in a transaction would keep its rows locked for all others.
    "idle_in_transaction_session_timeout": "20s",
}
_MAINTENANCE: Final = {
    **_SERVER_SETTINGS,
    # Wait only a short time to alter a table: other statements wait behind the one that waits.
    "lock_timeout": "2s",
    # Building an index of millions of rows takes minutes, and no other start may run meanwhile.
    "statement_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
}
"""The settings of connections for migrations."""


class DatabaseFile(Struct, frozen=True):
    """Identifies a database file as it was opened."""

    path: Path
    device: int
    inode: int

    @classmethod
    def at(cls, path: Path) -> "DatabaseFile":
        found = path.stat()
        return cls(path, found.st_dev, found.st_ino)

    def refuse_lost(self) -> None:
        """Raise `StoreError` if the path now names another file or none.

        SQLite would continue to use the old file, which no program can open again. All data would
        be lost when this process ends.
        """
        try:
            is_same = DatabaseFile.at(self.path) == self
        except OSError:
            is_same = False
        if not is_same:
            raise StoreError(
                f"{self.path} was deleted or replaced while it was in use; put the right file "
                "there, and restart"
            )


class Engines(Struct, frozen=True):
    """The engines of a database: one to read, one to write. They can be the same."""

    reader: AsyncEngine
    writer: AsyncEngine
    label: str
    """The name of the database in messages. It never contains a password."""
    file: DatabaseFile | None = None
    reads_at_once: int | None = None
    """How many reads have a connection at the same time. None: as many as the pool has."""
    maintenance: AsyncEngine | None = None
    """Connections to a server without a time limit for statements."""

    @property
    def is_postgres(self) -> bool:
        return self.writer.dialect.name == "postgresql"

    def refuse_lost(self) -> None:
        """Raise `StoreError` if the database file is gone, so that writes would be lost."""
        if self.file is not None:
            self.file.refuse_lost()

    def cancelled(self) -> StoreError:
        """The error of a request that the database ended, not its caller."""
        return StoreError(f"{self.label} cancelled the request; try again")

    def closed(self) -> StoreError:
        """The error of a request after the end."""
        return StoreError(f"{self.label} is closed")

    async def dispose(self) -> None:
        """Close all connections. With the last one, SQLite writes its log into the database."""
        await self.reader.dispose()
        if self.writer is not self.reader:
            await self.writer.dispose()


def engines_at(url: str, name: str = "database") -> Engines:
    """The engines for `url`, not connected yet. Messages call the database "the `name`".

    Raises `StoreError` for any other form of URL and for a file that cannot be used.
    """
    if url == MEMORY_URL:
        engine = sqlite_engine(IN_MEMORY, WRITING)
        return Engines(engine, engine, f"the {name} in memory", reads_at_once=1)
    if url.startswith(SQLITE_PREFIXES):
        path = sqlite_path(url)
        refuse_unusable(path)
        return Engines(
            sqlite_engine(path, READING),
            sqlite_engine(path, WRITING),
            str(path),
            DatabaseFile.at(path.absolute()),
            READERS,
        )
    if url.startswith(POSTGRES_PREFIXES):
        reader = _postgres_engine(url, f"the {name}")
        writer = reader.execution_options(isolation_level="READ COMMITTED")
        maintenance = create_async_engine(
            "postgresql+asyncpg://",
            async_creator=partial(_connect, url, f"the {name}", _MAINTENANCE, None),
            poolclass=NullPool,
            hide_parameters=True,
        )
        return Engines(reader, writer, f"the {name}", maintenance=maintenance)
    raise StoreError(f"the URL of the {name} has an unknown form; write {_FORMS}")


def _postgres_engine(url: str, label: str) -> AsyncEngine:
    return create_async_engine(
        "postgresql+asyncpg://",
        async_creator=partial(_connect, url, label, _SERVER_SETTINGS, STATEMENT_SECONDS),
        poolclass=AsyncAdaptedQueuePool,
        pool_size=_CONNECTIONS,
        max_overflow=0,
        pool_timeout=CONNECT_SECONDS,
        pool_pre_ping=True,
        # A read is one statement, or some that need no common snapshot. A transaction around it,
        # and around each ping, would take four more messages to the server.
        isolation_level="AUTOCOMMIT",
        hide_parameters=True,
        json_serializer=_encode,
        json_deserializer=msgspec.json.decode,
    )


async def _connect(url: str, label: str, settings: Mapping[str, str], seconds: float | None) -> Any:
    """A connection. Raises `StoreError`, whose message contains no part of the URL."""
    # Most gateways keep their state in a file and do not need this library.
    import asyncpg  # type: ignore[import-untyped]  # noqa: PLC0415 - no types; see above

    try:
        connection = await asyncpg.connect(
            url,
            timeout=CONNECT_SECONDS,
            command_timeout=seconds,
            server_settings=settings,
        )
        synchronous_commit = await connection.fetchval("SHOW synchronous_commit")
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, ValueError) as error:
        raise StoreError(f"{label} {explain(error)}") from None
    if synchronous_commit not in _DURABLE:
        await connection.close()
        raise StoreError(
            f"{label} acknowledges commits before they are on the disk; let the server, or the "
            "proxy in front of it, accept synchronous_commit = on"
        )
    return connection


def _encode(value: Any) -> str:
    return msgspec.json.encode(value).decode()
