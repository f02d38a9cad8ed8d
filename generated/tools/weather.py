# Generated from schemas/tools/weather/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: f9a2190f59efe1ce11f42b5fd0da7dbd; generator 1

"""The MCP tools of weather."""

from typing import Final

from gateway.contract.operation import Tool

TOOLS: Final[tuple[Tool, ...]] = (
    Tool(
        operation="weather.get_weather",
        name="weather_get_weather",
        bare_name="get_weather",
        aliases=("get_weather",),
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=True,
    ),
)
