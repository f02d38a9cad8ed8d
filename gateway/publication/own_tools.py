"""Tools of the gateway itself. No contract declares them, and no upstream serves them.

They occur on the MCP endpoints only. What they do is in `gateway.transports.mcp.own`.
"""

from functools import cached_property
from typing import Any, Final, Protocol

from msgspec import Struct

from gateway.catalogue import Entry, ToolListing
from gateway.contract.operation import Effect, Tool
from gateway.contract.values.schema import Validator
from gateway.publication.view import ToolView

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
