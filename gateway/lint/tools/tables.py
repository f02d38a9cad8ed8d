"""Tables of upstreams: their own files, and rows of typed columns with a key."""

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
"""What a table says of itself whose rows are the agents' own."""


class _Table(NamedTuple):
    """A table of an upstream, in the file in which it must lie."""

    name: str
    target: RefTarget
    schema: Any
    """Dereferenced; None where that is refused."""


def check_tables(draft: Draft) -> Iterator[Finding]:
    """upstream/table-file, upstream/table-shape, upstream/workspace"""
    for name, document in draft.upstreams.items():
        facts = document.value["x-upstream"]
        if facts.get("workspace") and "tables" not in facts:
            where = "/x-upstream/workspace"
            message = "the workspace database would have no tables"
            yield draft.finding("upstream/workspace", document, where, message)
        for table, (pointer, target) in _targets(draft, document).items():
            if not _is_in_place(document, table, target):
                message = (
                    f"the rows of {table} are described in upstreams/{name}/tables/{table}.json"
                )
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
    """By table: where the upstream names its file, and what that leads to."""
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
        yield "the row of a table is a closed object"
    properties = schema.get("properties")
    columns = properties if isinstance(properties, dict) else {}
    key = columns.get(KEY)
    if not isinstance(key, dict) or key.get("type") != "string":
        yield f"there is no column {KEY} of type string"
    elif KEY not in schema.get("required", ()):
        yield f"the column {KEY} is not required"
    for name, column in columns.items():
        if not isinstance(column, dict) or "type" not in column:
            yield f"the column {name} has no type"


def _view_problems(draft: Draft, table: _Table, unsound: frozenset[PurePosixPath]) -> Iterator[str]:
    """What keeps a table from showing the rows of an entity."""
    facts = table.schema.get("x-table", _OWN)
    if facts == _OWN:
        return
    document = draft.entities.get(str(facts.get("entity"))) if isinstance(facts, dict) else None
    if document is None or facts.keys() - {"entity", "columns"}:
        yield "x-table is {owner: agent}, or {entity, columns} with an entity that is there"
        return
    sources: Any = facts.get("columns", {})
    if not isinstance(sources, dict) or not all(isinstance(each, str) for each in sources.values()):
        yield "the columns of x-table name columns of the entity"
        return
    shown = shape_of(table.name, table.schema).columns
    yield from (f"x-table names {name}, which is no column" for name in sources.keys() - shown)
    if is_sound(draft, document.path, unsound):
        held = shape_of(table.name, draft.expanded(document.path, "")).columns
        yield from _column_problems(shown, held, sources)


def _column_problems(
    shown: Mapping[str, Column], held: Mapping[str, Column], sources: Mapping[str, str]
) -> Iterator[str]:
    for name, column in shown.items():
        source = held.get(sources.get(name, name))
        if source is None:
            yield f"the entity has no column for {name}"
        elif source.kind != column.kind:
            yield f"the column {name} is {column.kind}, and {source.kind} in the entity"
        elif source.is_nullable and not column.is_nullable:
            yield f"the column {name} must admit null, as the entity does"


def _shape(draft: Draft, target: RefTarget, message: str) -> Finding:
    return draft.finding("upstream/table-shape", target.document, target.pointer, message)
