"""Rows of tables as tools ask for them, whichever database holds the rows."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

FilterOperator = Literal["eq", "neq", "gt", "gte", "lt", "lte", "like", "ilike", "in", "is"]
Row = dict[str, Any]


class Filter(Struct, frozen=True, kw_only=True):
    """A condition on one column. Names come from the contract, values are bound parameters."""

    column: str
    operator: FilterOperator
    value: Any
    """A list for `in`; null, true or false for `is`; a pattern with `%` and `_` for `like`."""


class Order(Struct, frozen=True, kw_only=True):
    """The column that rows are sorted by; nulls come last."""

    column: str
    is_ascending: bool = True


class Selection(Struct, frozen=True, kw_only=True):
    """Which rows of a table, and which of their columns."""

    table: str
    columns: tuple[str, ...] = ()
    """Empty for all."""
    filters: tuple[Filter, ...] = ()
    """All of them must hold."""
    order: tuple[Order, ...] = ()
    limit: int = 100
    offset: int = 0


class RowConflict(Exception):
    """A row with this key exists already."""


class Tables(Protocol):
    """The tables of one upstream. Implementations: the workspace database, PostgREST."""

    async def select(self, selection: Selection) -> list[Row]:
        """The rows, in the order asked for, else in that of the primary key."""
        ...

    async def insert(self, table: str, rows: Sequence[Mapping[str, Any]]) -> list[Row]:
        """The rows as stored, all or none. Raises `RowConflict`."""
        ...

    async def update(
        self, table: str, filters: Sequence[Filter], values: Mapping[str, Any]
    ) -> list[Row]:
        """The rows as they are now. `filters` is never empty. Raises `RowConflict`."""
        ...

    async def delete(self, table: str, filters: Sequence[Filter]) -> list[Row]:
        """The rows that are gone. `filters` is never empty."""
        ...
