"""The tool that returns the next part of a result that was too large to be sent whole."""

from typing import Any, Final

from gateway.catalogue import Entry
from gateway.contract.agent_view import CONTINUE_RESULT
from gateway.contract.operation import Effect, ImportedBinding
from gateway.publication.own_tools import Hints, Offer, OwnTool, own_tool


def continuing_tools(offer: Offer) -> tuple[OwnTool, ...]:
    """The tool, for callers with a read whose results may have parts: a list or a long text."""
    return (_TOOL,) if any(map(_may_have_parts, offer.entries)) else ()


_LONG: Final = 10_000
"""Characters of a text that may be cut. Agents can be given limits for results as low as this."""
_TOOL = own_tool(
    CONTINUE_RESULT,
    "Continue a result",
    "Get the next part of a result that was too large for one answer.",
    {
        "type": "object",
        "properties": {
            "continuation": {"type": "string", "description": "From the part before, unchanged."}
        },
        "required": ["continuation"],
        "additionalProperties": False,
    },
    Hints(open_world=True),
)


def _may_have_parts(entry: Entry) -> bool:
    if entry.operation.effect is not Effect.READ or entry.operation.has_blocks:
        return False
    if isinstance(entry.operation.binding, ImportedBinding):
        return entry.operation.selects_fields or not entry.operation.file_types
    return _has_parts(entry.listing.output_schema)


def _has_parts(schema: Any) -> bool:
    """Whether a value of `schema` may have a list or a long text, at any depth."""
    if isinstance(schema, list):
        return any(map(_has_parts, schema))
    if not isinstance(schema, dict):
        return False
    is_long = isinstance(most := schema.get("maxLength"), int) and most >= _LONG
    return is_long or "items" in schema or any(map(_has_parts, schema.values()))
