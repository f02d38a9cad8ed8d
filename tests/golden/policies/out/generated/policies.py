# Generated from schemas/policies/agents.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: f6b0813a9f1817b1a2cd1eb54597df72; generator 1

"""Which agent may call which operations, and how it sees its tools."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gateway.contract.agent_view import AgentView

GRANTS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "administrator": frozenset(("words.greet",)),
        "cleaner": frozenset(
            (
                "words.forget",
                "words.greet",
            )
        ),
        "writer": frozenset(("words.greet",)),
    }
)
VIEWS: Final[Mapping[str, AgentView]] = MappingProxyType(
    {
        "cleaner": AgentView(list="search"),
        "writer": AgentView(list="full", profile="gemini"),
    }
)
