"""The tools of one offer, to search and to describe."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec import UNSET, Struct, UnsetType

from gateway.catalogue import Entry, ToolListing
from gateway.contract.agent_view import CALL_TOOLS
from gateway.contract.operation import Effect
from gateway.publication.own_tools import Offer
from gateway.publication.search.index import RankedIndex
from gateway.publication.search.queries import query_terms
from gateway.publication.search.texts import FIELDS, first_sentence, searched_terms

_MAX_LINE: Final = 160
_MAX_REQUIRED: Final = 20

Address = Callable[[Entry], tuple[str, str]]
"""The method and the path of an operation's upstream request. Two empty texts if unknown."""


class FoundTool(Struct, frozen=True, kw_only=True):
    """One result of a search."""

    name: str
    description: str
    """One line."""
    effect: Effect
    call_with: str
    """The own tool that calls it."""
    writes_if: str | UnsetType = UNSET
    """The argument that makes it write when it is true. Then the tool for writes calls it."""
    required: tuple[str, ...]
    """The names of the required arguments."""


class OfferIndex:
    """Finds tools of one offer. It is built once.

    It keeps what a search shows, because the listings of imported tools are decoded each time.
    """

    def __init__(self, offer: Offer, address: Address) -> None:
        self._found: list[FoundTool] = []
        self._index = RankedIndex(FIELDS, self._texts(offer, address))

    def find(self, query: str, limit: int) -> list[FoundTool]:
        """The tools that fit `query` best, best first. Empty if no word of it occurs in any."""
        return [self._found[number] for number in self._index.best(query_terms(query), limit)]

    def _texts(self, offer: Offer, address: Address) -> Iterator[Mapping[str, list[str]]]:
        for entry in offer.entries:
            listing = entry.listing
            self._found.append(found_tool(offer, entry, listing))
            yield searched_terms(listing, entry.operation.effect, *address(entry))


def found_tool(offer: Offer, entry: Entry, listing: ToolListing) -> FoundTool:
    """The tool of `entry` as a search shows it. `listing` is that of the entry."""
    operation = entry.operation
    escalation = operation.escalation
    required: Any = listing.input_schema.get("required", ())
    return FoundTool(
        name=offer.name_of(entry),
        description=_line(listing.description) or listing.title,
        effect=operation.effect,
        call_with=CALL_TOOLS[operation.effect],
        writes_if=UNSET if escalation is None else escalation.when,
        required=tuple(required[:_MAX_REQUIRED]),
    )


def _line(description: str) -> str:
    line = " ".join(first_sentence(description).split())
    return line if len(line) <= _MAX_LINE else f"{line[:_MAX_LINE].rsplit(' ', 1)[0]} …"
