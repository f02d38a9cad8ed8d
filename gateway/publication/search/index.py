"""A ranked index of texts: BM25F (Robertson, Zaragoza 2009), in compact arrays."""

import math
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest, nsmallest
from typing import Final

from msgspec import Struct

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
