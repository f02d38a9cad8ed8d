"""Rows of tables as tools ask for them, whichever database holds the rows."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, Protocol

from msgspec import Struct

from gateway.contract.rows.rows import KEY

FilterOperator = Literal["eq", "neq", "gt", "gte", "lt", "lte", "like", "ilike", "in", "is"]
Row = dict[str, Any]

AT_MOST: Final = 1000
"""The most rows that one call answers or changes."""


class Filter(Struct, frozen=True, kw_only=True):
    """A condition on one column. Names come from the contract, values are bound parameters.

    Values have the canonical form of their column. Text is compared by code points. A row without a
    value fulfils `eq` and `is` with None only.
    """

    column: str
    operator: FilterOperator
    value: Any
    """A tuple for `in`; None, True or False for `is`; for `like` and `ilike` a pattern with `%`,
    `_` and `\\`, where `ilike` takes A to Z and a to z for the same; None with `eq` means that
    there is no value, with `neq` that there is one."""


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
    """Rows that are equal in these follow the primary key."""
    limit: int = 100
    offset: int = 0


def complete(order: Sequence[Order]) -> list[Order]:
    """`order` and then the primary key, so that no two rows are equal in it."""
    is_keyed = any(each.column == KEY for each in order)
    return [*order] if is_keyed else [*order, Order(column=KEY)]


class RowConflict(Exception):
    """A row with this key exists already, or other rows refer to this one."""


class TooManyRows(Exception):
    """More than `AT_MOST` rows match, so none was touched."""


class Tables(Protocol):
    """The tables of one upstream. Implementations: the workspace database, PostgREST.

    Rows hold canonical values, and what they answer does too. Each change is all or none: a change
    that fails leaves nothing behind. Raises `UpstreamError` where the database fails.
    """

    async def select(self, selection: Selection) -> list[Row]:
        """The rows, in the order asked for, else in that of the primary key."""
        ...

    async def insert(self, table: str, rows: Sequence[Mapping[str, Any]]) -> list[Row]:
        """The rows as stored, in the order given; one without a key is given a new one.

        Raises `RowConflict`.
        """
        ...

    async def update(
        self, table: str, filters: Sequence[Filter], values: Mapping[str, Any]
    ) -> list[Row]:
        """The rows as they are now, by primary key. `filters` is never empty.

        Raises `RowConflict` and `TooManyRows`.
        """
        ...

    async def delete(self, table: str, filters: Sequence[Filter]) -> list[Row]:
        """The rows that are gone, by primary key. `filters` is never empty.

        Raises `RowConflict` and `TooManyRows`.
        """
        ...
