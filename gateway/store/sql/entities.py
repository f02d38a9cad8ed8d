"""Rows of entities: merged by the times of their events, read page by page, changed by agents.

Messages arrive late, twice and in any order. In one transaction, their rows are locked, each
message is merged into its row, and changed rows are written. So two workers cannot overwrite each
other's changes.

For each column, the row stores the time of the message that set it. A message sets a column unless
a later message has set it. If two messages have the same time, the one that arrives last replaces
the other. Of two states with the same time, the one that the contract names first counts as
earlier.
"""

import base64
import binascii
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec import Meta, Struct
from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Date,
    Float,
    MetaData,
    Select,
    String,
    Table,
    Text,
    bindparam,
    select,
    tuple_,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql.dml import Update
from sqlalchemy.types import TypeEngine

from gateway.contract.fields.conversion import as_date_time, rfc3339
from gateway.contract.fields.fieldmap import entity_id
from gateway.contract.rows.entity import (
    CREATED_AT,
    ID,
    OCCURRED_AT,
    TIMES,
    UPDATED_AT,
    WEBHOOK_ID,
    EntityRules,
    Entry,
    States,
    moment,
    outcome,
    replay,
)
from gateway.contract.rows.rows import KEY, ColumnKind, Shape
from gateway.contract.rows.tables import Filter, Row, Selection, Tables
from gateway.errors import InternalError, InvalidArguments
from gateway.store.records import EntityChange
from gateway.store.sql.database import Database
from gateway.store.sql.row_statements import Statements, changed_rows, refuse_many
from gateway.store.sql.sqlite import run, run_each
from gateway.store.sql.statements import insert_into
from gateway.store.tables import Moment, microseconds

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_T = TypeVar("_T")
_BEFORE_ALL: Final = -(2**63)
_IDS = "_ids"
_NOW = "_now"
_ROWS_PER_STATEMENT: Final = 200
"""How many rows one statement reads."""
_ROW_ID: Final = "_which"
"""The parameter with the id of the row. No column can have this name."""
_TYPES: Final[Mapping[ColumnKind, TypeEngine[Any]]] = {
    "text": Text(),
    "integer": BigInteger(),
    "number": Float(53),
    "boolean": Boolean(),
    "date": Date(),
    "moment": Moment(),
    "json": JSON(none_as_null=True),
}
_DIGEST_LENGTH: Final = 16
_encode: Final = msgspec.json.Encoder(order="sorted").encode


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
        if shape not in self._views:
            table = self._tables[str(shape.entity)]
            self._views[shape] = EntityTable(self._database, table, shape, self._tables)
        return self._views[shape]

    async def write(self, changes: Sequence[EntityChange]) -> None:
        async def change(connection: AsyncConnection, now: datetime) -> None:
            await write_entities(connection, self._tables, changes, now)

        if changes:
            await self._database.write(change)

    async def get(self, kind: str, entity_id: str) -> dict[str, Any] | None:
        table = self._tables[kind]
        rows = await self._database.rows(select(table).where(table.c[ID] == entity_id))
        return canonical_row(table, dict(rows[0])) if rows else None


def kept(table: Table, name: str, make: Callable[[], _T]) -> _T:
    """What `make` returns. Made once for `table`, and gone with it: each reload has others."""
    known: dict[str, _T] = table.info.setdefault("kept", {})
    if name not in known:
        known[name] = make()
    return known[name]


def key_of(table: Table) -> tuple[str, ...]:
    """The columns of the key by which messages identify a row."""
    names: tuple[str, ...] = table.info["key"]
    return names


def filters_of(table: Table) -> frozenset[str]:
    """The columns that a query may filter by."""
    return frozenset(table.info["filters"])


def stored(column: Column[Any], value: Any) -> Any:
    """A canonical value in the form that the database takes."""
    if value is None:
        return None
    match column.info.get("kind"):
        case "moment":
            return microseconds(datetime.fromisoformat(value))
        case "date":
            return date.fromisoformat(value)
        case "number":
            return float(value)
    return value


def canonical_row(table: Table, row: Mapping[str, Any]) -> dict[str, Any]:
    """A row in canonical form, without the column that only the store uses."""
    # SQLAlchemy's names are texts of a class of its own, which the validator refuses.
    return {
        str(name): _canonical(table.c[name], value) for name, value in row.items() if name != TIMES
    }


def _canonical(column: Column[Any], value: Any) -> Any:
    if value is None:
        return None
    match column.info.get("kind"):
        case "moment":
            return as_date_time((_EPOCH + value * _MICROSECOND).isoformat())
        case "date":
            return value.isoformat()
        case "number":
            return int(value) if value.is_integer() and abs(value) < 2**53 else value
    return value


def rules_of(table: Table) -> EntityRules:
    """The rules by which the rows of `table` are written."""
    return kept(table, "rules", lambda: msgspec.convert(table.info.get("rules", {}), EntityRules))


def new_row(table: Table, row_id: str, change: EntityChange, now: int) -> Row:
    """A new row with the key of `change`. The other values of `change` are not merged yet."""
    at = microseconds(change.occurred_at)
    return {
        **dict.fromkeys(column.name for column in table.columns),
        **{name: stored(table.c[name], change.values[name]) for name in key_of(table)},
        ID: row_id,
        WEBHOOK_ID: change.webhook_id,
        OCCURRED_AT: at,
        CREATED_AT: now,
        UPDATED_AT: now,
        TIMES: dict.fromkeys(key_of(table), at),
    }


def merged(table: Table, row: Row, change: EntityChange, now: int) -> Row:
    """`row` with `change` merged into it. The same object if nothing changes."""
    rules, at = rules_of(table), microseconds(change.occurred_at)
    result = {**row, TIMES: dict(row[TIMES])}
    by_state = _of_states(rules.states)
    plain = {
        name: stored(table.c[name], value)
        for name, value in change.values.items()
        if name not in by_state and name not in key_of(table)
    }
    is_newer = _merge_columns(result, plain, at)
    if rules.states is not None:
        is_newer |= _merge_state(rules.states, result, change)
    if at >= row[OCCURRED_AT]:
        result |= {WEBHOOK_ID: change.webhook_id, OCCURRED_AT: at}
    elif not is_newer:
        return row
    _derive(rules, result)
    return {**result, UPDATED_AT: now}


def _of_states(states: States | None) -> frozenset[str]:
    return frozenset() if states is None else frozenset({states.column, *states.carries})


def _merge_columns(row: Row, values: Mapping[str, Any], at: int) -> bool:
    """Set the columns that have no later value. Returns whether any was set."""
    times = row[TIMES]
    newer = [name for name in values if at >= times.get(name, _BEFORE_ALL)]
    row |= {name: values[name] for name in newer}
    times |= dict.fromkeys(newer, at)
    return bool(newer)


def _merge_state(states: States, row: Row, change: EntityChange) -> bool:
    """Add the message's state to the log, and set the state's columns.

    Returns whether the log has changed.
    """
    state = change.values.get(states.column)
    if state is None:
        return False
    before = _known_entries(states, row)
    carried = {name: change.values[name] for name in states.carries if name in change.values}
    entry: Entry = {
        "state": state,
        "occurred_at": _time_text(change.occurred_at),
        "webhook_id": change.webhook_id,
        **({"values": carried} if carried else {}),
    }
    log = replay(states, before, entry)
    row[states.log] = log
    held, values = outcome(states, log)
    # Carried columns are plain texts (entity/states), which the log and the database store alike.
    row |= {states.column: held, **values}
    applied = [moment(each) for each in log if each["applied"]]
    if applied:
        row[TIMES][states.column] = microseconds(applied[-1])
    return log != before


def _known_entries(states: States, row: Row) -> Sequence[Entry]:
    """The log, with an entry for a state that an older package has written.

    An older package sets the state's column and has no log. The row is from the time before the
    kind had a log, or both packages use the database.
    """
    log: Sequence[Entry] = row[states.log] or []
    held, values = outcome(states, log)
    if row[states.column] in {None, held}:
        return log
    at = _EPOCH + timedelta(microseconds=row[TIMES].get(states.column, row[OCCURRED_AT]))
    carried = {name: row[name] for name in states.carries if row[name] not in {None, values[name]}}
    entry: Entry = {
        "state": row[states.column],
        "occurred_at": _time_text(at),
        "webhook_id": row[WEBHOOK_ID],
        **({"values": carried} if carried else {}),
    }
    return replay(states, log, entry) if log else [{**entry, "applied": True}]


def _time_text(at: datetime) -> str:
    """RFC 3339 with milliseconds, or with microseconds if `at` has them.

    So the log and the columns have the same order.
    """
    return rfc3339(at) if at.microsecond % 1000 == 0 else as_date_time(at.isoformat())


def _derive(rules: EntityRules, row: Row) -> None:
    """Set the columns that depend on other columns: defaults and computed ones."""
    for name, default in rules.defaults.items():
        if name not in row[TIMES]:
            row[name] = default.value if row[default.beside] is not None else None
    for name, computed in rules.computed.items():
        holds = all(row[column] == value for column, value in computed.when.items())
        row[name] = row[computed.copy] if holds else None


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
                    make = partial(_inheriting, table, tables[source.kind], column, source.by, name)
                    yield kept(table, f"inherit {column} by {name}", make), written[of]


def _inheriting(table: Table, source: Table, column: str, by: str, chosen: str) -> Any:
    found = select(source.c[column]).where(source.c[ID] == table.c[by])
    value = found.scalar_subquery()
    return (
        update(table)
        .where(table.c[chosen].in_(bindparam(_IDS, expanding=True)))
        .where(table.c[column].is_(None), value.is_not(None))
        .values({column: value, UPDATED_AT: bindparam(_NOW)})
    )


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
            await run_each(connection, kept(table, "update", partial(_update, table)), parameters)
        new = [_new(table, row_id, pending[row_id], now) for row_id in sorted(pending)]
        for row_id in await _insert_new(connection, table, new):
            del pending[row_id]


async def _locked(connection: AsyncConnection, table: Table, ids: Sequence[str]) -> dict[str, Row]:
    """Lock and return the existing rows. SQLite has one writer and needs no lock."""
    found: dict[str, Row] = {}
    for start in range(0, len(ids), _ROWS_PER_STATEMENT):
        batch = ids[start : start + _ROWS_PER_STATEMENT]
        if len(batch) == 1:
            # The text does not depend on the values, so the driver runs it by itself.
            this = table.c[ID] == bindparam(_ROW_ID)
            one = kept(table, "lock one", partial(_locking, table, this))
            rows = await run(connection, one, {_ROW_ID: batch[0]})
        else:
            these = table.c[ID].in_(bindparam(_IDS, expanding=True))
            some = kept(table, "lock some", partial(_locking, table, these))
            rows = await run(connection, some, {_IDS: batch})
        found |= {row[ID]: dict(row) for row in rows}
    return found


def _locking(table: Table, condition: ColumnElement[bool]) -> Select[Any]:
    return select(table).where(condition).order_by(table.c[ID]).with_for_update()


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

    def make() -> Any:
        new = insert_into(dialect, table).on_conflict_do_nothing(index_elements=[ID])
        return new.returning(table.c[ID])

    statement = kept(table, f"insert into {dialect}", make)
    return [row[ID] for row in await run_each(connection, statement, rows)]


def _update(table: Table) -> Update:
    names = (column.name for column in table.columns if column.name != ID)
    values: dict[str, Any] = {name: bindparam(name) for name in names}
    return update(table).where(table.c[ID] == bindparam(_ROW_ID)).values(values)


def _view(table: Table, shape: Shape) -> Table:
    """`table` with the columns and the names of `shape`."""
    columns = (
        Column(shape.sources[name], _TYPES[declared.kind], key=name, primary_key=name == KEY)
        for name, declared in shape.columns.items()
    )
    return Table(table.name, MetaData(), *columns)


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
