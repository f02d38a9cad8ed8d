"""What a database at the last revision lacks, and what no revision can give it."""

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
    """A kind that is new."""

    kind: str
    shape: TableShape


class AddColumn(Struct, frozen=True):
    """A property that is new: empty in the rows that are there."""

    kind: str
    column: str
    shape: ColumnShape


class AddIndex(Struct, frozen=True):
    """A filter that is new."""

    kind: str
    columns: tuple[str, ...]


Step = CreateTable | AddColumn | AddIndex


def steps(recorded: Shapes, today: Shapes) -> tuple[Step, ...]:
    """What makes the tables what the contracts say, in order."""
    return tuple(_steps(recorded, today))


def retyped(recorded: Shapes, entities: Iterable[Entity], today: Shapes) -> Iterator[Finding]:
    """Every property that changed so that no revision could follow."""
    for entity in entities:
        old, new = recorded.get(entity.kind), today[entity.kind]
        if old is None:
            continue
        if old.key != new.key:
            yield _finding(entity.kind, "/x-entity/key", "the key has changed")
        for name, column in new.columns.items():
            before = old.columns.get(name, column)
            if before.kind != column.kind:
                detail = f"was {before.kind} and is {column.kind} now"
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
