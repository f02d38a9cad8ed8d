"""Writes the rows of entities.

Messages arrive late, twice and in any order. In one transaction, their rows are locked, each
message is merged into its row (`gateway.store.sql.entities.merge`), and changed rows are written.
So two workers cannot overwrite each other's changes.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final, TypeAlias

from sqlalchemy import Table, bindparam, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql.dml import Update

from gateway.contract.entity_keys import entity_id
from gateway.contract.rows.entity import ID
from gateway.store.records import EntityChange
from gateway.store.sql.entities.inheriting import inherit
from gateway.store.sql.entities.merge import Row, merged, new_row
from gateway.store.sql.entities.tables import kept, key_of, microseconds

_Insert: TypeAlias = "sqlite.Insert | postgresql.Insert"
_ROWS_PER_STATEMENT: Final = 200
"""How many rows one statement reads."""
_ROW_ID: Final = "_which"
"""The parameter with the id of the row. No column can have this name."""


async def write_entities(
    connection: AsyncConnection,
    tables: Mapping[str, Table],
    changes: Sequence[EntityChange],
    now: datetime,
) -> None:
    """Write `changes` in the caller's transaction. `now` is the store's time.

    Rows are locked in the order of kind and id, so that deadlocks are rare. Changes of one row are
    merged in their order. Raises `ValueError` for a change without its key.
    """
    by_kind: dict[str, dict[str, list[EntityChange]]] = {}
    for change in changes:
        key = {name: change.values.get(name) for name in key_of(tables[change.kind])}
        row_id = entity_id(change.kind, key)
        by_kind.setdefault(change.kind, {}).setdefault(row_id, []).append(change)
    written = {kind: [*pending] for kind, pending in by_kind.items()}
    for kind, pending in sorted(by_kind.items()):
        await _write(connection, tables[kind], pending, microseconds(now))
    await inherit(connection, tables, written, now)


async def _write(
    connection: AsyncConnection, table: Table, pending: dict[str, list[EntityChange]], now: int
) -> None:
    """Repeat until all changes are written.

    A row that another transaction adds meanwhile is found by the next repetition.
    """
    while pending:
        rows = await _locked(connection, table, sorted(pending))
        changed: list[Row] = []
        for row_id, row in rows.items():
            after = _merge_all(table, row, pending.pop(row_id), now)
            if after is not row:
                changed.append(after)
        if changed:
            parameters = [{**row, _ROW_ID: row[ID]} for row in changed]
            await connection.execute(kept(table, "update", partial(_update, table)), parameters)
        new = [_new(table, row_id, pending[row_id], now) for row_id in sorted(pending)]
        for row_id in await _insert_new(connection, table, new):
            del pending[row_id]


async def _locked(connection: AsyncConnection, table: Table, ids: Sequence[str]) -> dict[str, Row]:
    """Lock and return the existing rows. SQLite has one writer and needs no lock."""
    found: dict[str, Row] = {}
    for start in range(0, len(ids), _ROWS_PER_STATEMENT):
        batch = ids[start : start + _ROWS_PER_STATEMENT]
        query = select(table).where(table.c[ID].in_(batch)).order_by(table.c[ID]).with_for_update()
        rows = (await connection.execute(query)).mappings()
        found |= {row[ID]: dict(row) for row in rows}
    return found


def _merge_all(table: Table, row: Row, changes: Sequence[EntityChange], now: int) -> Row:
    for change in changes:
        if change.mode == "upsert":
            row = merged(table, row, change, now)
    return row


def _new(table: Table, row_id: str, changes: Sequence[EntityChange], now: int) -> Row:
    first = changes[0]
    row = merged(table, new_row(table, row_id, first, now), first, now)
    return _merge_all(table, row, changes[1:], now)


async def _insert_new(connection: AsyncConnection, table: Table, rows: Sequence[Row]) -> list[str]:
    """Add `rows`. Returns the ids of those that no other transaction has added meanwhile."""
    if not rows:
        return []
    dialect = connection.dialect.name
    statement = kept(table, f"insert into {dialect}", partial(_insert, table, dialect))
    return [*(await connection.execute(statement, rows)).scalars()]


def _insert(table: Table, dialect: str) -> Any:
    new: _Insert = sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)
    return new.on_conflict_do_nothing(index_elements=[ID]).returning(table.c[ID])


def _update(table: Table) -> Update:
    names = (column.name for column in table.columns if column.name != ID)
    values: dict[str, Any] = {name: bindparam(name) for name in names}
    return update(table).where(table.c[ID] == bindparam(_ROW_ID)).values(values)
