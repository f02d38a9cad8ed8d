"""Renders the tables of entities: one SQLModel class per entity."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from gateway.codegen.ir import EntityContract
from gateway.codegen.migrations.shape import (
    ColumnShape,
    Shapes,
    TableShape,
    index_name,
    shapes_of,
    table_name,
)
from gateway.codegen.render.artifact import Artifact, docstring, joint_source, python, quoted
from gateway.codegen.render.python.column_types import (
    PYTHON_TYPES,
    SQL_TYPES,
    TIMES_TYPE,
    TYPE_IMPORTS,
)
from gateway.contract.rows.entity import ID, TIMES
from gateway.contracts.names import camel, identifier

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
