"""What the audit log reads of a call. The pipeline has the types."""

from collections.abc import Callable
from typing import Any, Final, Protocol

from gateway.catalogue import Entry
from gateway.contract.operation import Effect
from gateway.contract.values.hidden import visible_text
from gateway.errors import GatewayError
from gateway.store.audited import ACCEPTED

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


class NamesJob(Protocol):
    """What knows the job of a call, if there is one."""

    @property
    def job_id(self) -> str | None: ...


class AuditedArguments(Protocol):
    """The validated arguments."""

    @property
    def given(self) -> dict[str, Any]: ...
    @property
    def effect(self) -> Effect: ...


class AuditedResult(NamesJob, Protocol):
    """What a call returned."""

    @property
    def hidden_characters(self) -> int: ...


def success_status(result: AuditedResult | None) -> int:
    """The HTTP status of a call with this result, on all transports. None: it returns nothing."""
    return 200 if result is None or result.job_id is None else ACCEPTED


def job_of(*known: NamesJob | None) -> str | None:
    """The first job that is named."""
    return next((each.job_id for each in known if each is not None and each.job_id), None)


def hidden_in(result: AuditedResult | None, error: BaseException | None) -> int:
    """The number of hidden characters that were removed from the texts of a call."""
    in_error = visible_text(error.detail)[1] if isinstance(error, GatewayError) else 0
    return in_error if result is None else in_error + result.hidden_characters


def must_be_durable(entry: Entry | None, arguments: AuditedArguments | None) -> bool:
    """Whether the call is more than a read. Its arguments may turn a read into a write."""
    effect = arguments.effect if arguments else entry.operation.effect if entry else Effect.READ
    return effect is not Effect.READ
