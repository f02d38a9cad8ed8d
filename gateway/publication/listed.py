"""What a list shows of a tool in a view, and the arguments that are HTTP headers too."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from msgspec import Struct

from gateway.catalogue import Entry, ToolListing
from gateway.contract.schemas.keywords import SCHEMA_LISTS
from gateway.contract.selection import published_output
from gateway.profiles.clients import PROFILES
from gateway.profiles.refusals import published_input
from gateway.profiles.refusals import published_output as client_output
from gateway.publication.view import ToolView

# What a list shows of a tool in a view.
#
# The schemas of the mode `slim`: what costs tokens and says nothing to a model is left out.
#
# Every keyword that restricts arguments stays, `additionalProperties: false` too: without it,
# models make up members, and hosts with a strict mode refuse the schema.

TOOL_CHARACTERS: Final = 600
"""The most characters of a tool's description in the mode `slim`."""
MEMBER_CHARACTERS: Final = 300
"""The same for each description inside a schema."""
_READ: Final = 20
"""Of a longer description, only this many times its limit is read."""
_LINK: Final = re.compile(r"!?\[([^\[\]\n]*)\]\((?:https?://|/|#)[^()\s]*\)")
_TAG: Final = re.compile(
    r"</?(?:a|b|br|code|div|em|i|li|ol|p|span|strong|ul)(?:\s[^<>]{0,2000})?/?>", re.IGNORECASE
)
_BLANK: Final = re.compile(r"[ \t]*\n\s*\n\s*")
_SENTENCE: Final = re.compile(r"[.!?][\"')\]`]*(?=\s)")


def shortened(text: str, limit: int) -> str:
    """`text` without the targets of links and without HTML tags, of at most `limit` characters.

    A longer text ends with its last whole paragraph or sentence, or else with a word and `…`. A
    text without links and tags that is not longer than `limit` is returned unchanged.
    """
    read = text[: limit * _READ]
    if "](" in read:
        read = _LINK.sub(r"\1", read)
    if "<" in read:
        read = _TAG.sub("", read)
    if read is not text:
        read = read.strip()
    return read if len(read) <= limit else _cut(read, limit)


def _cut(text: str, limit: int) -> str:
    """The longest beginning of whole sentences, at least a third of `limit`; else of words."""
    kept = _BLANK.sub("\n\n", text)[: limit + 1]
    paragraph = kept.rfind("\n\n", 0, limit + 1)
    sentences = [found.end() for found in _SENTENCE.finditer(kept) if found.end() <= limit]
    end = max([paragraph, *sentences[-1:]])
    if end * 3 >= limit:
        return kept[:end].rstrip()
    word = kept.rfind(" ", 0, limit)
    return f"{kept[: word if word > 0 else limit - 1].rstrip()}…"


_UNSAID: Final = frozenset({"$schema", "$comment", "externalDocs", "xml"})
_MAPS: Final = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)
_ONES: Final = frozenset(
    {
        "items",
        "additionalProperties",
        "additionalItems",
        "contains",
        "else",
        "if",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_WORD: Final = re.compile(r"\w+")
_ROOT_WORDS: Final = "input"


def slim_schema(schema: Mapping[str, Any], context: str) -> dict[str, Any]:
    """`schema` without what repeats `context`, which is the tool's name, title and description.

    The result accepts the same values. It shares unchanged parts with `schema`.
    """
    return _slim(schema, f"{context} {_ROOT_WORDS}")


def with_short_texts(schema: Mapping[str, Any]) -> dict[str, Any]:
    """`schema` with shortened descriptions.

    It is for schemas of contracts: the notes of a client profile are added behind a short text.
    """
    short = {
        keyword: _with_short_texts(keyword, value) if isinstance(value, dict | list) else value
        for keyword, value in schema.items()
    }
    text = schema.get("description")
    if isinstance(text, str):
        short["description"] = shortened(text, MEMBER_CHARACTERS)
    return short


def _with_short_texts(keyword: str, value: Any) -> Any:
    return _each(keyword, value, lambda part, _: with_short_texts(part))


def _slim(schema: Mapping[str, Any], context: str) -> dict[str, Any]:
    slim: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in _UNSAID or keyword.startswith("x-"):
            continue
        if keyword == "title" and isinstance(value, str):
            if not _is_said(value, f"{context} {schema.get('description', '')}"):
                slim[keyword] = value
        else:
            slim[keyword] = _each(keyword, value, _slim)
    return slim


def _each(keyword: str, value: Any, change: Callable[[dict[str, Any], str], Any]) -> Any:
    """The value of `keyword` with `change(schema, name)` in the place of each schema in it."""

    def changed(schema: Any, name: str = "") -> Any:
        return change(schema, name) if isinstance(schema, dict) else schema

    if keyword in _MAPS and isinstance(value, dict):
        return {name: changed(each, name) for name, each in value.items()}
    if keyword in SCHEMA_LISTS and isinstance(value, list):
        return [changed(each) for each in value]
    return changed(value) if keyword in _ONES else value


def _is_said(title: str, elsewhere: str) -> bool:
    """Whether each word of `title` is also in the texts `elsewhere`, in any order."""
    return _words(title) <= _words(elsewhere)


def _words(text: str) -> frozenset[str]:
    """The words in lower case. Letters of any script and digits make words."""
    return frozenset(_WORD.findall(text.lower().replace("_", " ")))


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


# Arguments that clients also send as HTTP headers, for what routes requests (SEP-2243).
#
# The keyword `x-mcp-header` of an argument names the header `Mcp-Param-<name>`. Only clients of the
# revision 2026-07-28 read it, and they must send the header. So every client of this revision is
# shown the keyword, in each mode and by each profile, and no other client is.

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
