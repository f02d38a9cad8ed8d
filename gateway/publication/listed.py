"""What a list shows of a tool in a view."""

from typing import Any

from msgspec import Struct

from gateway.catalogue import ToolListing
from gateway.contract.selection.relaxing import published_output
from gateway.publication.prose import TOOL_CHARACTERS, shortened
from gateway.publication.slim import slim_schema
from gateway.publication.view import ToolView


class ListedTool(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A tool as one view shows it. It describes the calls; only the `ToolListing` checks them."""

    name: str
    title: str | None = None
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None = None
    annotations: dict[str, Any] | None = None


def published(listing: ToolListing, view: ToolView) -> ListedTool:
    """What `view` shows of a tool. It is a pure function: equal arguments, equal results.

    In the mode `search`, tools are described as in `slim`.
    """
    if view.mode == "full":
        return ListedTool(
            name=listing.name,
            title=listing.title,
            description=listing.description,
            input_schema=listing.input_schema,
            output_schema=published_output(listing.input_schema, listing.output_schema),
            annotations=listing.annotations,
        )
    context = f"{listing.name} {listing.title} {listing.description}"
    return ListedTool(
        name=listing.name,
        title=listing.title,
        description=shortened(listing.description, TOOL_CHARACTERS),
        input_schema=slim_schema(listing.input_schema, context),
        annotations=listing.annotations,
    )
