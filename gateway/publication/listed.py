"""What a list shows of a tool in a view."""

from typing import Any

from msgspec import Struct

from gateway.catalogue import ToolListing
from gateway.contract.selection.relaxing import published_output
from gateway.profiles.clients import PROFILES
from gateway.profiles.compiling import published_input
from gateway.profiles.compiling import published_output as client_output
from gateway.publication.prose import TOOL_CHARACTERS, shortened
from gateway.publication.slim import slim_schema, with_short_texts
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
    profile = PROFILES[view.profile]
    if view.mode == "full":
        output = published_output(listing.input_schema, listing.output_schema)
        return ListedTool(
            name=listing.name,
            title=listing.title,
            description=listing.description,
            input_schema=published_input(listing.input_schema, profile),
            output_schema=client_output(output, profile),
            annotations=listing.annotations,
        )
    # A note of the profile says what is cut. So texts are shortened before it is added.
    schema = published_input(with_short_texts(listing.input_schema), profile)
    context = f"{listing.name} {listing.title} {listing.description}"
    return ListedTool(
        name=listing.name,
        title=listing.title,
        description=shortened(listing.description, TOOL_CHARACTERS),
        input_schema=slim_schema(schema, context),
        annotations=listing.annotations,
    )
