"""Renders the migrations of entity tables: Alembic revisions, which are added and never edited."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final

import msgspec
from msgspec import Struct

from gateway.codegen.ir import EntityContract
from gateway.codegen.migrations.recorded import FOLDER, RECORD, Revision
from gateway.codegen.migrations.shape import (
    ColumnShape,
    Shapes,
    TableShape,
    index_name,
    joined,
    shapes_of,
    table_name,
)
from gateway.codegen.render.artifact import Artifact, docstring, joint_source, python, quoted
from gateway.codegen.render.python.column_types import SQL_TYPES, TIMES_TYPE, TYPE_IMPORTS
from gateway.contract.rows.entity import ID, TIMES, Entity
from gateway.contract.values.pointers import child
from gateway.contracts.finding import ContractRefused, Finding
from gateway.lint.rules import BY_ID

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


_MOST_NAME: Final = 48


def recorded(revisions: Sequence[Revision]) -> Iterator[Artifact]:
    """The existing revisions, unchanged, because databases have run them."""
    for revision in revisions:
        path = PurePosixPath(FOLDER, revision.name)
        yield Artifact("generated", path, revision.text)


def migrations(
    contracts: Sequence[EntityContract], revisions: Sequence[Revision]
) -> Iterator[Artifact]:
    """A new revision, if the contracts have changed, and the module with the newest number.

    Raises `ContractRefused` for a change that a revision cannot make.
    """
    before = revisions[-1].shapes if revisions else {}
    entities = [each.entity for each in contracts]
    today = shapes_of(entities)
    if refusals := tuple(retyped(before, entities, today)):
        raise ContractRefused(refusals)
    head = len(revisions)
    if needed := steps(before, today):
        head += 1
        yield _revision(contracts, head, needed, joined(before, today))
    yield _index(contracts, head)


def _index(contracts: Sequence[EntityContract], head: int) -> Artifact:
    body = "\n".join(
        (
            docstring("The migrations of the tables of entities."),
            "",
            "from typing import Final",
            "",
            f"HEAD: Final[str | None] = {quoted(f'{head:04}') if head else None}",
            '"""The newest revision. A database at it is opened without loading Alembic."""',
            "",
        )
    )
    source = joint_source("entities/*.json", (each.source for each in contracts), str(head))
    return python(f"{FOLDER}/__init__.py", source, body)


def _revision(
    contracts: Sequence[EntityContract], number: int, needed: Sequence[Step], after: Shapes
) -> Artifact:
    previous = quoted(f"{number - 1:04}") if number > 1 else None
    body = "\n".join(
        (
            docstring(_title(needed)),
            "",
            "from collections.abc import Mapping",
            "from typing import Any, Final",
            "",
            "from alembic import op",
            *TYPE_IMPORTS,
            "",
            f"revision: Final = {quoted(f'{number:04}')}",
            f"down_revision: Final[str | None] = {previous}",
            "",
            f"{RECORD}: Final[Mapping[str, Any]] = {msgspec.to_builtins(after)!r}",
            '"""The tables after this revision. The next revision starts from them."""',
            "",
            "",
            "def upgrade() -> None:",
            '    """Create what is missing."""',
            *(f"    {line}" for step in needed for line in _calls(step)),
            "",
        )
    )
    source = joint_source("entities/*.json", (each.source for each in contracts))
    return python(f"{FOLDER}/v{number:04}_{_slug(needed)}.py", source, body)


def _calls(step: Step) -> Iterator[str]:
    match step:
        case CreateTable(kind, shape):
            yield f"op.create_table({quoted(table_name(kind))},"
            yield from (f"{_column(name, column)}," for name, column in shape.columns.items())
            yield f"Column({quoted(TIMES)}, {TIMES_TYPE}, nullable=False),"
            yield ")"
            yield from (_index_call(kind, columns) for columns in shape.indexes)
        case AddColumn(kind, name, column):
            yield f"op.add_column({quoted(table_name(kind))}, {_column(name, column)})"
        case AddIndex(kind, columns):
            yield _index_call(kind, columns)


def _index_call(kind: str, columns: Sequence[str]) -> str:
    names = ", ".join(map(quoted, columns))
    name = quoted(index_name(kind, columns))
    return f"op.create_index({name}, {quoted(table_name(kind))}, [{names}])"


def _column(name: str, column: ColumnShape) -> str:
    nullable = "primary_key=True" if name == ID else f"nullable={column.is_nullable}"
    return f"Column({quoted(name)}, {SQL_TYPES[column.kind]}, {nullable})"


def _title(needed: Sequence[Step]) -> str:
    return f"{'; '.join(map(_words, needed))}.".capitalize()


def _words(step: Step) -> str:
    match step:
        case CreateTable(kind):
            return f"make {kind}"
        case AddColumn(kind, name):
            return f"add {name} to {kind}"
        case AddIndex(kind, columns):
            return f"index {kind} by {columns[0]}"


def _slug(needed: Sequence[Step]) -> str:
    """The name of the file, from the first step. The docstring names all steps."""
    first = _words(needed[0]).replace(" ", "_")[:_MOST_NAME].rstrip("_")
    return first if len(needed) == 1 else f"{first}_and_{len(needed) - 1}_more"
