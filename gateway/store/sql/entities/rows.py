"""Writing the rows of entities, so that the order in which messages arrive does not matter.

Messages arrive late, twice and in any order. The rows that they are about are locked, each message
is merged into its row by the rules of the contract (`entity_merge`), and what changed is written
back, in one transaction: two workers cannot lose each other's changes.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Final, TypeAlias

from sqlalchemy import Table, bindparam, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql.dml import Update

from gateway.contract.entity_keys import entity_id
from gateway.contract.rows.entity import ID
from gateway.store.records import EntityChange
from gateway.store.sql.entities.merge import Row, merged, new_row
from gateway.store.sql.entities.tables import key_of, microseconds

_Insert: TypeAlias = "sqlite.Insert | postgresql.Insert"
_AT_ONCE: Final = 200
"""Rows asked for in one statement."""
_WHICH: Final = "_which"
"""The parameter that names the row: no column can be called that."""


async def write_entities(
    connection: AsyncConnection,
    tables: Mapping[str, Table],
    changes: Sequence[EntityChange],
    now: datetime,
) -> None:
    """Write `changes` in the caller's transaction; `now` is by the store's clock.

    Rows are locked in order of kind and id, so that two transactions seldom wait for each other
    crosswise; changes of one row are merged in the order given. Raises `ValueError` for a change
    without its key.
    """
    by_kind: dict[str, dict[str, list[EntityChange]]] = {}
    for change in changes:
        key = {name: change.values.get(name) for name in key_of(tables[change.kind])}
        row_id = entity_id(change.kind, key)
        by_kind.setdefault(change.kind, {}).setdefault(row_id, []).append(change)
    for kind, waiting in sorted(by_kind.items()):
        await _write(connection, tables[kind], waiting, microseconds(now))


async def _write(
    connection: AsyncConnection, table: Table, waiting: dict[str, list[EntityChange]], now: int
) -> None:
    """Until nothing waits: a row that another transaction makes meanwhile is there at the next."""
    while waiting:
        rows = await _locked(connection, table, sorted(waiting))
        changed: list[Row] = []
        for row_id, row in rows.items():
            after = _after(table, row, waiting.pop(row_id), now)
            if after is not row:
                changed.append(after)
        if changed:
            parameters = [{**row, _WHICH: row[ID]} for row in changed]
            await connection.execute(_update(table), parameters)
        made = [_made(table, row_id, waiting[row_id], now) for row_id in sorted(waiting)]
        for row_id in await _added(connection, table, made):
            del waiting[row_id]


async def _locked(connection: AsyncConnection, table: Table, ids: Sequence[str]) -> dict[str, Row]:
    """The rows that are there. SQLite's one writer needs no lock, and renders none."""
    found: dict[str, Row] = {}
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        asked = select(table).where(table.c[ID].in_(some)).order_by(table.c[ID]).with_for_update()
        rows = (await connection.execute(asked)).mappings()
        found |= {row[ID]: dict(row) for row in rows}
    return found


def _after(table: Table, row: Row, changes: Sequence[EntityChange], now: int) -> Row:
    for change in changes:
        if change.mode == "upsert":
            row = merged(table, row, change, now)
    return row


def _made(table: Table, row_id: str, changes: Sequence[EntityChange], now: int) -> Row:
    first = changes[0]
    row = merged(table, new_row(table, row_id, first, now), first, now)
    return _after(table, row, changes[1:], now)


async def _added(connection: AsyncConnection, table: Table, rows: Sequence[Row]) -> list[str]:
    """The ids of those that nobody else has added meanwhile."""
    if not rows:
        return []
    statement = _insert(table, connection.dialect.name)
    return [*(await connection.execute(statement, rows)).scalars()]


@cache
def _insert(table: Table, dialect: str) -> Any:
    new: _Insert = sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)
    return new.on_conflict_do_nothing(index_elements=[ID]).returning(table.c[ID])


@cache
def _update(table: Table) -> Update:
    names = (column.name for column in table.columns if column.name != ID)
    values: dict[str, Any] = {name: bindparam(name) for name in names}
    return update(table).where(table.c[ID] == bindparam(_WHICH)).values(values)
