"""The shape of the tables of entities: what a revision records, and the next one starts from."""

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
    """A table of one kind of rows, besides the column that the store keeps for itself."""

    columns: dict[str, ColumnShape]
    key: tuple[str, ...]
    indexes: tuple[tuple[str, ...], ...]


Shapes = dict[str, TableShape]
"""By kind."""


def table_name(kind: str) -> str:
    """The table of `kind`: no other table of the gateway, nor of a workspace, is called so."""
    return f"entity_{kind}"


def index_name(kind: str, columns: Iterable[str]) -> str:
    """The name of the index on `columns`, by the first of them."""
    return f"{table_name(kind)}__{next(iter(columns))}"


def shapes_of(entities: Iterable[Entity]) -> Shapes:
    """What the contracts say today."""
    return {entity.kind: _shape_of(entity) for entity in entities}


def joined(recorded: Shapes, today: Shapes) -> Shapes:
    """What the database holds once it has everything: what is gone from the contracts stays."""
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
    """One per question that may be asked, each in the order of pages."""
    yield _PAGE
    for name in entity.filters:
        yield (name, *_PAGE)


def _joined(recorded: TableShape | None, today: TableShape | None) -> TableShape:
    if recorded is None or today is None:
        known = recorded or today
        if known is None:
            raise AssertionError("unreachable")
        return known
    indexes = dict.fromkeys((*recorded.indexes, *today.indexes))
    return TableShape(recorded.columns | today.columns, today.key, tuple(indexes))
