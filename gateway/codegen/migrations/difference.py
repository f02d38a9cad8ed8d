"""Compares the last revision with the contracts: steps of a new revision, and refused changes."""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from gateway.codegen.migrations.shape import ColumnShape, Shapes, TableShape
from gateway.contract.rows.entity import Entity
from gateway.contract.values.pointers import child
from gateway.contracts.finding import Finding
from gateway.lint.rules.all_rules import BY_ID

_RULE: Final = BY_ID["entity/retyped"]


class CreateTable(Struct, frozen=True):
    """A new entity."""

    kind: str
    shape: TableShape


class AddColumn(Struct, frozen=True):
    """A new property. It is null in existing rows."""

    kind: str
    column: str
    shape: ColumnShape


class AddIndex(Struct, frozen=True):
    """A new filter."""

    kind: str
    columns: tuple[str, ...]


Step = CreateTable | AddColumn | AddIndex


def steps(recorded: Shapes, today: Shapes) -> tuple[Step, ...]:
    """The steps that change the recorded tables to those of the contracts."""
    return tuple(_steps(recorded, today))


def retyped(recorded: Shapes, entities: Iterable[Entity], today: Shapes) -> Iterator[Finding]:
    """Every change that a revision cannot make: another type of a column, or another key."""
    for entity in entities:
        old, new = recorded.get(entity.kind), today[entity.kind]
        if old is None:
            continue
        if old.key != new.key:
            yield _finding(entity.kind, "/x-entity/key", "the key has changed")
        for name, column in new.columns.items():
            before = old.columns.get(name, column)
            if before.kind != column.kind:
                detail = f"the type has changed from {before.kind} to {column.kind}"
                yield _finding(entity.kind, child("/properties", name), detail)


def _finding(kind: str, pointer: str, message: str) -> Finding:
    return Finding(
        path=f"entities/{kind}.json",
        line=1,
        pointer=pointer,
        rule=_RULE.id,
        message=message,
        fix=_RULE.fix,
    )


def _steps(recorded: Shapes, today: Shapes) -> Iterator[Step]:
    for kind, new in sorted(today.items()):
        old = recorded.get(kind)
        if old is None:
            yield CreateTable(kind, new)
            continue
        for name, column in new.columns.items():
            if name not in old.columns:
                yield AddColumn(kind, name, column)
        for columns in new.indexes:
            if columns not in old.indexes:
                yield AddIndex(kind, columns)
