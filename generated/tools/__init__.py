# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: a3e6a36d681de943cce3b76ffeb159b8; generator 1

"""The tools of every connector."""

from typing import Final

from gateway.contract.operation import Tool
from generated.tools import (
    amadeus,
    avinode,
    entities,
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
    *entities.TOOLS,
    *example.TOOLS,
    *frankfurter.TOOLS,
    *gmail.TOOLS,
    *golf.TOOLS,
    *ntfy.TOOLS,
    *sheets.TOOLS,
    *supabase.TOOLS,
    *weather.TOOLS,
)
