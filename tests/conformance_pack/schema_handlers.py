"""The tool of the conformance suite whose arguments use many keywords of JSON Schema 2020-12."""

from generated.models.conformance.json_schema_2020_12_tool import (
    JsonSchema202012ToolInput,
    JsonSchema202012ToolOutput,
)

from gateway.contract.connector import tool_handler


@tool_handler
async def json_schema_2020_12_tool(
    arguments: JsonSchema202012ToolInput,
) -> JsonSchema202012ToolOutput:
    """A greeting."""
    return JsonSchema202012ToolOutput(text=f"Hello, {arguments.name or 'stranger'}.")
