"""Reading the rows of entities, page by page."""

import base64
import binascii
import hashlib
from collections.abc import Mapping
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct
from sqlalchemy import BigInteger, Select, String, Table, select, tuple_

from gateway.contract.rows.entity import ID, UPDATED_AT
from gateway.contract.rows.rows import Shape
from gateway.contract.rows.tables import Tables
from gateway.errors import InvalidArguments
from gateway.store.sql.database import Database
from gateway.store.sql.entities.tables import answered, filters_of, stored
from gateway.store.sql.entities.views import EntityTable

_MARK_LENGTH: Final = 16
_encode: Final = msgspec.json.Encoder(order="sorted").encode


class _Cursor(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """The row after which a page begins, and what binds it to the question."""

    updated_at: Annotated[int, Meta(ge=0, le=2**63 - 1)]
    id: Annotated[str, Meta(pattern="^[0-9a-f-]{36}$")]
    mark: str


class SqlEntities:
    """`Entities` in the tables that the contracts declare."""

    def __init__(self, database: Database, tables: Mapping[str, Table]) -> None:
        self._database = database
        self._tables = tables
        # One per shape for good: a catalogue has few, and statements are compiled once.
        self._views: dict[Shape, EntityTable] = {}

    async def page(
        self, kind: str, filters: Mapping[str, Any], limit: int, cursor: str | None
    ) -> tuple[list[dict[str, Any]], str | None]:
        """See `Entities.page`. A row that is written meanwhile moves to the front."""
        table = self._tables[kind]
        asked = _matching(table, filters)
        if cursor is not None:
            last = _read(cursor, kind, filters)
            place, types = (table.c[UPDATED_AT], table.c[ID]), (BigInteger(), String())
            asked = asked.where(tuple_(*place) < tuple_(last.updated_at, last.id, types=types))
        newest = asked.order_by(table.c[UPDATED_AT].desc(), table.c[ID].desc()).limit(limit + 1)
        rows = await self._database.rows(newest)
        page = [dict(row) for row in rows[:limit]]
        following = _write(page[-1], kind, filters) if len(rows) > limit else None
        return [answered(table, row) for row in page], following

    def tables(self, shape: Shape) -> Tables:
        """See `EntityPages.tables`."""
        if shape not in self._views:
            table = self._tables[str(shape.entity)]
            self._views[shape] = EntityTable(self._database, table, shape)
        return self._views[shape]

    async def get(self, kind: str, entity_id: str) -> dict[str, Any] | None:
        """See `Entities.get`."""
        table = self._tables[kind]
        rows = await self._database.rows(select(table).where(table.c[ID] == entity_id))
        return answered(table, dict(rows[0])) if rows else None


def _matching(table: Table, filters: Mapping[str, Any]) -> Select[Any]:
    if unknown := filters.keys() - filters_of(table):
        raise ValueError(f"{table.name} is not filtered by {', '.join(sorted(unknown))}")
    equal = (table.c[name] == stored(table.c[name], value) for name, value in filters.items())
    return select(table).where(*equal)


def _write(row: Mapping[str, Any], kind: str, filters: Mapping[str, Any]) -> str:
    place = (row[UPDATED_AT], row[ID])
    cursor = _Cursor(*place, _mark(kind, filters, *place))
    return base64.urlsafe_b64encode(msgspec.json.encode(cursor)).decode().rstrip("=")


def _read(text: str, kind: str, filters: Mapping[str, Any]) -> _Cursor:
    """The cursor. Raises `InvalidArguments` for one of another question, or of nobody's."""
    try:
        padded = text.encode("ascii") + b"=" * (-len(text) % 4)
        decoded = base64.b64decode(padded, altchars=b"-_", validate=True)
        cursor = msgspec.json.decode(decoded, type=_Cursor)
    except (UnicodeError, binascii.Error, msgspec.MsgspecError):
        cursor = None
    if cursor is None or cursor.mark != _mark(kind, filters, cursor.updated_at, cursor.id):
        detail = "must be the next_cursor of a page with the same filters; begin without a cursor"
        raise InvalidArguments.at("/cursor", "cursor", detail)
    return cursor


def _mark(kind: str, filters: Mapping[str, Any], updated_at: int, row_id: str) -> str:
    """No secret: it distinguishes a cursor of another query, or a damaged one, from a good one."""
    question = _encode([kind, filters, updated_at, row_id])
    return hashlib.sha256(question).hexdigest()[:_MARK_LENGTH]
