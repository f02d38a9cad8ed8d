"""What one call may have changed, which decides whether it may be repeated, and what it says."""

import copy
import re
from typing import Any, Final

from msgspec import Struct

from gateway.audit.facts import REDACTED, sensitive_texts
from gateway.contract.operation import HttpBinding, Operation, PythonBinding
from gateway.errors import (
    GatewayError,
    InternalError,
    InvalidReply,
    ToolFailed,
    UpstreamError,
    UpstreamTimeout,
    UpstreamUnavailable,
)

HAS_HAPPENED: Final = "The call has happened: do not repeat it."
MAY_HAVE_HAPPENED: Final = "The call may have happened: check before you repeat it."
_WORD: Final = re.compile(r"\w{3,}")
_MAY_BE_KEPT: Final = "A part of it may be stored: check before you repeat it."


class CallChanges(Struct):
    """What is known about the changes of one call while it runs."""

    are_possible: bool = False
    """Whether a request was sent that changes something and that no later call may repeat."""
    are_confirmed: bool = False
    """Whether the upstream has confirmed such a request."""
    may_be_unseen: bool = False
    """Whether the handler may change things without a request to an upstream."""

    @property
    def have_begun(self) -> bool:
        """Whether a request may have changed something, so that the call must not be repeated."""
        return self.are_possible or self.are_confirmed

    def are_unknown(self, error: UpstreamError) -> bool:
        """Whether the call that failed with `error` may have changed something.

        If so, repeating the call could make the change twice.
        """
        if self.are_confirmed:
            return True
        if isinstance(error, InvalidReply):
            # An answer came, and nobody can read what it says.
            return self.are_possible
        if not error.is_retryable:
            return False
        is_doubtful = self.are_possible or (self.may_be_unseen and error.is_sent)
        return is_doubtful and isinstance(error, UpstreamTimeout | UpstreamUnavailable)


def hide_sensitive(error: GatewayError, operation: Operation, given: dict[str, Any]) -> None:
    """Mask the sensitive arguments of the call in what the upstream said."""
    texts = sensitive_texts(given, operation.sensitive) if operation.sensitive else ()
    if error.answer is not None and texts:
        error.answer = error.answer.without(texts, REDACTED)
        # It may still repeat a part of one.
        sent, said = _words(" ".join(texts)), _words(error.answer.sentence)
        error.is_answer_logged = error.is_answer_logged and not sent & said


def _words(text: str) -> set[str]:
    return {each.casefold() for each in _WORD.findall(text)}


def doubtful(error: UpstreamError, operation: Operation, changes: CallChanges) -> UpstreamError:
    """The error of a call that has changed something, or may have."""
    known = copy.copy(error)
    is_known = changes.are_confirmed and not isinstance(operation.binding, PythonBinding)
    has_happened = is_known and isinstance(error, InvalidReply)
    known.detail = f"{error.detail} {HAS_HAPPENED if has_happened else MAY_HAVE_HAPPENED}"
    known.args = (known.detail,)
    known.is_retryable = False
    return known


def declared_error(operation: Operation, error: ToolFailed, changes: CallChanges) -> Exception:
    """The error with the status that the contract declares for it.

    An error that the contract does not declare is a defect of the handler: `InternalError`. When a
    field map reports an error after a successful write, a part may be stored, so the error says
    this. A handler's error does not get this text: a handler knows what it has done.
    """
    is_partial = changes.are_confirmed and isinstance(operation.binding, HttpBinding)
    for declared in operation.errors:
        if declared.reason == error.reason:
            detail = error.explanation or declared.title
            known = ToolFailed(
                declared.reason, f"{detail} {_MAY_BE_KEPT}" if is_partial else detail
            )
            known.answer = error.answer
            known.status = declared.status
            return known
    return InternalError(f"{operation.id} failed with the undeclared error {error.reason!r}")
