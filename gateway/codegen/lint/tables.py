"""Tables of upstreams: files of their own, and rows of typed columns with a key."""

from collections.abc import Iterator
from typing import Any

from gateway.codegen.finding import Finding
from gateway.codegen.lint.draft import Draft
from gateway.codegen.sources.refs import Target
from gateway.contract.pointers import child
from gateway.contract.rows import KEY


def check_tables(draft: Draft) -> Iterator[Finding]:
    """upstream/table-file, upstream/table-shape, upstream/workspace"""
    for name, document in draft.upstreams.items():
        facts = document.value["x-upstream"]
        if facts.get("workspace") and "tables" not in facts:
            where = "/x-upstream/workspace"
            message = "the workspace database would have no tables"
            yield draft.finding("upstream/workspace", document, where, message)
        for table, holder in facts.get("tables", {}).items():
            pointer = child("/x-upstream/tables", table)
            target = draft.target(document, pointer, holder)
            if target is None:
                continue
            wanted = document.path.with_name("tables") / f"{table}.json"
            if (target.document.path, target.pointer) != (wanted, ""):
                message = (
                    f"the rows of {table} are described in upstreams/{name}/tables/{table}.json"
                )
                fix = f"Write {{$ref: ./tables/{table}.json}}."
                yield draft.finding("upstream/table-file", document, pointer, message, fix)
                continue
            for message in _problems(draft.expanded(document.path, pointer)):
                yield _shape(draft, target, message)


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
        if isinstance(column, dict) and "type" not in column:
            yield f"the column {name} has no type"


def _shape(draft: Draft, target: Target, message: str) -> Finding:
    return draft.finding("upstream/table-shape", target.document, target.pointer, message)
