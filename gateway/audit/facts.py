"""What the audit log reads of a call. The pipeline has the types."""

from collections.abc import Callable
from typing import Any, Final, Protocol

from gateway.audit.redaction import sensitive_texts
from gateway.catalogue import Entry
from gateway.contract.operation import Effect
from gateway.contract.refusals import with_sentence
from gateway.contract.values.hidden import visible_text
from gateway.errors import (
    GatewayError,
    InvalidArguments,
    InvalidReply,
    InvalidResult,
    NotPermitted,
)
from gateway.store.records import ACCEPTED

_PLACES: Final = 5
_MAX_TEXT: Final = 500
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
    @property
    def fallbacks(self) -> tuple[str, ...]: ...
    @property
    def left_out(self) -> tuple[str, ...]: ...


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


def with_places(error: GatewayError) -> str:
    """The detail of `error` and the places that it names, on one line."""
    found = [error.detail]
    if isinstance(error, InvalidArguments | InvalidReply | InvalidResult):
        found += [f"{each.pointer or '/'}: {each.detail}." for each in error.violations[:_PLACES]]
    return _one_line(" ".join(found))


def logged_text(error: GatewayError) -> str:
    """What the log says of `error`: no name that a caller chose. It has the
    upstream's sentence only about what the contract knows to be a matter of the operator."""
    if isinstance(error, InvalidArguments | NotPermitted):
        return error.detail
    text = with_places(error)
    return _one_line(with_sentence(text, error.answer)) if error.is_answer_logged else text


def audited_text(
    error: BaseException | None,
    entry: Entry | None,
    arguments: AuditedArguments | None,
    result: AuditedResult | None,
) -> str | None:
    """The same with the sentence of the upstream, whatever it is about. None: nothing has failed.

    It may repeat a part of the arguments, so it is left out if the call has sensitive ones. Of a
    call that succeeded, what failed and was passed over.
    """
    if not isinstance(error, GatewayError):
        return _gaps(result) or None if result else None
    text = logged_text(error)
    if entry and arguments and sensitive_texts(arguments.given, entry.operation.sensitive):
        return text
    return _one_line(with_sentence(text, error.answer))


def _gaps(result: AuditedResult) -> str:
    lacking = (f"left out of the reply: {each}" for each in result.left_out)
    return _one_line("; ".join((*result.fallbacks, *lacking)))


def _one_line(text: str) -> str:
    line = " ".join(visible_text(text)[0].split())
    return line if len(line) <= _MAX_TEXT else line[: _MAX_TEXT - 1] + "…"


def must_be_durable(entry: Entry | None, arguments: AuditedArguments | None) -> bool:
    """Whether the call is more than a read. Its arguments may turn a read into a write."""
    effect = arguments.effect if arguments else entry.operation.effect if entry else Effect.READ
    return effect is not Effect.READ
