"""The kinds of problems that the client of a call causes by what it cannot do."""

from collections.abc import Mapping
from typing import Final

from gateway.calls.asking.errors import (
    CapabilityMissing,
    InputRequired,
    InvalidAnswer,
    NotAnswered,
    StateRefused,
)
from gateway.errors import GatewayError
from gateway.transports.problem_kind import ProblemKind

CLIENT_PROBLEMS: Final[Mapping[type[GatewayError], ProblemKind]] = {
    CapabilityMissing: ProblemKind(
        400,
        "CAPABILITY_MISSING",
        "capability-missing",
        "The client cannot do what the tool needs",
        "Use an MCP client that declares what `requires` names. Tools that require only tasks can"
        " be called over REST.",
    ),
    InputRequired: ProblemKind(
        428,
        "INPUT_REQUIRED",
        "input-required",
        "The tool asks its client for input",
        "This is the outcome of a round in audit records. Clients of MCP get the questions instead,"
        " and repeat the call with the answers.",
    ),
    InvalidAnswer: ProblemKind(
        400,
        "INVALID_ANSWER",
        "invalid-answer",
        "The answer to a question of the tool is not valid",
        "Answer again, as the question's schema says.",
    ),
    NotAnswered: ProblemKind(
        408,
        "NOT_ANSWERED",
        "not-answered",
        "The client did not answer a question of the tool",
        "Nothing was changed. Call the tool again when its question can be answered.",
    ),
    StateRefused: ProblemKind(
        400,
        "STATE_REFUSED",
        "state-refused",
        "The state of the call is not valid, or it has expired",
        "Repeat `requestState` exactly as it was given, with the same arguments and the same key,"
        " within ten minutes; or call the tool again from the beginning.",
    ),
}
