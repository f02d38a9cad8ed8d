# Generated from schemas/policies/agents.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: df4c6a8eedffc70605143d88370708d9; generator 1

"""Which agent may call which operations."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

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
