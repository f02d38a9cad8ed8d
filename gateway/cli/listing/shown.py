"""`gateway tools list --profile`: the tools as the clients of a profile are shown them."""

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from gateway.catalogue import Entry
from gateway.cli.output import print_json, print_table
from gateway.profiles.clients import SOURCE
from gateway.publication.listed import ListedTool, published
from gateway.publication.names import ShownNames
from gateway.publication.view import ToolView


class ShownListing(Struct, frozen=True, kw_only=True):
    """A tool as `tools/list` shows it, and its operation."""

    operation: str
    tool: ListedTool


def print_shown(
    names: ShownNames, entries: Sequence[Entry], view: ToolView, *, as_json: bool
) -> None:
    """Print `entries` as `view` shows them at the endpoint for all."""
    shown = list(_shown(names, entries, view))
    if as_json:
        print_json(shown)
        return
    unchanged = [published(entry.whole_listing, replace(view, profile=SOURCE)) for entry in entries]
    print_table(
        ("operation", "MCP name", "input schema"),
        (
            (each.operation, each.tool.name, _difference(each.tool, source))
            for each, source in zip(shown, unchanged, strict=True)
        ),
    )


def _shown(names: ShownNames, entries: Sequence[Entry], view: ToolView) -> Iterator[ShownListing]:
    for entry in entries:
        name = names.name(entry.tool, None, view.profile)
        tool = replace(published(entry.whole_listing, view), name=name)
        yield ShownListing(operation=entry.id, tool=tool)


def _difference(tool: ListedTool, source: ListedTool) -> str:
    return "as in the contract" if tool.input_schema == source.input_schema else "changed"
