"""Writing the rows of entities, so that the order in which news arrives does not matter.

Messages arrive late, twice and in any order. Of each column the row therefore remembers when what
it tells had happened: later news replaces earlier, and earlier news fills only what nobody has told
of yet. Of two that happened at the same moment, the one that arrives last wins. Each row is written
by one statement, in which the database itself compares: two workers cannot lose each other's news.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, reduce
from itertools import groupby
from typing import Any, Final, TypeAlias

from msgspec import Struct
from sqlalchemy import BigInteger, Table, case, cast, func, or_
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql.elements import ColumnElement

from gateway.contract.entity import CREATED_AT, ID, OCCURRED_AT, UPDATED_AT, WEBHOOK_ID
from gateway.contract.entity_keys import entity_id
from gateway.store.entity_tables import TIMES, key_of, microseconds, stored
from gateway.store.records import EntityChange

_Insert: TypeAlias = "sqlite.Insert | postgresql.Insert"
_BEFORE_ALL: Final = -(2**63)


class _Write(Struct, frozen=True):
    """A row to be written, as the database takes it."""

    change: EntityChange
    table: Table
    row_id: str


async def write_entities(
    connection: AsyncConnection,
    tables: Mapping[str, Table],
    changes: Sequence[EntityChange],
    now: datetime,
) -> None:
    """Write `changes` in the caller's transaction; `now` is by the store's clock.

    Rows are written in order of kind and id, so that two transactions cannot wait for each other;
    changes of one row in the order given. Raises `ValueError` for a change without its key.
    """
    writes = [_write(tables[change.kind], change) for change in changes]
    in_order = sorted(writes, key=lambda write: (write.change.kind, write.row_id))
    # At once what stands side by side and tells of the same columns, as most messages do.
    for (table, names, mode), alike in groupby(in_order, key=_form):
        statement = _statement(table, connection.dialect.name, names, mode)
        await connection.execute(statement, [_row(write, microseconds(now)) for write in alike])


def _form(write: _Write) -> tuple[Table, tuple[str, ...], str]:
    return write.table, tuple(sorted(write.change.values)), write.change.mode


def _write(table: Table, change: EntityChange) -> _Write:
    key = {name: change.values.get(name) for name in key_of(table)}
    return _Write(change, table, entity_id(change.kind, key))


def _row(write: _Write, now: int) -> dict[str, Any]:
    change, columns = write.change, write.table.c
    occurred_at = microseconds(change.occurred_at)
    return {
        **{name: stored(columns[name], value) for name, value in change.values.items()},
        ID: write.row_id,
        WEBHOOK_ID: change.webhook_id,
        OCCURRED_AT: occurred_at,
        CREATED_AT: now,
        UPDATED_AT: now,
        TIMES: dict.fromkeys(sorted(change.values), occurred_at),
    }


@cache
def _statement(table: Table, dialect: str, names: tuple[str, ...], mode: str) -> _Insert:
    """The statement that writes a row in which `names` are told of."""
    new: _Insert = sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)
    if mode == "create":
        return new.on_conflict_do_nothing(index_elements=[ID])
    merge = _Merge(table, new.excluded, dialect)
    told = [name for name in names if name not in key_of(table)]
    is_latest = new.excluded[OCCURRED_AT] >= table.c[OCCURRED_AT]
    return new.on_conflict_do_update(
        index_elements=[ID],
        set_={
            **{name: merge.value(name) for name in told},
            WEBHOOK_ID: case((is_latest, new.excluded[WEBHOOK_ID]), else_=table.c[WEBHOOK_ID]),
            OCCURRED_AT: case((is_latest, new.excluded[OCCURRED_AT]), else_=table.c[OCCURRED_AT]),
            UPDATED_AT: new.excluded[UPDATED_AT],
            TIMES: merge.times(told),
        },
        where=or_(is_latest, *map(merge.is_news, told)),
    )


class _Merge:
    """What becomes of a row that is there (`table`) when another one (`new`) arrives."""

    def __init__(self, table: Table, new: Any, dialect: str) -> None:
        self._old = table.c
        self._new = new
        self._is_sqlite = dialect == "sqlite"

    def is_news(self, name: str) -> ColumnElement[bool]:
        """Whether nobody has told anything later of the column."""
        told_at = cast(self._old[TIMES][name].as_string(), BigInteger)
        return self._at() >= func.coalesce(told_at, _BEFORE_ALL)

    def value(self, name: str) -> ColumnElement[Any]:
        """What the column holds then."""
        return case((self.is_news(name), self._new[name]), else_=self._old[name])

    def times(self, names: Sequence[str]) -> ColumnElement[Any]:
        """When what the columns tell then had happened."""
        return reduce(self._with, self._notes(names), self._old[TIMES])

    def _notes(self, names: Sequence[str]) -> Iterator[ColumnElement[Any]]:
        make = func.json_object if self._is_sqlite else func.jsonb_build_object
        for name in names:
            yield case((self.is_news(name), make(name, self._at())), else_=make())

    def _with(self, times: ColumnElement[Any], note: ColumnElement[Any]) -> ColumnElement[Any]:
        return func.json_patch(times, note) if self._is_sqlite else times.op("||")(note)

    def _at(self) -> ColumnElement[int]:
        found: ColumnElement[int] = self._new[OCCURRED_AT]
        return found
