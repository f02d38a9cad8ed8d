"""Records of one import: the operations of a document, and the report."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from gateway.contract.imported import ImportedConnector
from gateway.contracts.finding import Finding


class OperationSource(Struct, frozen=True, kw_only=True, eq=False):
    """One Operation Object of the document, with its Path Item."""

    method: str
    """In upper case."""
    path: str
    """The path template."""
    pointer: str
    """JSON Pointer to the operation in the normal document."""
    item_pointer: str
    item: Mapping[str, Any]
    """The Path Item, with `$ref` followed."""
    value: Mapping[str, Any]

    @property
    def key(self) -> str:
        """`GET /users/{id}`, which identifies the operation."""
        return f"{self.method} {self.path}"

    @property
    def operation_id(self) -> str | None:
        found = self.value.get("operationId")
        return found if isinstance(found, str) and found else None

    @property
    def tags(self) -> tuple[str, ...]:
        found = self.value.get("tags")
        return tuple(map(str, found)) if isinstance(found, list) else ()


class Unservable(Exception):
    """A part of an operation that cannot be served exactly."""

    def __init__(self, pointer: str, rule: str, message: str, fix: str) -> None:
        super().__init__(message)
        self.pointer = pointer
        """JSON Pointer in the normal document."""
        self.rule = rule
        self.message = message
        self.fix = fix


class RefusedOperation(Struct, frozen=True, kw_only=True):
    """A selected operation that is not served, and why."""

    operation: str
    """`GET /users/{id}`."""
    finding: Finding


class RenamedOperation(Struct, frozen=True, kw_only=True):
    """A tool whose name differs from its operationId in more than the way of writing."""

    operation: str
    operation_id: str | None
    tool: str
    reason: str


class NeededCredential(Struct, frozen=True, kw_only=True):
    """A credential slot that served operations use."""

    slot: str
    kind: str
    settings: tuple[str, ...]
    choices: str
    """Which of the settings are set together, for people: `A, or B with C`."""
    operations: int
    """The number of served operations that may use it."""


class ImportReport(Struct, frozen=True, kw_only=True):
    """What an import serves, and what it does not serve."""

    connector: str
    title: str
    document: str
    version: str
    """The OpenAPI version of the document."""
    sha256: str
    operations: int
    """The number of operations in the document."""
    selected: int
    served: int
    refused: tuple[RefusedOperation, ...] = ()
    renamed: tuple[RenamedOperation, ...] = ()
    credentials: tuple[NeededCredential, ...] = ()
    notes: tuple[Finding, ...] = ()
    """What is served differently from the document, or is left out."""
    webhooks: tuple[str, ...] = ()
    """The webhooks of the document by name, and the callbacks of the selected operations."""

    @property
    def causes(self) -> dict[str, int]:
        """The number of refused operations by rule."""
        found: dict[str, int] = {}
        for each in self.refused:
            found[each.finding.rule] = found.get(each.finding.rule, 0) + 1
        return dict(sorted(found.items()))


class ImportOutcome(Struct, frozen=True, kw_only=True):
    """The record that is served, and the report."""

    connector: ImportedConnector
    report: ImportReport


class WrongSelection(Exception):
    """A part of `import.yaml` that does not fit the document."""

    def __init__(self, pointer: str, message: str, fix: str) -> None:
        super().__init__(message)
        self.pointer = pointer
        """JSON Pointer in `import.yaml`."""
        self.message = message
        self.fix = fix
