"""The errors of calls whose clients cannot do what their tools need, or must answer first."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from gateway.calls.asking.wire import Given, OpenQuestion
from gateway.contract.operation import Requirement
from gateway.errors import CallerError, GatewayError

NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class CapabilityMissing(CallerError):
    """The client does not declare what the tool needs."""

    stage = "authorize"

    def __init__(self, required: tuple[Requirement, ...]) -> None:
        super().__init__(f"The client must declare: {', '.join(required)}.")
        self.required = required


class InputRequired(GatewayError):
    """The tool asks its client for input. Nothing was changed."""

    stage = "ask"
    is_retryable = True

    def __init__(
        self,
        asked: Mapping[str, OpenQuestion] = NOTHING,
        given: Mapping[str, Given] = NOTHING,
    ) -> None:
        super().__init__()
        self.asked = asked
        """The open questions by key."""
        self.given = given
        """The answers so far by key."""


class InvalidAnswer(CallerError):
    """The answer to a question of the tool is not valid."""

    stage = "ask"


class NotAnswered(CallerError):
    """The client did not answer a question of the tool. Nothing was changed."""

    stage = "ask"


class StateRefused(CallerError):
    """The state of a call is not one that this caller was given for it, or it has expired."""

    stage = "ask"
