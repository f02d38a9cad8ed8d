# Generated from schemas/policies/agents.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 0d466dd4ac95d291d5dcf17d20de274a; generator 1

"""Which agent may call which operations, how it sees its tools, its limits."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gateway.contract.agent_view import AgentView
from gateway.contract.policies.limits import AgentLimits, CallWindow

GRANTS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "administrator": frozenset(("words.greet",)),
        "cleaner": frozenset(
            (
                "words.forget",
                "words.greet",
            )
        ),
        "guest": frozenset(()),
        "writer": frozenset(("words.greet",)),
    }
)
VIEWS: Final[Mapping[str, AgentView]] = MappingProxyType(
    {
        "cleaner": AgentView(list="search"),
        "writer": AgentView(list="full", profile="gemini"),
    }
)
LIMITS: Final[Mapping[str, AgentLimits]] = MappingProxyType(
    {
        "cleaner": AgentLimits(concurrent=3, budget=50),
        "writer": AgentLimits(
            calls=(
                CallWindow(max=5, seconds=60),
                CallWindow(max=9, seconds=86400),
            )
        ),
    }
)
