# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 9401591d3b46054c48b6514d07079806; generator 1

"""The tools of every connector."""

from typing import Final

from gateway.contract.operation import Tool
from generated.tools import (
    amadeus,
    avinode,
    example,
    frankfurter,
    golf,
    ntfy,
    sheets,
    supabase,
    weather,
)

TOOLS: Final[tuple[Tool, ...]] = (
    *amadeus.TOOLS,
    *avinode.TOOLS,
    *example.TOOLS,
    *frankfurter.TOOLS,
    *golf.TOOLS,
    *ntfy.TOOLS,
    *sheets.TOOLS,
    *supabase.TOOLS,
    *weather.TOOLS,
)
