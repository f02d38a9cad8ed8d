"""Tools of the gateway itself: for jobs, and to find tools. No contract declares them."""

from functools import cached_property
from typing import Any, Final, Protocol

from msgspec import Struct

from gateway.amounts import amount
from gateway.catalogue import Entry, ToolListing
from gateway.contract.agent_view import (
    CALL_TOOLS,
    DESCRIBE_TOOLS,
    JOB_CANCEL,
    JOB_RESULT,
    JOB_STATUS,
    SEARCH_TOOLS,
)
from gateway.contract.operation import Effect, Tool
from gateway.contract.values.schema import Validator
from gateway.publication.view import ToolView

# Tools of the gateway itself. No contract declares them, and no upstream serves them.
#
# They occur on the MCP endpoints only. What they do is in `gateway.transports.mcp.own`.

OWNER: Final = "gateway"
"""Stands for the connector in the ids of own tools. No operation of a contract has such an id."""


class Listable(Protocol):
    """What a list shows: the tool of an operation, or one of the gateway's own."""

    @property
    def tool(self) -> Tool: ...
    @property
    def listing(self) -> ToolListing: ...


class Offer(Struct, frozen=True, eq=False, kw_only=True, dict=True):
    """What one caller may call at one endpoint, and how it sees that."""

    entries: tuple[Entry, ...]
    """The tools that it is granted, as it may call them, ordered by name."""
    connector: str | None
    """The connector of the endpoint; None is the endpoint for all."""
    view: ToolView

    @cached_property
    def grants(self) -> frozenset[Entry]:
        """What may be called, and with which arguments: a policy has one entry for all agents,
        unless their arguments differ.

        Offers of one endpoint with equal grants are equal.
        """
        return frozenset(self.entries)

    def name_of(self, entry: Entry) -> str:
        """The name by which the caller calls the tool of `entry`."""
        return entry.tool.name if self.connector is None else entry.tool.bare_name


class OwnTool(Struct, frozen=True, eq=False, kw_only=True):
    """A tool of the gateway itself, as one offer has it."""

    tool: Tool
    listing: ToolListing
    input: Validator
    """The arguments that it accepts."""


class Hints(Struct, frozen=True, kw_only=True):
    """The hints of an own tool, with the meaning that MCP gives them."""

    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True
    open_world: bool = False


def own_tool(
    name: str, title: str, description: str, input_schema: dict[str, Any], hints: Hints
) -> OwnTool:
    """The own tool `name`. It has the same name at every endpoint."""
    return OwnTool(
        tool=Tool(
            operation=f"{OWNER}.{name}",
            name=name,
            bare_name=name,
            read_only=hints.read_only,
            destructive=hints.destructive,
            idempotent=hints.idempotent,
            open_world=hints.open_world,
        ),
        listing=ToolListing(
            name=name,
            title=title,
            description=description,
            input_schema=input_schema,
            output_schema={"type": "object"},
            annotations={
                "readOnlyHint": hints.read_only,
                "destructiveHint": hints.destructive,
                "idempotentHint": hints.idempotent,
                "openWorldHint": hints.open_world,
            },
        ),
        input=Validator(input_schema),
    )


def effects_of(offer: Offer) -> frozenset[Effect]:
    """The effects that calls of this caller can have, also by arguments that make a read write."""
    found = {entry.operation.effect for entry in offer.entries}
    for entry in offer.entries:
        if entry.operation.escalation is not None:
            found.add(Effect.WRITE)
    return frozenset(found)


# The tools by which callers ask about their jobs, over MCP.

_JOB: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "job_id": {
            "type": "string",
            "minLength": 1,
            "maxLength": 64,
            "description": "The job_id that the call returned.",
        }
    },
    "required": ["job_id"],
    "additionalProperties": False,
}


def job_tools(offer: Offer) -> tuple[OwnTool, ...]:
    """The tools, for callers with a tool whose calls may become jobs."""
    return _TOOLS if any(each.operation.task != "never" for each in offer.entries) else ()


_TOOLS: Final = (
    own_tool(
        JOB_STATUS,
        "Show the status of a job",
        "Get the status of a call that goes on as a job: queued, running, input_required,"
        " succeeded, failed or cancelled.",
        _JOB,
        Hints(),
    ),
    own_tool(
        JOB_RESULT,
        "Get the result of a job",
        f"Get the result of a job that has ended, as its tool would return it. Call {JOB_STATUS}"
        " first.",
        _JOB,
        Hints(),
    ),
    own_tool(
        JOB_CANCEL,
        "Cancel a job",
        "Cancel a job that has not ended. If its call changes something and has begun, it may have"
        " had its effect.",
        _JOB,
        Hints(read_only=False, destructive=True),
    ),
)


# The five tools of the list mode `search`. They find and call the tools that are not listed.

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
