# Generated from schemas/policies/agents.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 80ee3483838bc61c310e98bc2fafe1c2; generator 1

"""Which agent may call which operations."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

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
