"""What the audit log reads of a call. The pipeline has the types."""

from collections.abc import Callable
from typing import Any, Final, Protocol

from gateway.catalogue import Entry
from gateway.contract.operation import Effect

OPERATOR: Final = "operator"
"""The transport of requests of operators, which are no calls."""
ObserveCall = Callable[[str | None, str, float], None]
"""Called with the operation of a call, its outcome, and its seconds. None: there is no such
operation."""


def observe_nothing(operation: str | None, outcome: str, seconds: float) -> None:
    """Count nothing."""


class AuditedCall(Protocol):
    """The facts of a call that are known at its start."""

    @property
    def operation_id(self) -> str: ...
    @property
    def transport(self) -> str: ...
    @property
    def request_id(self) -> str: ...


class AuditedCaller(Protocol):
    """The authenticated caller."""

    @property
    def subject(self) -> str: ...
    @property
    def agent(self) -> str: ...


class AuditedArguments(Protocol):
    """The validated arguments."""

    @property
    def given(self) -> dict[str, Any]: ...
    @property
    def effect(self) -> Effect: ...


def must_be_durable(entry: Entry | None, arguments: AuditedArguments | None) -> bool:
    """Whether the call is more than a read. Its arguments may turn a read into a write."""
    effect = arguments.effect if arguments else entry.operation.effect if entry else Effect.READ
    return effect is not Effect.READ
