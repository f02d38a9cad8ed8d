"""The rows of an entity as a table of a contract, which agents read and partly change."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import JSON, BigInteger, Boolean, Column, Date, Float, MetaData, Table, Text
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.types import TypeEngine

from gateway.contract.rows.rows import KEY, ColumnKind, Shape
from gateway.contract.rows.tables import Filter, Row, Selection
from gateway.errors import InternalError
from gateway.store.sql.database import Database
from gateway.store.sql.entities.inheriting import inherit
from gateway.store.sql.row_statements import Statements, changed_rows, refuse_many
from gateway.store.tables.base import Moment

_TYPES: Final[Mapping[ColumnKind, TypeEngine[Any]]] = {
    "text": Text(),
    "integer": BigInteger(),
    "number": Float(53),
    "boolean": Boolean(),
    "date": Date(),
    "moment": Moment(),
    "json": JSON(none_as_null=True),
}


class EntityTable:
    """`Tables` with one table, whose rows are those of an entity."""

    def __init__(
        self, database: Database, table: Table, shape: Shape, tables: Mapping[str, Table]
    ) -> None:
        """`tables`: those of all entities by kind, of which some inherit columns of this one."""
        self._database = database
        self._tables = tables
        dialect = "postgresql" if database.is_postgres else "sqlite"
        self._statements = Statements(shape, _view(table, shape), dialect)
        self._shape = shape

    async def select(self, selection: Selection) -> list[Row]:
        """See `Tables.select`."""
        rows = await self._database.rows(self._statements.select(selection))
        return await self._statements.canonical(rows)

    async def insert(self, table: str, rows: Sequence[Mapping[str, Any]]) -> list[Row]:  # noqa: ARG002 - the signature of `Tables`
        """Raise `InternalError`: only webhooks add rows."""
        raise InternalError(f"rows of {table} are added by webhooks")

    async def update(
        self,
        table: str,  # noqa: ARG002 - the signature of `Tables`
        filters: Sequence[Filter],
        values: Mapping[str, Any],
    ) -> list[Row]:
        """See `Tables.update`. Raises `InternalError` for a column that agents may not change."""
        if any(self._shape.owners[name] != "agent" for name in values):
            raise InternalError("a column of another owner reached the database")

        async def change(connection: AsyncConnection, now: datetime) -> list[Row]:
            await refuse_many(connection, self._statements, filters)
            new = self._statements.changes(values, now)
            found = await connection.execute(self._statements.update(filters, new))
            changed = found.mappings().all()
            ids = [row[KEY] for row in changed]
            await inherit(connection, self._tables, {str(self._shape.entity): ids}, now)
            return await changed_rows(self._statements, changed)

        return await self._database.write(change)

    async def delete(self, table: str, filters: Sequence[Filter]) -> list[Row]:  # noqa: ARG002 - the signature of `Tables`
        """Raise `InternalError`: rows of webhooks are not removed."""
        raise InternalError(f"rows of {table} are not removed")


def _view(table: Table, shape: Shape) -> Table:
    """`table` with the columns and the names of `shape`."""
    columns = (
        Column(shape.sources[name], _TYPES[declared.kind], key=name, primary_key=name == KEY)
        for name, declared in shape.columns.items()
    )
    return Table(table.name, MetaData(), *columns)
