# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 7659e48923d67bf547b1f02796a148a2; generator 1

"""The tools of every connector."""

from typing import Final

from gateway.contract.operation import Tool
from generated.tools import avinode, example, supabase

TOOLS: Final[tuple[Tool, ...]] = (
    *avinode.TOOLS,
    *example.TOOLS,
    *supabase.TOOLS,
)
