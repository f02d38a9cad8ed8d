# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 36c2d3541bac8c3a747a048b897768d3; generator 1

"""The tools of every connector."""

from typing import Final

from gateway.contract.operation import Tool
from generated.tools import (
    amadeus,
    avinode,
    example,
    frankfurter,
    gmail,
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
    *gmail.TOOLS,
    *golf.TOOLS,
    *ntfy.TOOLS,
    *sheets.TOOLS,
    *supabase.TOOLS,
    *weather.TOOLS,
)
