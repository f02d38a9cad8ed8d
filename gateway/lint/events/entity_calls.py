"""Checks of rows that calls report, and of columns that rows inherit."""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from gateway.contract.schemas.shapes import member
from gateway.contract.values.nearest import did_you_mean
from gateway.contract.values.pointers import child, steps
from gateway.contracts.finding import Finding
from gateway.contracts.sources.document import Document
from gateway.lint.draft import Draft
from gateway.lint.soundness import is_sound

_CALLS: Final = "/x-entity/calls"
_INHERITS: Final = "/x-entity/inherits"
_JSON: Final = "content/application~1json/schema"
_SIDES: Final = {
    "arguments": f"/post/requestBody/{_JSON}",
    "result": f"/post/responses/200/{_JSON}",
}


def check_calls(draft: Draft, unsound: frozenset[PurePosixPath]) -> Iterator[Finding]:
    """entity/calls

    Rows may come without the connector whose calls report them: then they have no such calls.
    """
    tools = {tool.id: tool.document for tool in draft.tools}
    connectors = {_connector(operation) for operation in tools}
    for document in draft.entities.values():
        if not is_sound(draft, document.path, unsound):
            continue
        for operation, row in document.value["x-entity"].get("calls", {}).items():
            where = child(_CALLS, operation)
            if _connector(operation) not in connectors:
                continue
            if operation not in tools:
                message = f"there is no tool {operation}"
                fix = did_you_mean(operation, tools) or "Name a tool, or remove it."
                yield draft.finding("entity/calls", document, where, message, fix)
                continue
            if not is_sound(draft, tools[operation].path, unsound):
                continue
            for pointer, message in _row_problems(draft, document, row, tools[operation]):
                yield draft.finding("entity/calls", document, f"{where}{pointer}", message)


def check_inherits(draft: Draft, unsound: frozenset[PurePosixPath]) -> Iterator[Finding]:
    """entity/inherits"""
    for document in draft.entities.values():
        if not is_sound(draft, document.path, unsound):
            continue
        facts = document.value["x-entity"]
        for column, source in facts.get("inherits", {}).items():
            where, kind = child(_INHERITS, column), source["from"]
            other = draft.entities.get(kind)
            if column not in facts.get("agent", ()):
                message = f"agents do not own a column {column}"
            elif source["by"] not in document.value["properties"]:
                message = f"there is no column {source['by']}"
            elif other is None or column not in other.value["properties"]:
                message = f"there is no column {column} of {kind}"
            else:
                continue
            yield draft.finding("entity/inherits", document, where, message)


def _connector(operation: str) -> str:
    return operation.partition(".")[0]


def _row_problems(
    draft: Draft, document: Document, row: Mapping[str, Any], tool: Document
) -> Iterator[tuple[str, str]]:
    columns, facts = document.value["properties"], document.value["x-entity"]
    for name in facts["key"]:
        if name not in row:
            yield "", f"the column {name} of the key is missing"
    others = {*facts.get("computed", ())}
    for name, place in row.items():
        if name not in columns or columns[name].get("readOnly") or name in others:
            yield child("", name), f"{name} is no column that a call can set"
        elif isinstance(place, str) and not _is_declared(draft, tool, place):
            yield child("", name), f"the tool declares no {place}"


def _is_declared(draft: Draft, tool: Document, place: str) -> bool:
    side, *rest = steps(place)
    schema = draft.expanded(tool.path, _SIDES[side])
    for name in rest:
        found = member(schema, name)
        if found is None:
            return False
        schema = found.schema
    return True
