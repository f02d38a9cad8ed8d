"""Finds a number, a text, true, false or null that fulfils conditions, or shows there is none."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from fractions import Fraction
from math import ceil, floor, gcd, lcm
from random import Random
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct

from gateway.contract.schemas.claims import Condition, exact
from gateway.contract.schemas.flattening import NoSample, Steps
from gateway.contract.schemas.languages import Automaton, NoAutomaton, Texts, shortest
from gateway.contract.schemas.strings import text
from gateway.contract.values.schema import Validator, matcher

_encoder: Final = msgspec.json.Encoder(order="deterministic")
_MAX_POINTS: Final = 500
_MAX_TEXTS: Final = 20


_WIDER: Final[Mapping[str, tuple[str, ...]]] = {
    "uri": ("uri-reference", "iri", "iri-reference"),
    "uri-reference": ("iri-reference",),
    "iri": ("iri-reference",),
}
"""Formats, and those that they are by definition (RFC 3986 §4.1, RFC 3987 §1.2 and §2.2)."""


class Nothing(Enum):
    """Why there is no model."""

    EMPTY = "no value exists"
    UNKNOWN = "neither a value nor a proof was found"


class Solution(Struct, frozen=True):
    """A value of which the claims are true."""

    value: Any


Found: TypeAlias = Solution | Nothing
EMPTY, UNKNOWN = Nothing.EMPTY, Nothing.UNKNOWN


class Words:
    """Conditions that hold together, by word."""

    def __init__(self, conditions: Iterable[Condition]) -> None:
        self._found: dict[str, list[Any]] = {}
        for word, given in conditions:
            self._found.setdefault(word, []).append(given)

    def all(self, word: str) -> list[Any]:
        """What the conditions with this word say."""
        return self._found.get(word, [])

    def least(self) -> int:
        """The least length."""
        return max([0, *map(ceil, self._numbers("least"))])

    def most(self) -> int | None:
        """The greatest length."""
        given = self._numbers("most")
        return min(map(floor, given)) if given else None

    def _formats(self) -> set[str]:
        """The formats that a text has, with those that each of them is by definition."""
        given = self.all("format")
        return {*given, *(wider for each in given for wider in _WIDER.get(each, ()))}

    def _numbers(self, word: str) -> list[float]:
        return self._found.get(word, [])

    def excluded(self) -> list[Any]:
        """Values that are not meant."""
        return [value for given in self.all("excluded") for value in given]

    def is_contradiction(self) -> bool:
        """Whether the conditions obviously exclude each other."""
        most = self.most()
        return (
            (most is not None and self.least() > most)
            or not set(self.all("present")).isdisjoint(self.all("absent"))
            or len(set(self.all("whole"))) > 1
            or not set(self.all("pattern")).isdisjoint(self.all("no pattern"))
            or not self._formats().isdisjoint(self.all("no format"))
        )


def kind_of(value: Any) -> str:
    """The kind of a value, as in `KINDS`."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case dict():
            return "object"
        case list():
            return "array"
    return "number"


def is_same(one: Any, other: Any) -> bool:
    return _normal(one) == _normal(other)


def _normal(value: Any) -> bytes:
    """A text that is equal for values that JSON Schema holds to be equal: 1 and 1.0."""
    return _encoder.encode(_numbered(value))


def _numbered(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _numbered(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_numbered(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


# Numbers.


def number(work: Steps, words: Words) -> Found:
    lows = [(exact(n), False) for n in words.all("minimum")]
    lows += [(exact(n), True) for n in words.all("exclusiveMinimum")]
    highs = [(-exact(n), False) for n in words.all("maximum")]
    highs += [(-exact(n), True) for n in words.all("exclusiveMaximum")]
    low, high = max(lows, default=None), max(highs, default=None)
    steps = [exact(n) for n in words.all("multipleOf")]
    barred = [exact(n) for n in words.all("no multipleOf")]
    if words.all("whole"):
        (steps if words.all("whole")[0] else barred).append(Fraction(1))
    excluded = {exact(n) for n in words.excluded() if kind_of(n) == "number"}

    def is_allowed(point: Fraction) -> bool:
        work.spend(1)
        return point not in excluded and all((point / n).denominator != 1 for n in barred)

    upper = None if high is None else (-high[0], high[1])
    if steps:
        return _on_grid(_common_step(steps), (low, upper), barred, excluded, is_allowed)
    return _between(low, upper, is_allowed)


_Limit: TypeAlias = tuple[Fraction, bool] | None
"""A bound, and whether it is excluded."""


def _common_step(steps: list[Fraction]) -> Fraction:
    numerators, denominators = zip(*(each.as_integer_ratio() for each in steps), strict=True)
    return Fraction(lcm(*numerators), gcd(*denominators))


def _on_grid(
    step: Fraction,
    limits: tuple[_Limit, _Limit],
    barred: list[Fraction],
    excluded: set[Fraction],
    is_allowed: Callable[[Fraction], bool],
) -> Found:
    low, high = limits
    start, end = None, None
    if low is not None:
        start = ceil(low[0] / step)
        start += low[1] and start * step == low[0]
    if high is not None:
        end = floor(high[0] / step)
        end -= high[1] and end * step == high[0]
    if start is not None and end is not None and start > end:
        return EMPTY
    if any((step / each).denominator == 1 for each in barred):
        return EMPTY  # Each point is a multiple that is not allowed.
    tried = 0
    most = _MAX_POINTS + len(excluded)
    for tried, count in enumerate(_outward(start, end), 1):
        if count * step not in excluded and is_allowed(count * step):
            return _number_model(count * step)
        if tried >= most:
            return UNKNOWN
    return EMPTY


def _outward(start: int | None, end: int | None) -> Iterator[int]:
    """The integers from `start` to `end`, beginning with the one nearest to zero."""
    middle = 0 if start is None else max(0, start)
    middle = middle if end is None else min(middle, end)
    yield middle
    distance = 0
    while True:
        distance += 1
        above, below = middle + distance, middle - distance
        is_above, is_below = end is None or above <= end, start is None or below >= start
        if is_above:
            yield above
        if is_below:
            yield below
        if not is_above and not is_below:
            return


def _between(low: _Limit, high: _Limit, is_allowed: Callable[[Fraction], bool]) -> Found:
    if low is not None and high is not None:
        if low[0] > high[0] or (low[0] == high[0] and (low[1] or high[1])):
            return EMPTY
        if low[0] == high[0]:
            return _number_model(low[0]) if is_allowed(low[0]) else EMPTY
    for point in _points(low, high):
        if _is_within(point, low, high) and is_allowed(point):
            return _number_model(point)
    return UNKNOWN


def _is_within(point: Fraction, low: _Limit, high: _Limit) -> bool:
    return (low is None or (point >= low[0] and not (low[1] and point == low[0]))) and (
        high is None or (point <= high[0] and not (high[1] and point == high[0]))
    )


def _points(low: _Limit, high: _Limit) -> Iterator[Fraction]:
    """Numbers near zero, near the bounds, and between them."""
    centres = [Fraction(0), *(each[0] for each in (low, high) if each is not None)]
    for size in (1, 2, 10, 100, 1000, 7, 13):
        for centre in centres:
            for count in range(12):
                yield centre + Fraction(count, size)
                yield centre - Fraction(count, size)
    if low is not None and high is not None:
        width = high[0] - low[0]
        yield from (low[0] + width * Fraction(part, 64) for part in range(1, 64))


def _number_model(point: Fraction) -> Found:
    if point.denominator == 1:
        return Solution(point.numerator)
    try:
        value = float(point)
    except OverflowError:
        return UNKNOWN
    return Solution(value) if exact(value) == point else UNKNOWN


# Texts.


def some_text(work: Steps, words: Words) -> Found:
    texts = Texts(
        words.least(),
        words.most(),
        frozenset(words.all("pattern")),
        frozenset(words.all("no pattern")),
        frozenset(each for each in words.excluded() if isinstance(each, str)),
    )
    formats, barred = frozenset(words.all("format")), frozenset(words.all("no format"))
    # Formats and patterns that are not decided are left out here: an empty rest is still a proof.
    known = _decidable(texts, formats)
    is_exact = texts.unwanted == known.unwanted and texts.wanted <= known.wanted
    for odd in _odd(known, barred, work) if barred and is_exact else ():
        if _has_formats(odd, formats, barred):
            return Solution(odd)
    for _ in range(_MAX_TEXTS):
        found = shortest(known, work)
        if found is None:
            return EMPTY
        if is_exact and _has_formats(found, formats, barred):
            return Solution(found)
        known = msgspec.structs.replace(known, excluded=known.excluded | {found})
    return _sampled(work, texts, formats, barred)


_ODD: Final = ("a", "a b", "%", "\\", "(", "{", "ab c d")
"""Texts that lack some formats."""
_STRANGE: Final = (r"[ \\{]", "\u00e9")
"""Characters that most formats refuse, or all that are of ASCII."""


def _odd(texts: Texts, barred: frozenset[str], work: Steps) -> Iterator[str]:
    """Some of `texts` that lack some formats."""
    for odd in _ODD:
        work.spend(len(odd) + len(texts.wanted) + len(texts.unwanted))
        if _is_one_of(odd, texts):
            yield odd
    forms = [frozenset({_FORMS[each]}) for each in sorted(barred) if each in _FORMS]
    others = [(texts.wanted, texts.unwanted | form) for form in forms]
    others += [(texts.wanted | {each}, texts.unwanted) for each in _STRANGE]
    for wanted, unwanted in others:
        found = shortest(msgspec.structs.replace(texts, wanted=wanted, unwanted=unwanted), work)
        if found is not None:
            yield found


def _is_one_of(value: str, texts: Texts) -> bool:
    """Whether a text is one of `texts`, of which each pattern can be decided."""
    if not texts.least <= len(value) <= (len(value) if texts.most is None else texts.most):
        return False
    return value not in texts.excluded and all(
        (matches := matcher(pattern)) is not None and matches(value) == is_wanted
        for patterns, is_wanted in ((texts.wanted, True), (texts.unwanted, False))
        for pattern in patterns
    )


_DATE: Final = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME: Final = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})"
_ATOM: Final = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL: Final = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_FORMS: Final[Mapping[str, str]] = {
    "date": f"^{_DATE}$",
    "date-time": f"^{_DATE}[Tt]{_TIME}$",
    "time": f"^{_TIME}$",
    "uuid": "^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$",
    "ipv4": r"^[0-9]{1,3}(\.[0-9]{1,3}){3}$",
    "ipv6": "^[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*$",
    "email": rf'^({_ATOM}(\.{_ATOM})*|"([\t -!#-\[\]-~]|\\[!-~])*")'
    rf"@({_LABEL}(\.{_LABEL})*|\[[0-9A-Za-z:.]+\])$",
    "duration": "^P[0-9A-Z.,]+$",
    "uri": "^[A-Za-z][A-Za-z0-9+.-]*:",
    "iri": "^[A-Za-z][A-Za-z0-9+.-]*:",
    "uri-reference": "^[!-~]*$",
    "hostname": "^[A-Za-z0-9.-]+$",
    "idn-email": "@",
    "json-pointer": "^(/|$)",
    "relative-json-pointer": "^[0-9]+(#$|/|$)",
}
"""A pattern that every text of the format matches. Others may match it too."""
_LIMITS: Final[Mapping[str, str]] = {"email": '^([^"].{0,63}|".{0,62}")@[^@]{1,253}$'}
"""Another one. A text that matches the first can fail it only with more than `_LONG` characters."""
_LONG: Final = 64


def _decidable(texts: Texts, formats: frozenset[str]) -> Texts:
    """`texts` without the patterns that cannot be decided, with those of the formats."""

    def kept(patterns: frozenset[str]) -> frozenset[str]:
        return frozenset(each for each in patterns if _is_decidable(each))

    wanted, unwanted = kept(texts.wanted), kept(texts.unwanted)
    wanted |= {_FORMS[each] for each in formats if each in _FORMS}
    if texts.least > _LONG:
        wanted |= {_LIMITS[each] for each in formats if each in _LIMITS}
    return msgspec.structs.replace(texts, wanted=wanted, unwanted=unwanted)


def _is_decidable(pattern: str) -> bool:
    try:
        Automaton(pattern)
    except NoAutomaton:
        return False
    return True


def _has_formats(value: str, wanted: frozenset[str], barred: frozenset[str]) -> bool:
    return all(_has_format(each, value) for each in wanted) and not any(
        _has_format(each, value) for each in barred
    )


def _has_format(name: str, value: str) -> bool:
    if name not in _FORMATS:
        _FORMATS[name] = Validator({"format": name}).admits
    return _FORMATS[name](value)


_FORMATS: Final[dict[str, Callable[[Any], bool]]] = {}


def _sampled(work: Steps, texts: Texts, formats: frozenset[str], barred: frozenset[str]) -> Found:
    """A text that also has formats, or patterns that are not decided: one of some samples."""
    schema: dict[str, Any] = {"minLength": texts.least}
    schema |= {} if texts.most is None else {"maxLength": texts.most}
    schema |= {"pattern": sorted(texts.wanted), "format": sorted(formats)}
    for number in range(_MAX_TEXTS):
        try:
            found = text(schema, Random(number), work)  # noqa: S311 - repeatable by design
        except NoSample:
            if work.left <= 0:
                raise
            return UNKNOWN
        unwanted = (matcher(each) for each in texts.unwanted)
        if (
            found not in texts.excluded
            and _has_formats(found, formats, barred)
            and not any(each is None or each(found) for each in unwanted)
        ):
            return Solution(found)
    return UNKNOWN


# The kinds with few values.


def boolean(_: Steps, words: Words) -> Found:
    left = [each for each in (False, True) if not is_listed(each, words.excluded())]
    return Solution(left[0]) if left else EMPTY


def null(_: Steps, words: Words) -> Found:
    return EMPTY if is_listed(None, words.excluded()) else Solution(None)


def is_listed(value: Any, listed: Iterable[Any]) -> bool:
    return any(is_same(value, each) for each in listed if kind_of(each) == kind_of(value))
