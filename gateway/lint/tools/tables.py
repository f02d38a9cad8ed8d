"""Checks of upstreams' tables: their files, columns and keys, and the entities that they show."""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple

from gateway.contract.rows.rows import KEY, Column, shape_of
from gateway.contract.values.pointers import child
from gateway.contracts.finding import Finding
from gateway.contracts.sources.document import Document
from gateway.contracts.sources.refs import RefTarget
from gateway.lint.draft import Draft
from gateway.lint.soundness import is_sound

_OWN: Final = {"owner": "agent"}
"""The `x-table` of a table with its own rows, and the default."""


class _Table(NamedTuple):
    """A table of an upstream, whose schema is in the right file."""

    name: str
    target: RefTarget
    schema: Any
    """The dereferenced schema. None if a reference in it cannot be resolved."""


def check_tables(draft: Draft) -> Iterator[Finding]:
    """upstream/table-file, upstream/table-shape, upstream/workspace"""
    for name, document in draft.upstreams.items():
        facts = document.value["x-upstream"]
        if facts.get("workspace") and "tables" not in facts:
            where = "/x-upstream/workspace"
            message = "the workspace has no tables"
            yield draft.finding("upstream/workspace", document, where, message)
        for table, (pointer, target) in _targets(draft, document).items():
            if not _is_in_place(document, table, target):
                file = f"upstreams/{name}/tables/{table}.json"
                message = f"the schema of the table {table} must be in {file}"
                fix = f"Write {{$ref: ./tables/{table}.json}}."
                yield draft.finding("upstream/table-file", document, pointer, message, fix)
        for each in _tables(draft, document):
            for message in _problems(each.schema):
                yield _shape(draft, each.target, message)


def check_views(draft: Draft, unsound: frozenset[PurePosixPath]) -> Iterator[Finding]:
    """upstream/table-shape"""
    for document in draft.upstreams.values():
        for table in _tables(draft, document):
            if is_sound(draft, table.target.document.path, unsound):
                for message in _view_problems(draft, table, unsound):
                    yield _shape(draft, table.target, message)


def _targets(draft: Draft, document: Document) -> dict[str, tuple[str, RefTarget]]:
    """By table, the pointer to the reference to its file, and the target."""
    found = {}
    for table, holder in document.value["x-upstream"].get("tables", {}).items():
        pointer = child("/x-upstream/tables", table)
        target = draft.target(document, pointer, holder)
        if target is not None:
            found[table] = (pointer, target)
    return found


def _is_in_place(document: Document, table: str, target: RefTarget) -> bool:
    wanted = document.path.with_name("tables") / f"{table}.json"
    return (target.document.path, target.pointer) == (wanted, "")


def _tables(draft: Draft, document: Document) -> Iterator[_Table]:
    for table, (pointer, target) in _targets(draft, document).items():
        if _is_in_place(document, table, target):
            yield _Table(table, target, draft.expanded(document.path, pointer))


def _problems(schema: Any) -> Iterator[str]:
    if not isinstance(schema, dict):
        return
    if schema.get("type") != "object" or schema.get("additionalProperties") is not False:
        yield "the row of a table must be a closed object"
    properties = schema.get("properties")
    columns = properties if isinstance(properties, dict) else {}
    key, required = columns.get(KEY), schema.get("required")
    if not isinstance(key, dict) or key.get("type") != "string":
        yield f"there is no column {KEY} of type string"
    elif not isinstance(required, list) or KEY not in required:
        yield f"the column {KEY} is not required"
    for name, column in columns.items():
        if not isinstance(column, dict) or "type" not in column:
            yield f"the column {name} has no type"


def _view_problems(draft: Draft, table: _Table, unsound: frozenset[PurePosixPath]) -> Iterator[str]:
    """The problems of a table that shows the rows of an entity."""
    facts = table.schema.get("x-table", _OWN)
    if facts == _OWN:
        return
    document = draft.entities.get(str(facts.get("entity"))) if isinstance(facts, dict) else None
    if document is None or facts.keys() - {"entity", "columns"}:
        yield "x-table must be {owner: agent}, or {entity, columns} with an entity that exists"
        return
    sources: Any = facts.get("columns", {})
    if not isinstance(sources, dict) or not all(isinstance(each, str) for each in sources.values()):
        yield "the values of x-table.columns must be names of the entity's columns"
        return
    columns = shape_of(table.name, table.schema).columns
    yield from (f"x-table names {name}, which is no column" for name in sources.keys() - columns)
    if is_sound(draft, document.path, unsound):
        entity_columns = shape_of(table.name, draft.expanded(document.path, "")).columns
        yield from _column_problems(columns, entity_columns, sources)


def _column_problems(
    columns: Mapping[str, Column], entity_columns: Mapping[str, Column], sources: Mapping[str, str]
) -> Iterator[str]:
    for name, column in columns.items():
        source = entity_columns.get(sources.get(name, name))
        if source is None:
            yield f"the entity has no column for {name}"
        elif source.kind != column.kind:
            yield f"the column {name} has the type {column.kind}, but {source.kind} in the entity"
        elif source.is_nullable and not column.is_nullable:
            yield f"the column {name} must allow null, as in the entity"


def _shape(draft: Draft, target: RefTarget, message: str) -> Finding:
    return draft.finding("upstream/table-shape", target.document, target.pointer, message)
