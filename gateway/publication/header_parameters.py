"""Arguments that clients also send as HTTP headers, for what routes requests (SEP-2243).

The keyword `x-mcp-header` of an argument names the header `Mcp-Param-<name>`. Only clients of the
revision 2026-07-28 read it, and they must send the header. So every client of this revision is
shown the keyword, in each mode and by each profile, and no other client is.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from gateway.catalogue import Entry, ToolListing

KEYWORD: Final = "x-mcp-header"

HeaderParameters = Mapping[str, Mapping[str, str]]
"""The names of the headers by argument, for each operation, by id, that has any."""
NO_HEADERS: Final[HeaderParameters] = {}


def header_parameters(entries: Iterable[Entry]) -> HeaderParameters:
    """The header parameters of the tools with contract files. Imported tools have none."""
    named = (
        (entry.id, _named(entry.listed.input_schema))
        for entry in entries
        if isinstance(entry.listed, ToolListing)
    )
    return {id_: names for id_, names in named if names}


def _named(schema: Mapping[str, Any]) -> dict[str, str]:
    return {
        name: member[KEYWORD]
        for name, member in schema.get("properties", {}).items()
        if isinstance(member, dict) and KEYWORD in member
    }


def with_headers(schema: dict[str, Any], names: Mapping[str, str] | None) -> dict[str, Any]:
    """`schema` with exactly these header parameters. None: none."""
    names = names or {}
    return {
        **schema,
        "properties": {
            name: _marked(member, names.get(name)) for name, member in schema["properties"].items()
        },
    }


def _marked(member: Any, header: str | None) -> Any:
    if not isinstance(member, dict):
        return member
    plain = {name: value for name, value in member.items() if name != KEYWORD}
    return plain if header is None else {**plain, KEYWORD: header}


def checked_part(entry: Entry, headers: HeaderParameters) -> dict[str, Any] | None:
    """The input schema of the tool, with its header parameters only. None if it has none."""
    names = headers.get(entry.id)
    if names is None:
        return None
    members = entry.listing.input_schema["properties"]
    return {"type": "object", "properties": {name: members[name] for name in names}}
