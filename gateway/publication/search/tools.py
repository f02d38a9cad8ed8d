"""The five tools of the list mode `search`. They find and call the tools that are not listed."""

from typing import Any, Final

from gateway.amounts import amount
from gateway.contract.agent_view import CALL_TOOLS, DESCRIBE_TOOLS, SEARCH_TOOLS
from gateway.contract.operation import Effect
from gateway.publication.own_tools import Hints, Offer, OwnTool, effects_of, own_tool

MAX_QUERY: Final = 200
"""Characters of a query."""
MAX_FOUND: Final = 20
DEFAULT_FOUND: Final = 8
MAX_DESCRIBED: Final = 5
_MAX_CONNECTORS: Final = 20
_MAX_NAME: Final = 128
_TITLES: Final = {
    Effect.READ: "Call a tool that reads",
    Effect.WRITE: "Call a tool that writes",
    Effect.DESTROY: "Call a tool that destroys",
}
_DOES: Final = {
    Effect.READ: "only reads",
    Effect.WRITE: "creates or changes something",
    Effect.DESTROY: "deletes something or cannot be undone",
}


def search_mode_tools(offer: Offer) -> tuple[OwnTool, ...]:
    """What an agent in this mode sees. A call tool is left out if no granted tool needs it."""
    if offer.view.mode != "search" or not offer.entries:
        return ()
    effects = effects_of(offer)
    calling = tuple(_call_tool(effect, offer) for effect in CALL_TOOLS if effect in effects)
    return (_search_tool(offer), _describe_tool(), *calling)


def _search_tool(offer: Offer) -> OwnTool:
    connectors = sorted({entry.operation.connector for entry in offer.entries})
    shown = ", ".join(connectors[:_MAX_CONNECTORS])
    more = ", …" if len(connectors) > _MAX_CONNECTORS else ""
    return own_tool(
        SEARCH_TOOLS,
        "Search tools",
        f"Search the {amount(len(offer.entries), 'tool')} that you may call, of: {shown}{more}."
        " Say what you want to do, in English. Each result has the tool's name, its required"
        " arguments, and the tool to call it with.",
        _object(
            {
                "query": {"type": "string", "minLength": 1, "maxLength": MAX_QUERY},
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MAX_FOUND,
                    "default": DEFAULT_FOUND,
                },
            },
            "query",
        ),
        Hints(),
    )


def _describe_tool() -> OwnTool:
    return own_tool(
        DESCRIBE_TOOLS,
        "Describe tools",
        "Get the full description and the input schema of tools that search_tools found. Do this"
        " before the first call of a tool. Tools in left_out did not fit: describe them alone.",
        _object(
            {
                "tools": {
                    "type": "array",
                    "items": {"type": "string", "maxLength": _MAX_NAME},
                    "minItems": 1,
                    "maxItems": MAX_DESCRIBED,
                }
            },
            "tools",
        ),
        Hints(),
    )


def _call_tool(effect: Effect, offer: Offer) -> OwnTool:
    return own_tool(
        CALL_TOOLS[effect],
        _TITLES[effect],
        f"Call a tool that {_DOES[effect]}. The result is that of the tool.",
        _object(
            {
                "tool": {
                    "type": "string",
                    "maxLength": _MAX_NAME,
                    "description": "Name from search_tools.",
                },
                "arguments": {
                    "type": "object",
                    "description": "As the tool's input schema describes.",
                },
            },
            "tool",
        ),
        _hints(effect, offer),
    )


def _hints(effect: Effect, offer: Offer) -> Hints:
    """What is true of each call that the tool can make."""
    if effect is Effect.READ:
        return Hints(open_world=True)
    destroys = effect is Effect.DESTROY or any(
        entry.tool.destructive
        for entry in offer.entries
        if entry.operation.effect is not Effect.DESTROY
    )
    return Hints(read_only=False, destructive=destroys, idempotent=False, open_world=True)


def _object(properties: dict[str, Any], required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [required],
        "additionalProperties": False,
    }
