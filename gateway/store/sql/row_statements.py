"""SQL for tables of contracts. Names come from the contract, and values are bound parameters."""

import asyncio
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, Final

from msgspec import UNSET
from sqlalchemy import (
    Select,
    Table,
    and_,
    bindparam,
    delete,
    func,
    insert,
    select,
    true,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql.dml import ReturningDelete, ReturningUpdate
from sqlalchemy.sql.elements import ColumnElement, Label, UnaryExpression

from gateway.contract.rows.rows import CREATED_AT, KEY, UPDATED_AT, Column, Shape
from gateway.contract.rows.tables import (
    AT_MOST,
    Filter,
    Order,
    Row,
    Selection,
    TooManyRows,
    complete,
)
from gateway.errors import InvalidReply

_GLOB: Final = frozenset("*?[")
_COMPARISONS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "eq": operator.eq,
    "neq": operator.ne,
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
}


TURN: Final = 100
"""So many rows take 5 ms."""


class Statements:
    """The statements for one table, in the dialect of one database."""

    def __init__(self, shape: Shape, table: Table, dialect: str) -> None:
        self._shape = shape
        self._table = table
        self._is_sqlite = dialect == "sqlite"
        self.insertion: Final = insert(table).returning(*table.c)
        """Adds rows with a value for every column, and returns them."""

    def select(self, selection: Selection) -> Select[Any]:
        """The rows of `selection`."""
        names = selection.columns or tuple(self._shape.columns)
        return (
            select(*self._named(names))
            .where(self._where(selection.filters))
            .order_by(*map(self._term, complete(selection.order)))
            .limit(selection.limit)
            .offset(selection.offset)
        )

    def count(self, filters: Sequence[Filter]) -> Select[Any]:
        """The number of matching rows, counted up to `AT_MOST` + 1."""
        matching = select(self._table.c[KEY]).where(self._where(filters)).limit(AT_MOST + 1)
        return select(func.count()).select_from(matching.subquery())

    def update(self, filters: Sequence[Filter], values: Row) -> ReturningUpdate[Any]:
        """Change the matching rows, and return them."""
        changed = update(self._table).where(self._where(filters)).values(values)
        return changed.returning(*self._named(self._shape.columns))

    def delete(self, filters: Sequence[Filter]) -> ReturningDelete[Any]:
        """Remove the matching rows, and return them."""
        return (
            delete(self._table)
            .where(self._where(filters))
            .returning(*self._named(self._shape.columns))
        )

    def new(self, row: Mapping[str, Any], now: datetime) -> Row:
        """A new row with a value for every column, in the form that the database takes."""
        columns = self._shape.columns.values()
        return {
            **{each.name: stored(each, row.get(each.name, _default(each))) for each in columns},
            CREATED_AT: now,
            UPDATED_AT: now,
        }

    def changes(self, values: Mapping[str, Any], now: datetime) -> Row:
        """New values, in the form that the database takes."""
        columns = self._shape.columns
        return {
            **{name: stored(columns[name], value) for name, value in values.items()},
            UPDATED_AT: now,
        }

    async def canonical(self, rows: Iterable[Mapping[Any, Any]]) -> list[Row]:
        """The rows in canonical form, made in turns with what else the event loop does.

        Raises `InvalidReply` for a value that its column forbids.
        """
        found: list[Row] = []
        for row in rows:
            found.append(self._canonical(row))
            if len(found) % TURN == 0:
                await asyncio.sleep(0)
        return found

    def _canonical(self, row: Mapping[Any, Any]) -> Row:
        columns = self._shape.columns
        try:
            return {str(name): _canonical(columns[name], value) for name, value in row.items()}
        except (ValueError, OverflowError) as error:
            raise InvalidReply("The workspace has a value that its column forbids.") from error

    def _named(self, names: Iterable[str]) -> list[Label[Any]]:
        """The columns, labelled with their names in the contract."""
        return [self._table.c[name].label(name) for name in names]

    def _where(self, filters: Sequence[Filter]) -> ColumnElement[bool]:
        return and_(true(), *map(self._condition, filters))

    def _condition(self, filter_: Filter) -> ColumnElement[bool]:
        declared, column = self._shape.columns[filter_.column], self._table.c[filter_.column]
        match filter_.operator, filter_.value:
            case ("eq" | "is", None):
                return column.is_(None)
            case ("neq", None):
                return column.is_not(None)
            case ("in", members):
                return column.in_([stored(declared, each) for each in members])
            case ("is", bool() as truth):
                return column.is_(truth)
            case ("like" | "ilike" as name, pattern):
                return self._like(column, pattern, is_exact=name == "like")
            case (name, value):
                compared = column if name in {"eq", "neq"} else self._comparable(filter_.column)
                comparison: ColumnElement[bool] = _COMPARISONS[name](
                    compared, stored(declared, value)
                )
                return comparison

    def _comparable(self, name: str) -> ColumnElement[Any]:
        """The column for comparing and sorting: text by code points.

        SQLite compares so by default, and the workspace's tables declare it. Only tables of
        entities on PostgreSQL need it in the statement.
        """
        column: ColumnElement[Any] = self._table.c[name]
        is_text = self._shape.columns[name].kind == "text"
        needs_collation = self._shape.entity is not None and not self._is_sqlite
        return column.collate("C") if is_text and needs_collation else column

    def _like(
        self, column: ColumnElement[Any], pattern: str, *, is_exact: bool
    ) -> ColumnElement[bool]:
        if not self._is_sqlite:
            return column.like(pattern) if is_exact else column.ilike(pattern)
        if is_exact:
            # In SQLite, LIKE ignores the case of letters, and GLOB does not.
            return column.op("GLOB", is_comparison=True)(bindparam(None, glob(pattern)))
        return column.like(pattern, escape="\\")

    def _term(self, order: Order) -> UnaryExpression[Any]:
        column = self._comparable(order.column)
        return (column.asc() if order.is_ascending else column.desc()).nulls_last()


async def refuse_many(
    connection: AsyncConnection, statements: Statements, filters: Sequence[Filter]
) -> None:
    """Raise `TooManyRows` when more rows match than one call may change."""
    if (await connection.execute(statements.count(filters))).scalar_one() > AT_MOST:
        raise TooManyRows


async def changed_rows(statements: Statements, found: Iterable[Mapping[Any, Any]]) -> list[Row]:
    """The rows in canonical form, sorted by primary key.

    Raises `TooManyRows`, because other rows may match since `refuse_many`.
    """
    rows = await statements.canonical(found)
    if len(rows) > AT_MOST:
        raise TooManyRows
    return sorted(rows, key=lambda row: str(row[KEY]))


def stored(column: Column, value: Any) -> Any:
    """A canonical value in the form that the database takes."""
    if value is None:
        return None
    if column.kind == "moment":
        return datetime.fromisoformat(value)
    if column.kind == "date":
        return date.fromisoformat(value)
    if column.kind == "number":
        # PostgreSQL's driver takes the type of a list from its first member.
        return float(value)
    return value


def glob(pattern: str) -> str:
    """The GLOB pattern of SQLite that matches the same texts as the LIKE pattern `pattern`."""
    parts: list[str] = []
    characters = iter(pattern)
    for character in characters:
        if character == "%":
            parts.append("*")
        elif character == "_":
            parts.append("?")
        else:
            plain = next(characters, "\\") if character == "\\" else character
            parts.append(f"[{plain}]" if plain in _GLOB else plain)
    return "".join(parts)


def _canonical(column: Column, value: Any) -> Any:
    match value:
        case datetime(tzinfo=None):
            raise ValueError("is infinite")
        case datetime():
            return column.canonical(value.astimezone(UTC).isoformat())
        case date():
            return value.isoformat()
    return column.canonical(value)


def _default(column: Column) -> Any:
    return None if column.default is UNSET else column.default
