"""The tools of one offer, to search and to describe.

A ranked index of texts: BM25F (Robertson, Zaragoza 2009), in compact arrays.
"""

import math
import re
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import nlargest, nsmallest
from typing import Any, Final

from msgspec import UNSET, Struct, UnsetType

from gateway.catalogue import Entry, ToolListing
from gateway.contract.agent_view import CALL_TOOLS
from gateway.contract.operation import Effect
from gateway.contract.selection import FIELDS as SELECTED
from gateway.contract.upstream import PATH_PARAMETER
from gateway.publication.own_tools import Offer
from gateway.publication.terms import query_terms, terms

_SATURATION: Final = 0.8
"""How soon more occurrences of a term add nothing (the k1 of BM25)."""
_LOOKUP: Final = 8
"""How many postings are read in the time of looking for one."""
_ROUNDING: Final = 1e-9
"""More than the error of a sum of scores."""


class Field(Struct, frozen=True):
    """How much a field of a text counts."""

    weight: float
    length: float
    """From 0 to 1: how much a long field makes each of its terms count less (the b of BM25)."""


class _Postings(Struct, frozen=True):
    """Where a term occurs."""

    numbers: "array[int]"
    """The numbers of the texts, rising."""
    weights: "array[float]"
    """The weight of the term in each of them."""
    greatest: float

    def weight(self, number: int) -> float:
        """The weight in one text. 0 if it does not occur there."""
        place = bisect_left(self.numbers, number)
        is_found = place < len(self.numbers) and self.numbers[place] == number
        return self.weights[place] if is_found else 0.0


class _Wanted(Struct, frozen=True):
    """The terms for one word of a query, each with the factor of its weights."""

    terms: tuple[tuple[float, _Postings], ...]
    most: float
    """The greatest score that it can give."""

    def scores(self) -> dict[int, float]:
        """The texts with one of the terms, each with its best score."""
        (factor, first), *others = self.terms
        found = {
            number: factor * weight
            for number, weight in zip(first.numbers, first.weights, strict=True)
        }
        for factor, postings in others:
            for number, weight in zip(postings.numbers, postings.weights, strict=True):
                score = factor * weight
                if score > found.get(number, 0.0):
                    found[number] = score
        return found

    def added(self, scores: Mapping[int, float]) -> dict[int, float]:
        """`scores` of texts, each with its best score added."""
        length = sum(len(postings.numbers) for _, postings in self.terms)
        if len(scores) * len(self.terms) * _LOOKUP > length:
            own = self.scores()
            return {number: score + own.get(number, 0.0) for number, score in scores.items()}
        return {
            number: score + max(factor * each.weight(number) for factor, each in self.terms)
            for number, score in scores.items()
        }


class RankedIndex:
    """Ranks texts by a query. It holds numbers only; the texts are not kept."""

    def __init__(
        self, fields: Mapping[str, Field], texts: Iterable[Mapping[str, Iterable[str]]]
    ) -> None:
        """`texts`: their terms by field. A field that is not in `fields` must not occur."""
        counted = [{name: Counter(found) for name, found in each.items()} for each in texts]
        averages = {name: _average(counted, name) for name in fields}
        self._size = len(counted)
        numbers: dict[str, array[int]] = {}
        weights: dict[str, array[float]] = {}
        for number, each in enumerate(counted):
            for term, weight in _weights(each, fields, averages).items():
                numbers.setdefault(term, array("I")).append(number)
                weights.setdefault(term, array("f")).append(weight)
        self._postings = {
            term: _Postings(found, weights[term], max(weights[term]))
            for term, found in numbers.items()
        }

    def best(self, wanted: Sequence[Mapping[str, float]], limit: int) -> list[int]:
        """The numbers of the best texts, best first; equal ones in the order of the texts.

        `wanted`: for each word of the query, the terms that mean it, with their weights. Only the
        best of these counts, so that a text gains nothing by synonyms.
        """
        known = filter(None, map(self._wanted, wanted))
        rarest_first = sorted(known, key=lambda each: -each.most)
        scores: dict[int, float] = {}
        left = sum(each.most for each in rarest_first)
        bar = 0.0
        for each in rarest_first:
            if bar > left + _ROUNDING:
                # Common words have long postings. They can only reorder the texts above the bar.
                above = bar - left - _ROUNDING
                scores = each.added({n: score for n, score in scores.items() if score >= above})
            else:
                for number, score in each.scores().items():
                    scores[number] = scores.get(number, 0.0) + score
            left -= each.most
            bar = nlargest(limit, scores.values())[-1] if len(scores) >= limit else 0.0
        return nsmallest(limit, scores, key=lambda number: (-scores[number], number))

    def _wanted(self, meanings: Mapping[str, float]) -> _Wanted | None:
        """One word of a query. None if no text has it.

        A synonym counts as rare only if all synonyms are: else the one that few texts happen to use
        would count most.
        """
        known = [
            (share, self._postings[term])
            for term, share in meanings.items()
            if term in self._postings
        ]
        if not known:
            return None
        common = max((len(found.numbers) for share, found in known if share < 1), default=0)
        terms = tuple(
            (share * self._rarity(common if share < 1 else len(found.numbers)), found)
            for share, found in known
        )
        return _Wanted(terms, max(factor * found.greatest for factor, found in terms))

    def _rarity(self, found: int) -> float:
        """How much a term says that `found` texts contain."""
        return math.log(1 + (self._size - found + 0.5) / (found + 0.5))


def _average(counted: Sequence[Mapping[str, Counter[str]]], name: str) -> float:
    lengths = [each[name].total() for each in counted if name in each]
    return sum(lengths) / len(lengths) if any(lengths) else 1.0


def _weights(
    counted: Mapping[str, Counter[str]], fields: Mapping[str, Field], averages: Mapping[str, float]
) -> dict[str, float]:
    """The weight of each term of one text, from 0 to 1."""
    found: dict[str, float] = {}
    for name, counts in counted.items():
        field = fields[name]
        norm = 1 - field.length + field.length * counts.total() / averages[name]
        for term, count in counts.items():
            found[term] = found.get(term, 0.0) + field.weight * count / norm
    return {term: weight / (_SATURATION + weight) for term, weight in found.items()}


FIELDS: Final[Mapping[str, Field]] = {
    "title": Field(2.0, 0.9),
    "name": Field(3.0, 0.9),
    "summary": Field(1.0, 0.5),
    "path": Field(4.0, 0.6),
    "action": Field(1.4, 0.0),
    "description": Field(0.1, 0.7),
    "arguments": Field(0.15, 0.8),
    "meanings": Field(0.3, 0.8),
    "results": Field(0.25, 0.8),
}
_MAX_DESCRIPTION: Final = 2_000
"""Characters. What a tool does is said first; the rest of a vendor's page is about other things."""
_MAX_MEANING: Final = 120
_RESULT_DEPTH: Final = 3
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n\s*\n")
_MARKUP: Final = re.compile(r"<[^>]{0,200}>|\]\([^)\s]{0,500}\)|https?://\S+")
_ACTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "POST": ("creat",),
    "PUT": ("updat", "set"),
    "PATCH": ("updat",),
    "DELETE": ("delet", "remov"),
}


def searched_terms(
    listing: ToolListing, effect: Effect, method: str = "", path: str = ""
) -> dict[str, list[str]]:
    """The terms of a tool by field. `method` and `path` are those of the upstream, if known."""
    found = {name: terms(text) for name, text in searched_texts(listing, path).items()}
    return found | {"action": [*_action(method, path), f"effect:{effect.value}"]}


def searched_texts(listing: ToolListing, path: str = "") -> dict[str, str]:
    """The texts of a tool by field."""
    summary, rest = _split(listing.description)
    return {
        "title": listing.title,
        "name": listing.name,
        "summary": summary,
        "path": PATH_PARAMETER.sub(" ", path),
        "description": rest,
        "arguments": " ".join(_names(listing.input_schema)),
        "meanings": " ".join(_meanings(listing.input_schema)),
        "results": " ".join(_returned(listing.output_schema, _RESULT_DEPTH)),
    }


def first_sentence(description: str) -> str:
    """The first sentence or paragraph, without markup."""
    return _split(description)[0]


def _split(description: str) -> tuple[str, str]:
    """The first sentence and what follows, of the beginning of a description."""
    plain = _MARKUP.sub(" ", description[:_MAX_DESCRIPTION])
    summary, *rest = _SENTENCE.split(plain.strip(), maxsplit=1)
    return summary, " ".join(rest)


def _action(method: str, path: str) -> tuple[str, ...]:
    """The usual meaning of a method, since some vendors' titles have none."""
    if method == "GET":
        return ("get",) if path.endswith("}") else ("list",)
    return _ACTIONS.get(method, ())


def _names(schema: Mapping[str, Any]) -> Iterator[str]:
    """The names and titles of the arguments."""
    for name, member in _members(schema):
        yield name
        if isinstance(member.get("title"), str):
            yield member["title"]


def _meanings(schema: Mapping[str, Any]) -> Iterator[str]:
    """The beginnings of the descriptions of the arguments."""
    for _, member in _members(schema):
        if isinstance(member.get("description"), str):
            yield first_sentence(member["description"])[:_MAX_MEANING]


def _returned(schema: Any, depth: int) -> Iterator[str]:
    """The names of the members of a result: what a question often asks for."""
    if not isinstance(schema, dict) or depth == 0:
        return
    for name, member in _members(schema):
        yield name
        yield from _returned(member, depth - 1)
    yield from _returned(schema.get("items"), depth)


def _members(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The arguments with their schemas, except `fields`, which nearly all tools have."""
    for name, member in schema.get("properties", {}).items():
        if isinstance(member, dict) and name != SELECTED:
            yield name, member


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
