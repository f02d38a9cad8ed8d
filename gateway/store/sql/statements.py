"""Statements and values for both SQLite and PostgreSQL."""

from typing import Any

import msgspec
from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection


def insert_into(connection: AsyncConnection, table: Table) -> Any:
    """An INSERT with `on_conflict_…` methods, in the dialect of the connection's database."""
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    return dialect.insert(table)


def as_json(value: Any) -> str:
    """JSON text, which databases store unchanged."""
    return msgspec.json.encode(value).decode()
