"""Checks of the rules in x-entity: owners, defaults, computed columns and state machines."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, Final

from gateway.contract.rows.entity import MOST_ENTRIES, ROW_COLUMNS
from gateway.contract.schemas.algebra import covers, kinds
from gateway.contract.values.pointers import child
from gateway.contracts.finding import Finding
from gateway.contracts.sources.document import Document
from gateway.lint.draft import Draft
from gateway.lint.soundness import is_sound

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
    for kind, member in (("defaults", "beside"), ("computed", "copy")):
        for name, rule in facts.get(kind, {}).items():
            pointer = child(f"{_FACTS}/{kind}", name)
            yield f"{pointer}/{member}", rule[member]
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


def _sound(draft: Draft, unsound: frozenset[PurePosixPath]) -> Iterator[Document]:
    yield from (each for each in draft.entities.values() if is_sound(draft, each.path, unsound))
