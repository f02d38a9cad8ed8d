"""The shapes of entity tables. A revision records them, and the next revision starts from them."""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from gateway.contract.rows.entity import CREATED_AT, ID, OCCURRED_AT, UPDATED_AT, WEBHOOK_ID, Entity
from gateway.contract.rows.rows import ColumnKind, shape_of

_ALWAYS: Final = frozenset({ID, WEBHOOK_ID, OCCURRED_AT, CREATED_AT, UPDATED_AT})
_PAGE: Final = (UPDATED_AT, ID)


class ColumnShape(Struct, frozen=True):
    """A column of a table."""

    kind: ColumnKind
    is_nullable: bool


class TableShape(Struct, frozen=True):
    """The table of one entity, without the store's internal column."""

    columns: dict[str, ColumnShape]
    key: tuple[str, ...]
    indexes: tuple[tuple[str, ...], ...]


Shapes = dict[str, TableShape]
"""By kind."""


def table_name(kind: str) -> str:
    """The name of the table of `kind`. No other table of the gateway or a workspace has it."""
    return f"entity_{kind}"


def index_name(kind: str, columns: Iterable[str]) -> str:
    """The name of the index on `columns`, by the first of them."""
    return f"{table_name(kind)}__{next(iter(columns))}"


def shapes_of(entities: Iterable[Entity]) -> Shapes:
    """The shapes that the contracts declare."""
    return {entity.kind: _shape_of(entity) for entity in entities}


def joined(recorded: Shapes, today: Shapes) -> Shapes:
    """The shapes after the next revision. Tables and columns are never removed."""
    kinds = sorted(recorded.keys() | today.keys())
    return {kind: _joined(recorded.get(kind), today.get(kind)) for kind in kinds}


def _shape_of(entity: Entity) -> TableShape:
    declared = shape_of(entity.kind, entity.schema).columns
    filled = _ALWAYS.union(entity.key)
    return TableShape(
        {name: ColumnShape(each.kind, name not in filled) for name, each in declared.items()},
        entity.key,
        tuple(_indexes(entity)),
    )


def _indexes(entity: Entity) -> Iterator[tuple[str, ...]]:
    """The indexes: one for pages of all rows, and one for pages of each filter."""
    yield _PAGE
    for name in entity.filters:
        yield (name, *_PAGE)


def _joined(recorded: TableShape | None, today: TableShape | None) -> TableShape:
    if recorded is None or today is None:
        only = recorded or today
        if only is None:
            raise AssertionError("unreachable")
        return only
    indexes = dict.fromkeys((*recorded.indexes, *today.indexes))
    return TableShape(recorded.columns | today.columns, today.key, tuple(indexes))
