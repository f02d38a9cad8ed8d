"""The kinds of problems that the client of a call causes by what it cannot do."""

from collections.abc import Mapping
from typing import Final

from gateway.calls.asking.errors import CapabilityMissing
from gateway.errors import GatewayError
from gateway.transports.problem_kind import ProblemKind

CLIENT_PROBLEMS: Final[Mapping[type[GatewayError], ProblemKind]] = {
    CapabilityMissing: ProblemKind(
        400,
        "CAPABILITY_MISSING",
        "capability-missing",
        "The client cannot do what the tool needs",
        "Use a client that declares what `requires` names, or call the tool over REST.",
    ),
}
