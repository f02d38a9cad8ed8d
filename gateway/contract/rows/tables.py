"""Queries and changes of table rows, independent of the database."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, Protocol

from msgspec import Struct

from gateway.contract.rows.rows import KEY

FilterOperator = Literal["eq", "neq", "gt", "gte", "lt", "lte", "like", "ilike", "in", "is"]
Row = dict[str, Any]

AT_MOST: Final = 1000
"""The most rows that one call returns or changes."""


class Filter(Struct, frozen=True, kw_only=True):
    """A condition on one column. Names come from the contract, values are bound parameters.

    Values have the canonical form of their column. Text is compared by code points. Null in a row
    matches only `eq` and `is` with None.
    """

    column: str
    operator: FilterOperator
    value: Any
    """For `in`, a tuple. For `is`, None, True or False. For `like` and `ilike`, a pattern with `%`,
    `_` and `\\`; `ilike` ignores the case of A to Z. None with `eq` matches null, and with `neq`
    every value other than null."""


class Order(Struct, frozen=True, kw_only=True):
    """A column that rows are sorted by. Nulls come last."""

    column: str
    is_ascending: bool = True


class Selection(Struct, frozen=True, kw_only=True):
    """Selects rows of a table and their columns."""

    table: str
    columns: tuple[str, ...] = ()
    """Empty for all columns."""
    filters: tuple[Filter, ...] = ()
    """A row must match all of them."""
    order: tuple[Order, ...] = ()
    """Rows that are equal in these columns are sorted by the primary key."""
    limit: int = 100
    offset: int = 0


def complete(order: Sequence[Order]) -> list[Order]:
    """`order`, followed by the primary key if missing, so that the order of rows is unique."""
    is_keyed = any(each.column == KEY for each in order)
    return [*order] if is_keyed else [*order, Order(column=KEY)]


class RowConflict(Exception):
    """A row with this key already exists, or other rows refer to this row."""


class TooManyRows(Exception):
    """More than `AT_MOST` rows match. None was changed."""


class Tables(Protocol):
    """The tables of one upstream. Implementations: the workspace database, PostgREST.

    Arguments and results contain canonical values. Each change is atomic. Every method raises
    `UpstreamError` if the database fails.
    """

    async def select(self, selection: Selection) -> list[Row]:
        """The selected rows, sorted by `selection.order` and the primary key."""
        ...

    async def insert(self, table: str, rows: Sequence[Mapping[str, Any]]) -> list[Row]:
        """Add `rows`, with a new key for rows without one. Returns the stored rows in their order.

        Raises `RowConflict`.
        """
        ...

    async def update(
        self, table: str, filters: Sequence[Filter], values: Mapping[str, Any]
    ) -> list[Row]:
        """Set `values` in the matching rows. Returns the changed rows, sorted by primary key.

        `filters` is never empty. Raises `RowConflict` and `TooManyRows`.
        """
        ...

    async def delete(self, table: str, filters: Sequence[Filter]) -> list[Row]:
        """Remove the matching rows. Returns them, sorted by primary key.

        `filters` is never empty. Raises `RowConflict` and `TooManyRows`.
        """
        ...
