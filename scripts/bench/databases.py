"""Databases of PostgreSQL that last as long as a measurement."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from uuid import uuid4

import asyncpg  # type: ignore[import-untyped]  # it ships no types
from processes import BenchError

SERVER: Final = "postgresql://postgres@127.0.0.1:5432/postgres"
"""The default server."""


@contextmanager
def new_database(server: str) -> Iterator[str]:
    """The URL of a new database of `server`, which is dropped at the end of the block.

    Raises `BenchError` if the server does not answer.
    """
    name = f"gateway_bench_{uuid4().hex[:12]}"
    asyncio.run(_execute(server, f'create database "{name}"'))
    try:
        yield f"{server.rpartition('/')[0]}/{name}"
    finally:
        asyncio.run(_execute(server, f'drop database "{name}" with (force)'))


async def _execute(server: str, statement: str) -> None:
    try:
        connection = await asyncpg.connect(server)
    except (OSError, asyncpg.PostgresError) as error:
        # The URL may have a password.
        host = server.rpartition("@")[2]
        raise BenchError(f"PostgreSQL at {host} does not answer: {error}") from error
    await connection.execute(statement)
    await connection.close()
