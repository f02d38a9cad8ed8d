"""Connections to the workspace database, by its URL."""

import importlib
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import AsyncAdaptedQueuePool

from gateway.errors import StoreError
from gateway.store.engine import (
    IN_MEMORY,
    MEMORY_URL,
    READING,
    SQLITE_PREFIXES,
    WRITING,
    refuse_unusable,
    sqlite_engine,
    sqlite_path,
)
from gateway.store.failures import explain

POSTGRES_PREFIXES: Final = ("postgresql://", "postgres://")
CONNECT_SECONDS: Final = 5.0
STATEMENT_SECONDS: Final = 30.0
_CONNECTIONS: Final = 10
_FORMS: Final = "sqlite:///<path>, postgresql://<user>@<host>/<database> or memory:"


class DatabaseFile(Struct, frozen=True):
    """A file as it was when it was opened."""

    path: Path
    device: int
    inode: int

    @classmethod
    def at(cls, path: Path) -> "DatabaseFile":
        found = path.stat()
        return cls(path, found.st_dev, found.st_ino)

    def refuse_lost(self) -> None:
        """Raise `StoreError` when the path leads elsewhere by now.

        SQLite would go on with a file that nobody can open again, and all of it would be lost with
        this process.
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
    """Where the workspace lies: one engine to read, one to write; for some they are the same."""

    reader: AsyncEngine
    writer: AsyncEngine
    place: str
    """How messages call it; never with a password."""
    file: DatabaseFile | None = None

    def refuse_lost(self) -> None:
        """Raise `StoreError` when what is written would be lost, for its file is not there."""
        if self.file is not None:
            self.file.refuse_lost()

    async def dispose(self) -> None:
        """Close every connection."""
        for engine in {self.reader, self.writer}:
            await engine.dispose()


def engines_at(url: str) -> Engines:
    """The engines for `url`; nothing is connected yet.

    Raises `StoreError` for another form of URL, and for a file that cannot be used.
    """
    if url == MEMORY_URL:
        engine = sqlite_engine(IN_MEMORY, WRITING)
        return Engines(engine, engine, "the workspace in memory")
    if url.startswith(SQLITE_PREFIXES):
        path = sqlite_path(url)
        refuse_unusable(path)
        return Engines(
            sqlite_engine(path, READING),
            sqlite_engine(path, WRITING),
            str(path),
            DatabaseFile.at(path.absolute()),
        )
    if url.startswith(POSTGRES_PREFIXES):
        engine = _postgres_engine(url)
        return Engines(engine, engine, "the workspace database")
    raise StoreError(f"the workspace URL has an unknown form; write {_FORMS}")


def _postgres_engine(url: str) -> AsyncEngine:
    return create_async_engine(
        "postgresql+asyncpg://",
        async_creator=partial(_connect, url),
        poolclass=AsyncAdaptedQueuePool,
        pool_size=_CONNECTIONS,
        max_overflow=0,
        pool_timeout=CONNECT_SECONDS,
        pool_pre_ping=True,
        hide_parameters=True,
        json_serializer=_encode,
        json_deserializer=msgspec.json.decode,
    )


async def _connect(url: str) -> Any:
    """A connection. Raises `StoreError`, which says nothing of the URL but what is wrong."""
    # Loaded here: most gateways keep their workspace in a file.
    asyncpg = importlib.import_module("asyncpg")
    try:
        return await asyncpg.connect(
            url,
            timeout=CONNECT_SECONDS,
            command_timeout=STATEMENT_SECONDS,
            server_settings={"application_name": "contract-gateway"},
        )
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, ValueError) as error:
        raise StoreError(f"the workspace database {explain(error)}") from None


def _encode(value: Any) -> str:
    return msgspec.json.encode(value).decode()
