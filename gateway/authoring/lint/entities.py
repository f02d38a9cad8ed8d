"""Checks of entities: columns, keys, filters, rules, the calls that report rows, and read tools."""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from gateway.authoring.contracts.document import Document
from gateway.authoring.contracts.entity_tools import TOOLS, declared_tools, tool_path, tool_problems
from gateway.authoring.contracts.finding import Finding
from gateway.authoring.lint.draft import Draft, is_sound
from gateway.contract.rows.entity import MOST_ENTRIES, ROW_COLUMNS, TIMES
from gateway.contract.schemas.algebra import covers, kinds
from gateway.contract.schemas.shapes import member
from gateway.contract.values.nearest import did_you_mean
from gateway.contract.values.pointers import child, steps

# Checks of entities: their columns, keys and filters.

_UUID: Final = {"type": "string", "format": "uuid"}
_MOMENT: Final = {"type": "string", "format": "date-time"}
_STANDARD: Final = {
    "id": _UUID,
    "webhook_id": _UUID,
    "occurred_at": _MOMENT,
    "created_at": _MOMENT,
    "updated_at": _MOMENT,
}
_KEYS: Final = frozenset({"string", "integer"})
_SCALARS: Final = _KEYS | {"number", "boolean"}


def check_types(draft: Draft) -> Iterator[Finding]:
    """entity/column"""
    for document in draft.entities.values():
        for name in document.value["properties"]:
            pointer = child("/properties", name)
            schema = draft.expanded(document.path, pointer)
            if isinstance(schema, dict) and "type" not in schema:
                message = f"the column {name} has no type"
                yield draft.finding("entity/column", document, pointer, message)


def check_columns(draft: Draft, unsound: frozenset[PurePosixPath]) -> Iterator[Finding]:
    """entity/standard-column, entity/column, entity/required-column"""
    for document in _sound(draft, unsound):
        for name in document.value["properties"]:
            schema = draft.expanded(document.path, child("/properties", name))
            yield from _column(draft, document, name, schema)


def _column(
    draft: Draft, document: Document, name: str, schema: dict[str, Any]
) -> Iterator[Finding]:
    pointer, facts = child("/properties", name), document.value
    is_required = name in facts["required"]
    found = kinds(schema)
    if name in _STANDARD:
        is_standard = is_required and schema.get("readOnly") is True
        if not is_standard or covers(_STANDARD[name], schema) is not True:
            message = f"{name} differs from the standard column of this name"
            yield draft.finding("entity/standard-column", document, pointer, message)
        return
    if name == TIMES:
        message = f"the name {name} is reserved for an internal column of the gateway"
        yield draft.finding("entity/column", document, pointer, message)
        return
    is_key = name in facts["x-entity"]["key"]
    is_log = name == facts["x-entity"].get("states", {}).get("log")
    if is_required and not is_key:
        message = f"{name} is required, but not a column of the key"
        yield draft.finding("entity/required-column", document, pointer, message)
    is_filled = schema.get("readOnly") is True and not is_log
    if len(_types(found)) != 1 or is_filled or ("null" not in found and not is_key):
        message = f"{name} is not a nullable column of one type"
        yield draft.finding("entity/column", document, pointer, message)


def _types(found: frozenset[str]) -> frozenset[str]:
    """The types without null. A number counts as one type, although it may be an integer."""
    return found - {"null"} - ({"integer"} if "number" in found else frozenset())


def check_keys(draft: Draft, unsound: frozenset[PurePosixPath]) -> Iterator[Finding]:
    """entity/key, entity/filter"""
    for document in _sound(draft, unsound):
        facts = document.value
        for index, name in enumerate(facts["x-entity"]["key"]):
            found = _kinds(draft, document, name)
            is_own = name in facts["required"] and name not in _STANDARD
            if not is_own or not found or not found <= _KEYS:
                message = f"{name} is not a required text or integer column of the entity"
                pointer = f"/x-entity/key/{index}"
                yield draft.finding("entity/key", document, pointer, message)
        for index, name in enumerate(facts["x-entity"]["filters"]):
            found = _types(_kinds(draft, document, name))
            if len(found) != 1 or not found <= _SCALARS:
                message = f"{name} is not a column of one scalar type"
                pointer = f"/x-entity/filters/{index}"
                yield draft.finding("entity/filter", document, pointer, message)


def _kinds(draft: Draft, document: Document, name: str) -> frozenset[str]:
    """The types of a column. Empty if there is no such column."""
    if name not in document.value["properties"]:
        return frozenset()
    return kinds(draft.expanded(document.path, child("/properties", name)))


def _sound(draft: Draft, unsound: frozenset[PurePosixPath]) -> Iterator[Document]:
    yield from (each for each in draft.entities.values() if is_sound(draft, each.path, unsound))


# Checks of the rules in x-entity: owners, defaults, computed columns and state machines.

_FACTS = "/x-entity"
_NOTHING: Final[dict[str, Any]] = {"not": {}}


def check_owners(draft: Draft, unsound: frozenset[PurePosixPath]) -> Iterator[Finding]:
    """entity/unknown-column, entity/two-owners"""
    for document in _sound(draft, unsound):
        facts = document.value["x-entity"]
        for pointer, name in _named(facts):
            if name not in document.value["properties"]:
                message = f"there is no column {name}"
                yield draft.finding("entity/unknown-column", document, pointer, message)
        taken = {*facts["key"], *ROW_COLUMNS}
        for pointer, name in _owned(facts):
            if name in taken:
                message = f"{name} already has another owner"
                yield draft.finding("entity/two-owners", document, pointer, message)
            taken.add(name)
        for pointer, name in _overwritten(facts, taken):
            message = f"another rule already writes {name}"
            yield draft.finding("entity/two-owners", document, pointer, message)


def check_states(draft: Draft, unsound: frozenset[PurePosixPath]) -> Iterator[Finding]:
    """entity/states"""
    for document in _sound(draft, unsound):
        states = document.value["x-entity"].get("states")
        if states is not None:
            columns = {
                name: draft.expanded(document.path, child("/properties", name))
                for name in document.value["properties"]
            }
            for pointer, message in _problems(columns, states):
                where = f"{_FACTS}/states{pointer}"
                yield draft.finding("entity/states", document, where, message)


def _named(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Every column that the rules name, with the pointer to the name."""
    yield from _owned(facts)
    for kind, other_column in (("defaults", "beside"), ("computed", "copy")):
        for name, rule in facts.get(kind, {}).items():
            pointer = child(f"{_FACTS}/{kind}", name)
            yield f"{pointer}/{other_column}", rule[other_column]
            for other in rule.get("when", ()):
                yield child(f"{pointer}/when", other), other
    for name in facts.get("defaults", ()):
        yield child(f"{_FACTS}/defaults", name), name
    yield from _of_states(facts)


def _overwritten(facts: dict[str, Any], taken: set[str]) -> Iterator[tuple[str, str]]:
    """Columns of states or defaults that another rule writes too, with the pointer to the name.

    The two rules would overwrite each other's values without notice.
    """
    written = set(taken)
    for pointer, name in _of_states(facts):
        if name in written:
            yield pointer, name
        written.add(name)
    for name in facts.get("defaults", ()):
        if name in written:
            yield child(f"{_FACTS}/defaults", name), name


def _of_states(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The columns that a message with a state writes, with the pointer to the name."""
    if "states" in facts:
        yield f"{_FACTS}/states/column", facts["states"]["column"]
        for index, name in enumerate(facts["states"].get("carries", ())):
            yield f"{_FACTS}/states/carries/{index}", name


def _owned(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The columns that the webhook does not own, with the pointer to the name."""
    for index, name in enumerate(facts.get("agent", ())):
        yield f"{_FACTS}/agent/{index}", name
    for name in facts.get("computed", ()):
        yield child(f"{_FACTS}/computed", name), name
    if "states" in facts:
        yield f"{_FACTS}/states/log", facts["states"]["log"]


def _problems(columns: dict[str, Any], states: dict[str, Any]) -> Iterator[tuple[str, str]]:
    known = set(states["next"])
    declared = set(columns.get(states["column"], {}).get("enum", ())) - {None}
    if declared != known:
        yield "/next", f"the states of next are not the values of the enum of {states['column']}"
    for pointer, name in _mentioned(states):
        if name not in known:
            yield pointer, f"{name} is not a state of next"
    for state, name in states.get("same", {}).items():
        if name not in states.get("carries", ()):
            yield child("/same", state), f"{name} is not a column of carries"
    yield from _log_problems(columns, states)


def _log_problems(columns: dict[str, Any], states: dict[str, Any]) -> Iterator[tuple[str, str]]:
    log = columns.get(states["log"], {})
    if log.get("type") != ["array", "null"] or log.get("readOnly") is not True:
        yield "/log", f"{states['log']} is not a read-only list that may be null"
        return
    if log.get("maxItems") != MOST_ENTRIES:
        yield "/log", f"maxItems of {states['log']} is not {MOST_ENTRIES}, the size of the log"
    logged = log.get("items", {}).get("properties", {}).get("values", {}).get("properties", {})
    for index, name in enumerate(states.get("carries", ())):
        column = columns.get(name)
        if column is not None and not _is_text(column):
            # The log has the message's form of the value, and the column has the database's form.
            yield f"/carries/{index}", f"{name} is not plain text, which carried columns must be"
        elif column is not None and covers(logged.get(name, _NOTHING), column) is not True:
            yield f"/carries/{index}", f"values in {states['log']} do not allow {name}"


def _is_text(column: dict[str, Any]) -> bool:
    is_day = column.get("format") in {"date", "date-time"}
    return kinds(column) <= {"string", "null"} and not is_day


def _mentioned(states: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Every state that is named outside the keys of `next`, with the pointer to the name."""
    for index, name in enumerate(states["initial"]):
        yield f"/initial/{index}", name
    for state, following in states["next"].items():
        for index, name in enumerate(following):
            yield f"{child('/next', state)}/{index}", name
    for name in states.get("same", ()):
        yield child("/same", name), name


# Checks of rows that calls report, and of columns that rows inherit.

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


# Checks of the read tools that entities declare.

_RENAME: Final = "Give the tool another name."


def check_tools(draft: Draft) -> Iterator[Finding]:
    """entity/tool"""
    for document in draft.entities.values():
        for which, tool in declared_tools(document).items():
            problems = tuple(tool_problems(document, which))
            for pointer, message in problems:
                yield draft.finding("entity/tool", document, pointer, message)
            place = child(TOOLS, which)
            found = draft.tree.find(tool_path(tool))
            if not problems and (found is None or found.declared != (document, place)):
                message = f"there is already a file of {tool}, or another entity has this tool"
                yield draft.finding("entity/tool", document, place, message, _RENAME)
