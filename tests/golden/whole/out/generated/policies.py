# Generated from schemas/policies/agents.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: df4c6a8eedffc70605143d88370708d9; generator 1

"""Which agent may call which operations, how it sees its tools, its limits."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gateway.contract.agent_view import AgentView
from gateway.contract.policies.limits import AgentLimits

GRANTS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "administrator": frozenset(
            (
                "demo.show",
                "words.greet",
            )
        ),
    }
)
VIEWS: Final[Mapping[str, AgentView]] = MappingProxyType({})
LIMITS: Final[Mapping[str, AgentLimits]] = MappingProxyType({})
