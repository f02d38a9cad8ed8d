"""Renders the tables of entities and their migrations, which are added and never edited."""

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final

import msgspec
from msgspec import Struct

from gateway.authoring.codegen.ir import EntityContract
from gateway.authoring.codegen.render.artifact import (
    Artifact,
    docstring,
    joint_source,
    python,
    quoted,
)
from gateway.authoring.contracts.finding import ContractRefused, Finding
from gateway.authoring.contracts.names import camel, identifier
from gateway.authoring.lint.rules import BY_ID
from gateway.contract.rows.entity import (
    CREATED_AT,
    ID,
    OCCURRED_AT,
    TIMES,
    UPDATED_AT,
    WEBHOOK_ID,
    Entity,
)
from gateway.contract.rows.rows import ColumnKind, shape_of
from gateway.contract.values.pointers import child
from gateway.errors import ContractError

# The shapes of entity tables. A revision records them, and the next revision starts from them.

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
    return _fitting(f"entity_{kind}")


def index_name(kind: str, columns: Iterable[str]) -> str:
    """The name of the index on `columns`, by the first of them."""
    return _fitting(f"{table_name(kind)}__{next(iter(columns))}")


_LONGEST: Final = 63
"""The most characters of a name in PostgreSQL, which cuts longer ones, so that two become one."""
_DIGEST: Final = 8


def _fitting(name: str) -> str:
    """`name`, or its beginning and a digest of the whole if it is too long for a database."""
    if len(name) <= _LONGEST:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:_DIGEST]
    return f"{name[: _LONGEST - _DIGEST - 1]}_{digest}"


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
    found = [_PAGE, *(tuple(dict.fromkeys((name, *_PAGE))) for name in entity.filters)]
    # Pages of all rows serve a filter by their first column too.
    yield from dict.fromkeys(found)


def _joined(recorded: TableShape | None, today: TableShape | None) -> TableShape:
    if recorded is None or today is None:
        only = recorded or today
        if only is None:
            raise AssertionError("unreachable")
        return only
    indexes = dict.fromkeys((*recorded.indexes, *today.indexes))
    return TableShape(recorded.columns | today.columns, today.key, tuple(indexes))


# Reads the existing revisions. They are parsed and not imported.

FOLDER: Final = "migrations"
RECORD: Final = "SHAPES"
"""The constant in a revision with the shapes of all tables after it."""
_FILE: Final = re.compile(r"v(\d{4})_[a-z0-9_]+\.py")


class Revision(Struct, frozen=True, kw_only=True):
    """One existing revision."""

    name: str
    """The name of its file."""
    number: int
    text: str
    shapes: Shapes


def recorded_revisions(out: Path) -> tuple[Revision, ...]:
    """The revisions in the generated package `out`, oldest first.

    Raises `ContractError` with the file's name if a revision is damaged, missing or duplicate.
    """
    files = sorted(path for path in (out / FOLDER).glob("v*.py") if _FILE.fullmatch(path.name))
    revisions = tuple(map(_recorded_revision, files))
    for expected, revision in enumerate(revisions, start=1):
        if revision.number != expected:
            raise ContractError(
                f"{out / FOLDER / revision.name} should be revision {expected:04}: a revision is "
                "missing or duplicate; restore the missing one, or delete the one that no database "
                "has run, and generate again"
            )
    return revisions


def _recorded_revision(path: Path) -> Revision:
    try:
        text = path.read_bytes().decode()
        shapes = msgspec.convert(_record(text), Shapes)
    except OSError as error:
        raise ContractError(f"{path} cannot be read: {error.strerror}") from error
    except (SyntaxError, ValueError, LookupError, msgspec.ValidationError):
        raise ContractError(
            f"{path} is damaged: {RECORD} is missing or invalid; restore the file from version "
            "control"
        ) from None
    return Revision(name=path.name, number=int(path.name[1:5]), text=text, shapes=shapes)


def _record(text: str) -> Any:
    return next(_records(ast.parse(text)), None)


def _records(module: ast.Module) -> Iterator[Any]:
    for node in module.body:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                if name == RECORD:
                    yield ast.literal_eval(value)


# The column types of tables and migrations, by kind of column.

SQL_TYPES: Final[Mapping[ColumnKind, str]] = {
    "text": "Text",
    "integer": "BigInteger",
    "number": "Float(53)",
    "boolean": "Boolean",
    "date": "Date",
    "moment": "BigInteger",
    "json": "JSON(none_as_null=True)",
}
"""SQLAlchemy types. Moments are microseconds since 1970 in every database."""
TIMES_TYPE: Final = 'JSON().with_variant(JSONB(), "postgresql")'
"""JSONB, because PostgreSQL cannot change a part of a JSON value."""
PYTHON_TYPES: Final[Mapping[ColumnKind, str]] = {
    "text": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "date": "date",
    "moment": "int",
    "json": "Any",
}
TYPE_IMPORTS: Final = (
    "from sqlalchemy import JSON, BigInteger, Boolean, Column, Date, Float, Index, Text",
    "from sqlalchemy.dialects.postgresql import JSONB",
)
"""The imports of these types. The formatter removes unused ones."""


# Renders the tables of entities: one SQLModel class per entity.

_USED: Final = frozenset(
    {"copy", "dict", "json", "metadata", "registry", "schema", "construct", "validate"}
)
"""Names of SQLModel's members that a column may also have."""


def entity_tables(contracts: Sequence[EntityContract], package: str) -> Iterator[Artifact]:
    """`entities/rows.py`: every table; `entities/__init__.py`: all of them by kind."""
    shapes = shapes_of(each.entity for each in contracts)
    source = joint_source("entities/*.json", (each.source for each in contracts))
    yield python("entities/rows.py", source, _rows(contracts, shapes))
    yield python("entities/__init__.py", source, _by_kind(shapes, package))


def _rows(contracts: Sequence[EntityContract], shapes: Shapes) -> str:
    return "\n".join(
        (
            docstring("The rows of entities, as SQLModel classes."),
            "",
            "# SQLModel declares __tablename__ as a method, and accepts a text.",
            "# pyright: reportAssignmentType=false",
            "",
            "from datetime import date",
            "from typing import Any",
            "",
            "from sqlalchemy.orm import registry",
            *TYPE_IMPORTS,
            "from sqlmodel import Field, SQLModel",
            "",
            "",
            "class Rows(SQLModel, registry=registry()):",
            '    """The base with this package\'s own registry, separate from other packages."""',
            *(line for each in contracts for line in _table(each, shapes[each.entity.kind])),
            "",
        )
    )


def _by_kind(shapes: Shapes, package: str) -> str:
    # The formatter does not remove unused imports of an __init__ module.
    rows = [f"from {package}.entities.rows import Rows"] if shapes else []
    return "\n".join(
        (
            docstring("The tables of entities."),
            "",
            "from collections.abc import Mapping",
            "from types import MappingProxyType",
            "from typing import Final",
            "",
            "from sqlalchemy import Table",
            *rows,
            "",
            "TABLES: Final[Mapping[str, Table]] = MappingProxyType(",
            "    {",
            *map(_entry, shapes),
            "    }",
            ")",
            '"""By kind."""',
            "",
        )
    )


def _entry(kind: str) -> str:
    return f"        {quoted(kind)}: Rows.metadata.tables[{quoted(table_name(kind))}],"


def _table(contract: EntityContract, shape: TableShape) -> Iterator[str]:
    entity = contract.entity
    description = entity.schema.get("description", entity.schema["title"])
    yield from ("", "")
    yield f"class {camel(entity.kind)}Row(Rows, table=True):"
    yield f"    {docstring(description, indent=4)}"
    yield ""
    yield f"    __tablename__ = {quoted(table_name(entity.kind))}"
    yield "    __table_args__ = ("
    for columns in shape.indexes:
        yield f"        Index({_texts([index_name(entity.kind, columns), *columns])}),"
    key, filters = _tuple(entity.key), _tuple(entity.filters)
    rules = msgspec.to_builtins(entity.rules)
    noted = f', "rules": {rules!r}' if rules else ""
    yield f'        {{"info": {{"key": {key}, "filters": {filters}{noted}}}}},'
    yield "    )"
    yield ""
    for name, column in shape.columns.items():
        yield _column(name, column)
        yield f"    {docstring(entity.schema['properties'][name]['description'], indent=4)}"
    times = f"Column({quoted(TIMES)}, {TIMES_TYPE}, nullable=False)"
    yield f"    {TIMES}: Any = Field(sa_column={times})"
    yield '    """By column, the time of its last change: microseconds since 1970."""'


def _column(name: str, column: ColumnShape) -> str:
    kind = PYTHON_TYPES[column.kind]
    annotation = f"{kind} | None" if column.is_nullable and kind != "Any" else kind
    default = "default=None, " if column.is_nullable else ""
    nullable = "primary_key=True" if name == ID else f"nullable={column.is_nullable}"
    noted = f'info={{"kind": {quoted(column.kind)}}}'
    declared = f"Column({quoted(name)}, {SQL_TYPES[column.kind]}, {nullable}, {noted})"
    attribute = identifier(name, taken=_USED)
    return f"    {attribute}: {annotation} = Field({default}sa_column={declared})"


def _tuple(names: Iterable[str]) -> str:
    return f"({''.join(f'{quoted(name)}, ' for name in names)})"


def _texts(texts: Iterable[str]) -> str:
    return ", ".join(map(quoted, texts))


# Renders the migrations of entity tables: Alembic revisions, which are added and never edited.

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
            yield from (
                f"{_migrated_column(name, column)}," for name, column in shape.columns.items()
            )
            yield f"Column({quoted(TIMES)}, {TIMES_TYPE}, nullable=False),"
            yield ")"
            yield from (_index_call(kind, columns) for columns in shape.indexes)
        case AddColumn(kind, name, column):
            yield f"op.add_column({quoted(table_name(kind))}, {_migrated_column(name, column)})"
        case AddIndex(kind, columns):
            yield _index_call(kind, columns)


def _index_call(kind: str, columns: Sequence[str]) -> str:
    names = ", ".join(map(quoted, columns))
    name = quoted(index_name(kind, columns))
    return f"op.create_index({name}, {quoted(table_name(kind))}, [{names}])"


def _migrated_column(name: str, column: ColumnShape) -> str:
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
