"""Compares two versions of an imported connector: what came, what went and what changed."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from gateway.contract.imported import ImportedConnector, ImportedOperation
from gateway.contract.values.pointers import steps
from gateway.contract.values.schema import with_definitions
from gateway.openapi.lowering.records import ImportOutcome

_SCHEMAS: Final = ("input_schema", "replies")
_REPORTED: Final = (
    "tool",
    "title",
    "description",
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


Use = Literal["calls", "tokens"]


class ChangedOperation(Struct, frozen=True, kw_only=True):
    """An operation that both versions have, with the members that differ."""

    operation: str
    tool: str
    members: tuple[str, ...]


class ChangedAddress(Struct, frozen=True, kw_only=True):
    """An address to which the new version sends a credential, and the old one does not."""

    slot: str
    use: Use
    """`tokens`: the credentials of a client are sent there for a token."""
    old: tuple[str, ...]
    """The addresses of the old version for the same use. Empty: it names none."""
    new: str

    def __str__(self) -> str:
        what = "requests with" if self.use == "calls" else "the token requests of"
        return f"{what} {self.slot}: {' and '.join(self.old) or 'no address'} → {self.new}"


class ImportChanges(Struct, frozen=True, kw_only=True):
    """The differences between two versions. Operations are `GET /path`, sorted."""

    came: tuple[str, ...] = ()
    went: tuple[str, ...] = ()
    tools_went: tuple[str, ...] = ()
    """The ids of tools that the new version does not have."""
    changed: tuple[ChangedOperation, ...] = ()
    addresses: tuple[ChangedAddress, ...] = ()
    base_urls: tuple[str | None, str | None] | None = None
    """The old and the new base URL, if they differ."""
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
        tools_went=tuple(sorted({e.id for e in old.operations} - {e.id for e in new.operations})),
        changed=tuple(
            ChangedOperation(operation=key, tool=after[key].tool, members=members)
            for key in both
            if (members := tuple(_changed(old, before[key], new, after[key])))
        ),
        addresses=tuple(_changed_addresses(old, new)),
        base_urls=None if old.base_url == new.base_url else (old.base_url, new.base_url),
        webhooks_came=tuple(sorted(sends - sent)),
        webhooks_went=tuple(sorted(sent - sends)),
    )


def _changed_addresses(old: ImportedConnector, new: ImportedConnector) -> Iterator[ChangedAddress]:
    """The new addresses of the slots that both versions have. Others have no credentials yet."""
    before, after = _addresses(old), _addresses(new)
    known = {each.name for each in old.slots}
    for (slot, use), urls in sorted(after.items()):
        was = before.get((slot, use), set())
        for url in sorted(urls - was) if slot in known else ():
            yield ChangedAddress(slot=slot, use=use, old=tuple(sorted(was)), new=url)


def _addresses(connector: ImportedConnector) -> dict[tuple[str, Use], set[str]]:
    """Where the credentials of each slot are sent."""
    found: dict[tuple[str, Use], set[str]] = {}
    for slot in connector.slots:
        if slot.token_url is not None:
            found[slot.name, "tokens"] = {slot.token_url}
    for operation in connector.callable_operations:
        url = operation.server or connector.base_url
        for use in (use for uses in operation.security for use in uses):
            if url is not None:
                found.setdefault((use.slot, "calls"), set()).add(url)
    return found


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
