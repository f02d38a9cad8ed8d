"""Compares two versions of an imported connector: what came, what went and what changed."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from gateway.contract.imported import ImportedConnector, ImportedOperation
from gateway.contract.values.definitions import with_definitions
from gateway.contract.values.pointers import steps
from gateway.openapi.lowering.records import ImportOutcome

_SCHEMAS: Final = ("input_schema", "replies")
_REPORTED: Final = (
    "tool",
    "effect",
    "method",
    "path",
    "server",
    "input_schema",
    "parameters",
    "body",
    "replies",
    "security",
)
"""Members whose change is reported, in the order of the report."""


class ChangedOperation(Struct, frozen=True, kw_only=True):
    """An operation that both versions have, with the members that differ."""

    operation: str
    tool: str
    members: tuple[str, ...]


class ImportChanges(Struct, frozen=True, kw_only=True):
    """The differences between two versions. Operations are `GET /path`, sorted."""

    came: tuple[str, ...] = ()
    went: tuple[str, ...] = ()
    changed: tuple[ChangedOperation, ...] = ()
    webhooks_came: tuple[str, ...] = ()
    webhooks_went: tuple[str, ...] = ()
    """Webhooks and callbacks, as `ImportReport.webhooks` names them."""


def compared(old_outcome: ImportOutcome, new_outcome: ImportOutcome) -> ImportChanges:
    """The differences of the served operations and the webhooks of the new version."""
    old, new = old_outcome.connector, new_outcome.connector
    before, after = _by_key(old), _by_key(new)
    sent, sends = {*old_outcome.report.webhooks}, {*new_outcome.report.webhooks}
    both = sorted(before.keys() & after.keys())
    return ImportChanges(
        came=tuple(sorted(after.keys() - before.keys())),
        went=tuple(sorted(before.keys() - after.keys())),
        changed=tuple(
            ChangedOperation(operation=key, tool=after[key].tool, members=members)
            for key in both
            if (members := tuple(_changed(old, before[key], new, after[key])))
        ),
        webhooks_came=tuple(sorted(sends - sent)),
        webhooks_went=tuple(sorted(sent - sends)),
    )


def kept_names(old: ImportedConnector, new: ImportedConnector) -> dict[str, str]:
    """The old names of operations whose tools would have other names in `new`, by operation."""
    before, after = _by_key(old), _by_key(new)
    return {
        key: before[key].tool
        for key in sorted(before.keys() & after.keys())
        if before[key].tool != after[key].tool
    }


def _by_key(connector: ImportedConnector) -> dict[str, ImportedOperation]:
    # Several operations may have the same path, apart from a fixed query or a fragment.
    return {
        _key(each): each for each in sorted(connector.callable_operations, key=lambda e: e.pointer)
    }


def _key(operation: ImportedOperation) -> str:
    match steps(operation.pointer):
        case ["paths", path, *_] if path.startswith(operation.path):
            return f"{operation.method} {path}"
    return f"{operation.method} {operation.path}"


def _changed(
    old: ImportedConnector,
    before: ImportedOperation,
    new: ImportedConnector,
    after: ImportedOperation,
) -> Iterator[str]:
    for member in _REPORTED:
        first, second = getattr(before, member), getattr(after, member)
        if first != second or (
            member in _SCHEMAS
            and _complete(before, member, old.definitions)
            != _complete(after, member, new.definitions)
        ):
            yield member


def _complete(
    operation: ImportedOperation, member: str, definitions: Mapping[str, Any]
) -> list[Any]:
    """The schemas of a member, with the definitions that they need."""
    if member == "input_schema":
        return [with_definitions(operation.input_schema, definitions)]
    return [with_definitions(each.schema, definitions) for each in operation.replies]
