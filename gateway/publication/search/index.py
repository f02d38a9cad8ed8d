"""A ranked index of texts: BM25F (Robertson, Zaragoza 2009), in compact arrays."""

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from heapq import nsmallest
from typing import Final

from msgspec import Struct

_SATURATION: Final = 0.8
"""How soon more occurrences of a term add nothing (the k1 of BM25)."""


class Field(Struct, frozen=True):
    """How much a field of a text counts."""

    weight: float
    length: float
    """From 0 to 1: how much a long field makes each of its terms count less (the b of BM25)."""


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
        self._postings = {term: (found, weights[term]) for term, found in numbers.items()}

    def best(self, wanted: Sequence[Mapping[str, float]], limit: int) -> list[int]:
        """The numbers of the best texts, best first; equal ones in the order of the texts.

        `wanted`: for each word of the query, the terms that mean it, with their weights. Only the
        best of these counts, so that a text gains nothing by synonyms.
        """
        scores: dict[int, float] = {}
        for meanings in wanted:
            for number, score in self._scores(meanings).items():
                scores[number] = scores.get(number, 0.0) + score
        return nsmallest(limit, scores, key=lambda number: (-scores[number], number))

    def _scores(self, meanings: Mapping[str, float]) -> dict[int, float]:
        """The texts with one of the terms, each with its best score.

        A synonym counts as rare only if all synonyms are: else the one that few texts happen to use
        would count most.
        """
        known = {term: share for term, share in meanings.items() if term in self._postings}
        common = max((len(self._postings[term][0]) for term in known if known[term] < 1), default=0)
        found: dict[int, float] = {}
        for term, share in known.items():
            numbers, weights = self._postings[term]
            rarity = share * self._rarity(common if share < 1 else len(numbers))
            for number, weight in zip(numbers, weights, strict=True):
                score = rarity * weight
                if score > found.get(number, 0.0):
                    found[number] = score
        return found

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
