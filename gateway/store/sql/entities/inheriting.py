"""Fills columns that rows inherit from the rows that they belong to (`x-entity.inherits`)."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Table, bindparam, select, update
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql.dml import Update

from gateway.contract.rows.entity import ID, UPDATED_AT
from gateway.store.sql.entities.merge import rules_of
from gateway.store.sql.entities.tables import kept, microseconds

_IDS = "_ids"
_NOW = "_now"


async def inherit(
    connection: AsyncConnection,
    tables: Mapping[str, Table],
    written: Mapping[str, Sequence[str]],
    now: datetime,
) -> None:
    """Fill the columns that have no value: of the `written` rows, and of rows that inherit from
    them. `written` has ids by kind. A value that an agent has set stays."""
    for statement, ids in _statements(tables, written):
        await connection.execute(statement, {_IDS: [*ids], _NOW: microseconds(now)})


def _statements(
    tables: Mapping[str, Table], written: Mapping[str, Sequence[str]]
) -> Iterator[tuple[Update, Sequence[str]]]:
    for kind, table in tables.items():
        for column, source in rules_of(table).inherits.items():
            for name, of in ((ID, kind), (source.by, source.kind)):
                if written.get(of):
                    make = partial(_update, table, tables[source.kind], column, source.by, name)
                    yield kept(table, f"inherit {column} by {name}", make), written[of]


def _update(table: Table, source: Table, column: str, by: str, chosen: str) -> Any:
    found = select(source.c[column]).where(source.c[ID] == table.c[by])
    value = found.scalar_subquery()
    return (
        update(table)
        .where(table.c[chosen].in_(bindparam(_IDS, expanding=True)))
        .where(table.c[column].is_(None), value.is_not(None))
        .values({column: value, UPDATED_AT: bindparam(_NOW)})
    )
