"""Checks of upstream contracts: names, operations, parameters, replies, examples and tables."""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple

from msgspec import Struct

from gateway.authoring.contracts.document import Document
from gateway.authoring.contracts.finding import Finding
from gateway.authoring.contracts.refs import RefTarget
from gateway.authoring.lint.draft import Draft, is_sound
from gateway.contract.rows.rows import KEY, Column, shape_of
from gateway.contract.values.pointers import child

# Checks of upstream contracts: names, operations, parameters, replies and examples.

_METHODS: Final = ("get", "head", "post", "put", "patch", "delete")
_VARIABLE: Final = re.compile(r"\{([^{}]*)\}")
_BODILESS: Final = ("204", "205", "304")


class LocatedOperation(Struct, frozen=True, eq=False):
    """One operation of an upstream's contract, with its file and pointer."""

    document: Document
    path: str
    method: str
    pointer: str
    value: dict[str, Any]


def operations(document: Document) -> Iterator[LocatedOperation]:
    """Every operation of a valid upstream document, in file order."""
    for path, item in document.value["paths"].items():
        for method in _METHODS:
            if method in item:
                pointer = child(child("/paths", path), method)
                yield LocatedOperation(document, path, method, pointer, item[method])


def check_names(draft: Draft) -> Iterator[Finding]:
    """upstream/name"""
    for name, document in draft.upstreams.items():
        written = document.value["x-upstream"]["name"]
        if written != name:
            message = f"the name {written} differs from the folder {name}"
            yield draft.finding("upstream/name", document, "/x-upstream/name", message)


def check_operations(draft: Draft) -> Iterator[Finding]:
    """upstream/duplicate-operation, upstream/ambiguous-path"""
    for document in draft.upstreams.values():
        ids: set[str] = set()
        targets: set[tuple[str, str]] = set()
        for operation in operations(document):
            operation_id = operation.value["operationId"]
            target = (operation.method, _VARIABLE.sub("{}", operation.path))
            if operation_id in ids:
                where = child(operation.pointer, "operationId")
                message = f"{operation_id} occurs twice"
                yield draft.finding("upstream/duplicate-operation", document, where, message)
            if target in targets:
                message = "another path of this document matches the same requests"
                yield draft.finding("upstream/ambiguous-path", document, operation.pointer, message)
            ids.add(operation_id)
            targets.add(target)


def check_parameters(draft: Draft) -> Iterator[Finding]:
    """upstream/path-parameter, upstream/duplicate-parameter, ref/dangling"""
    for document in draft.upstreams.values():
        yield from _wrong_targets(draft, document)
        for operation in operations(document):
            yield from _parameters(draft, operation)


def _wrong_targets(draft: Draft, document: Document) -> Iterator[Finding]:
    """Findings about references in lists of parameters whose target is not a parameter."""
    holders = (child("/paths", path) for path in document.value["paths"])
    for holder in (*holders, *(operation.pointer for operation in operations(document))):
        for pointer, parameter in _listed(draft, document, holder):
            if not _is_parameter(parameter):
                message = "the target of the reference is not a parameter"
                yield draft.finding("ref/dangling", document, f"{pointer}/$ref", message)


def _parameters(draft: Draft, operation: LocatedOperation) -> Iterator[Finding]:
    declared: set[tuple[str, str]] = set()
    in_path: set[str] = set()
    for pointer, parameter in declared_parameters(draft, operation):
        key = (parameter["in"], parameter["name"])
        if key in declared and pointer.startswith(operation.pointer):
            message = f"{key[1]} is declared twice"
            yield draft.finding(
                "upstream/duplicate-parameter", operation.document, pointer, message
            )
        declared.add(key)
        if key[0] == "path":
            in_path.add(key[1])
            if key[1] not in _VARIABLE.findall(operation.path):
                message = f"the path has no {{{key[1]}}}"
                yield _path_parameter(draft, operation, pointer, message)
            elif parameter.get("required") is not True:
                message = f"the path parameter {key[1]} is not required"
                yield _path_parameter(draft, operation, pointer, message)
    for name in _VARIABLE.findall(operation.path):
        if name not in in_path:
            message = f"the path parameter {name} is not declared"
            yield _path_parameter(draft, operation, operation.pointer, message)


def _path_parameter(
    draft: Draft, operation: LocatedOperation, pointer: str, message: str
) -> Finding:
    return draft.finding("upstream/path-parameter", operation.document, pointer, message)


def declared_parameters(
    draft: Draft, operation: LocatedOperation
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The parameters of the operation, and those of its path that it does not declare again."""
    around = child("/paths", operation.path)
    own = {_key(each) for each in operation.value.get("parameters", ())}
    for holder in (around, operation.pointer):
        for pointer, parameter in _listed(draft, operation.document, holder):
            is_replaced = holder == around and _key(parameter) in own
            if _is_parameter(parameter) and not is_replaced:
                yield pointer, parameter


def _listed(draft: Draft, document: Document, holder: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The parameters at `holder`, without those whose reference cannot be resolved."""
    for index in range(len(draft.at(document, f"{holder}/parameters") or ())):
        pointer = f"{holder}/parameters/{index}"
        parameter = draft.expanded(document.path, pointer)
        if isinstance(parameter, dict):
            yield pointer, parameter


def _is_parameter(value: dict[str, Any]) -> bool:
    """Whether `value` has the members of a parameter. A reference may lead to something else."""
    is_named = all(isinstance(value.get(name), str) for name in ("name", "in"))
    return is_named and "schema" in value


def _key(parameter: Any) -> tuple[Any, Any] | None:
    if not isinstance(parameter, dict) or "name" not in parameter:
        return None
    return parameter.get("in"), parameter["name"]


def check_replies(draft: Draft) -> Iterator[Finding]:
    """upstream/no-reply-schema, upstream/no-example, upstream/example-refused"""
    for document in draft.upstreams.values():
        for operation in operations(document):
            yield from _replies(draft, operation)
            yield from _examples(draft, document, child(operation.pointer, "requestBody"))


def _replies(draft: Draft, operation: LocatedOperation) -> Iterator[Finding]:
    replies = operation.value["responses"]
    if not any(status.startswith("2") for status in replies):
        pointer = child(operation.pointer, "responses")
        message = "no success reply is described"
        yield draft.finding("upstream/no-reply-schema", operation.document, pointer, message)
    for status in replies:
        pointer = child(child(operation.pointer, "responses"), status)
        yield from _examples(draft, operation.document, pointer)
        if status.startswith("2") and status not in _BODILESS:
            yield from _completeness(draft, operation.document, pointer)


def _completeness(draft: Draft, document: Document, pointer: str) -> Iterator[Finding]:
    reply = draft.expanded(document.path, pointer)
    media = [
        facts
        for media_type, facts in (reply or {}).get("content", {}).items()
        if _is_json(media_type) and "schema" in facts
    ]
    if reply is not None and not media:
        message = "the reply has no JSON schema"
        yield draft.finding("upstream/no-reply-schema", document, pointer, message)
    if media and not any("example" in facts or facts.get("examples") for facts in media):
        message = "the reply has no example"
        yield draft.finding("upstream/no-example", document, pointer, message)


def _is_json(media_type: str) -> bool:
    essence = media_type.partition(";")[0].strip()
    return essence == "application/json" or essence.endswith("+json")


def _examples(draft: Draft, document: Document, pointer: str) -> Iterator[Finding]:
    """Findings about the examples of the body at `pointer`, unless it is a reference."""
    content = draft.at(document, f"{pointer}/content") or {}
    for media_type, facts in content.items():
        media = child(f"{pointer}/content", media_type)
        validator = draft.validator(document.path, f"{media}/schema")
        for where, value in _values(facts, media):
            for violation in validator.violations(value) if validator else ():
                message = f"the schema refuses this example: {violation.detail}"
                at = where + violation.pointer
                yield draft.finding("upstream/example-refused", document, at, message)


def _values(facts: dict[str, Any], media: str) -> Iterator[tuple[str, Any]]:
    if "example" in facts:
        yield f"{media}/example", facts["example"]
    for name, example in facts.get("examples", {}).items():
        yield child(child(f"{media}/examples", name), "value"), example["value"]


def check_shared_bodies(draft: Draft) -> Iterator[Finding]:
    """upstream/example-refused"""
    for document in draft.upstreams.values():
        for kind in ("responses", "requestBodies"):
            for name in draft.at(document, f"/components/{kind}") or ():
                yield from _examples(draft, document, child(f"/components/{kind}", name))


# Checks of upstreams' tables: their files, columns and keys, and the entities that they show.

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
