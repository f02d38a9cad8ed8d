"""Reads the rows of entities page by page."""

import base64
import binascii
import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct
from sqlalchemy import BigInteger, Select, String, Table, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract.rows.entity import ID, UPDATED_AT
from gateway.contract.rows.rows import Shape
from gateway.contract.rows.tables import Tables
from gateway.errors import InvalidArguments
from gateway.store.records import EntityChange
from gateway.store.sql.database import Database
from gateway.store.sql.entities.rows import write_entities
from gateway.store.sql.entities.tables import canonical_row, filters_of, stored
from gateway.store.sql.entities.views import EntityTable

_DIGEST_LENGTH: Final = 16
_encode: Final = msgspec.json.Encoder(order="sorted").encode


class _Cursor(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """The last row of a page, and a digest that binds the cursor to its query."""

    updated_at: Annotated[int, Meta(ge=0, le=2**63 - 1)]
    id: Annotated[str, Meta(pattern="^[0-9a-f-]{36}$")]
    digest: str


class SqlEntities:
    """`Entities` in the tables that the contracts declare."""

    def __init__(self, database: Database, tables: Mapping[str, Table]) -> None:
        self._database = database
        self._tables = tables
        # Kept for each shape, so that statements are compiled once. A catalogue has few shapes.
        self._views: dict[Shape, EntityTable] = {}

    async def page(
        self, kind: str, filters: Mapping[str, Any], limit: int, cursor: str | None
    ) -> tuple[list[dict[str, Any]], str | None]:
        """See `Entities.page`. A row that is written meanwhile moves to the front."""
        table = self._tables[kind]
        query = _matching(table, filters)
        if cursor is not None:
            last = _parse_cursor(cursor, kind, filters)
            order, types = (table.c[UPDATED_AT], table.c[ID]), (BigInteger(), String())
            query = query.where(tuple_(*order) < tuple_(last.updated_at, last.id, types=types))
        newest = query.order_by(table.c[UPDATED_AT].desc(), table.c[ID].desc()).limit(limit + 1)
        rows = await self._database.rows(newest)
        page = [dict(row) for row in rows[:limit]]
        next_cursor = _cursor_text(page[-1], kind, filters) if len(rows) > limit else None
        return [canonical_row(table, row) for row in page], next_cursor

    def tables(self, shape: Shape) -> Tables:
        """See `Entities.tables`."""
        if shape not in self._views:
            table = self._tables[str(shape.entity)]
            self._views[shape] = EntityTable(self._database, table, shape, self._tables)
        return self._views[shape]

    async def write(self, changes: Sequence[EntityChange]) -> None:
        """See `Entities.write`."""

        async def change(connection: AsyncConnection, now: datetime) -> None:
            await write_entities(connection, self._tables, changes, now)

        if changes:
            await self._database.write(change)

    async def get(self, kind: str, entity_id: str) -> dict[str, Any] | None:
        """See `Entities.get`."""
        table = self._tables[kind]
        rows = await self._database.rows(select(table).where(table.c[ID] == entity_id))
        return canonical_row(table, dict(rows[0])) if rows else None


def _matching(table: Table, filters: Mapping[str, Any]) -> Select[Any]:
    if unknown := filters.keys() - filters_of(table):
        raise ValueError(f"{table.name} is not filtered by {', '.join(sorted(unknown))}")
    equal = (table.c[name] == stored(table.c[name], value) for name, value in filters.items())
    return select(table).where(*equal)


def _cursor_text(row: Mapping[str, Any], kind: str, filters: Mapping[str, Any]) -> str:
    last = (row[UPDATED_AT], row[ID])
    cursor = _Cursor(*last, _digest(kind, filters, *last))
    return base64.urlsafe_b64encode(msgspec.json.encode(cursor)).decode().rstrip("=")


def _parse_cursor(text: str, kind: str, filters: Mapping[str, Any]) -> _Cursor:
    """The cursor. Raises `InvalidArguments` if it is not one of this query."""
    try:
        padded = text.encode("ascii") + b"=" * (-len(text) % 4)
        decoded = base64.b64decode(padded, altchars=b"-_", validate=True)
        cursor = msgspec.json.decode(decoded, type=_Cursor)
    except (UnicodeError, binascii.Error, msgspec.MsgspecError):
        cursor = None
    if cursor is None or cursor.digest != _digest(kind, filters, cursor.updated_at, cursor.id):
        detail = "must be the next_cursor of a page with the same filters; begin without a cursor"
        raise InvalidArguments.at("/cursor", "cursor", detail)
    return cursor


def _digest(kind: str, filters: Mapping[str, Any], updated_at: int, row_id: str) -> str:
    """A digest that detects damaged cursors and cursors of other queries. It is not a secret."""
    query = _encode([kind, filters, updated_at, row_id])
    return hashlib.sha256(query).hexdigest()[:_DIGEST_LENGTH]
