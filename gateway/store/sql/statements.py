"""Statements and values that SQLite and PostgreSQL take alike."""

from typing import Any

import msgspec
from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection


def insert_into(connection: AsyncConnection, table: Table) -> Any:
    """An INSERT that knows ON CONFLICT, in the words of the connection's database."""
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    return dialect.insert(table)


def as_json(value: Any) -> str:
    """JSON text: no database may reinterpret it."""
    return msgspec.json.encode(value).decode()
