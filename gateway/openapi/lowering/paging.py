"""Recognises lists that come in pages, so that the description of the tool says how to go on."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from gateway.contract.imported import HEADERS, ImportedReply
from gateway.openapi.reading.schemas import Schema, SchemaLowering

_CURSORS: Final = (
    "cursor",
    "pagetoken",
    "nexttoken",
    "nextcursor",
    "startingafter",
    "continuationtoken",
    "paginationtoken",
    "pagecursor",
    "marker",
)
_PAGES: Final = ("page", "pagenumber", "pageindex")
_OFFSETS: Final = ("offset", "skip", "startindex", "startat")
_SIZES: Final = ("limit", "perpage", "pagesize", "maxresults", "top", "size")
_NEXT: Final = frozenset(
    {"nextcursor", "nextpagetoken", "nexttoken", "nextpage", "hasmore", "continuationtoken"}
)
"""Members of results that name the next page, or say whether there is one."""
_PLACES: Final = ("after", "since", "sinceid", "startid", "fromid", "next", "before")
"""Names that mean a place in a list where its pages are linked, and elsewhere often a time."""
_ODD: Final = re.compile(r"[^a-z0-9]")


def paging_hint(
    arguments: Mapping[str, str],
    replies: Iterable[ImportedReply],
    schemas: SchemaLowering,
    *,
    is_linked: bool = False,
) -> str:
    """How to get the next page. Empty if the operation is not known to answer in pages.

    `arguments` are the members of the arguments that are sent in the query, by name on the wire.
    `is_linked`: the reply declares the header `Link` (RFC 8288).
    """
    replies = tuple(replies)
    link = next((each for each in _headers(replies) if each.lower() == "link"), None)
    text = _by_arguments(arguments, replies, schemas) or (
        _by_links(arguments, is_known=link is not None) if is_linked else ""
    )
    if link is None or not text:
        return text
    return f'{text} `{HEADERS}.{link}` has the address of the next page (`rel="next"`), if any.'


def _headers(replies: Iterable[ImportedReply]) -> Iterator[str]:
    return (header.name for reply in replies for header in reply.headers)


def _by_links(arguments: Mapping[str, str], *, is_known: bool) -> str:
    """The hint for a list of which only the header `Link` shows that it comes in pages."""
    known = {_plain(name): member for name, member in reversed(list(arguments.items()))}
    if place := _first(known, _PLACES):
        return f"Answers in pages: `{place}` is the place to go on."
    if is_known:
        return "Answers in pages: the next one has the query parameters of its address."
    return "Answers in pages, and no argument is known to ask for the next one."


def _by_arguments(
    arguments: Mapping[str, str], replies: Iterable[ImportedReply], schemas: SchemaLowering
) -> str:
    known = {_plain(name): member for name, member in reversed(list(arguments.items()))}
    size = _first(known, _SIZES)
    limited = f", and `{size}` their number" if size else ""
    if cursor := _first(known, _CURSORS):
        members = [each for reply in replies for each in _next_members(reply, schemas)]
        source = f"from `{members[0]}` of the result" if members else "from the result before"
        return f"Answers in pages: `{cursor}` is the place to go on, {source}."
    if page := _first(known, _PAGES):
        sized = f" `{size}` is the number of items in it." if size else ""
        return f"Answers in pages: `{page}` is the number of the page.{sized}"
    if offset := _first(known, _OFFSETS):
        return f"Answers in pages: `{offset}` is the position of the first item{limited}."
    return ""


def _first(known: Mapping[str, str], names: Iterable[str]) -> str | None:
    return next((known[name] for name in names if name in known), None)


def _plain(name: str) -> str:
    return _ODD.sub("", name.lower())


def _next_members(reply: ImportedReply, schemas: SchemaLowering) -> Iterator[str]:
    """The members of a successful JSON reply that name the next page, also one level below."""
    if reply.kind != "json" or not reply.status.startswith("2"):
        return
    for name, member in _properties(reply.schema, schemas).items():
        if _plain(name) in _NEXT:
            yield name
        yield from (
            f"{name}.{below}" for below in _properties(member, schemas) if _plain(below) in _NEXT
        )


def _properties(schema: Schema, schemas: SchemaLowering) -> Mapping[str, Any]:
    target = schemas.target(schema)
    found = target.get("properties") if isinstance(target, dict) else None
    return found if isinstance(found, dict) else {}
