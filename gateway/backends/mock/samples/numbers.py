"""Makes numbers within bounds that are multiples of what the schema names."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, lcm
from random import Random
from typing import Any, Final

from gateway.backends.mock.samples.errors import NoSample

_SPAN: Final = 1000
"""How far from its nearest bound a number is at most."""
_CENT: Final = Fraction(1, 100)


def number(schema: Mapping[str, Any], random: Random, *, is_whole: bool) -> int | float:
    """A number of the schema, small and with few decimals where possible. Raises `NoSample`.

    `multipleOf` is a list here.
    """
    low, high = _bounds(schema)
    divisors = [_exact(each) for each in schema.get("multipleOf", ())]
    step = _step([*divisors, Fraction(1)] if is_whole else divisors, low, high)
    first = None if low is None else _first(schema, low, step)
    last = None if high is None else _last(schema, high, step)
    found = _chosen(first, last, max(1, floor(_SPAN / step)), random) * step
    if found.denominator == 1:
        return found.numerator
    try:
        return float(found)
    except OverflowError:
        raise NoSample("the number is too large") from None


def _chosen(first: int | None, last: int | None, span: int, random: Random) -> int:
    """A count of steps between `first` and `last`, small and positive where possible."""
    if first is None or first < 0:
        # Bounds are often only those of a type, such as 64-bit integers.
        first = (
            1
            if last is None or last > 0
            else last - span
            if first is None
            else max(first, last - span)
        )
    last = first + span if last is None else min(last, first + span)
    if first > last:
        raise NoSample("no number is within the bounds")
    return random.randint(first, last)


def _bounds(schema: Mapping[str, Any]) -> tuple[Fraction | None, Fraction | None]:
    lows = [_exact(schema[key]) for key in ("minimum", "exclusiveMinimum") if key in schema]
    highs = [_exact(schema[key]) for key in ("maximum", "exclusiveMaximum") if key in schema]
    return max(lows, default=None), min(highs, default=None)


def _first(schema: Mapping[str, Any], low: Fraction, step: Fraction) -> int:
    first = ceil(low / step)
    return first + (first * step == low and _is_exclusive(schema, "exclusiveMinimum", low))


def _last(schema: Mapping[str, Any], high: Fraction, step: Fraction) -> int:
    last = floor(high / step)
    return last - (last * step == high and _is_exclusive(schema, "exclusiveMaximum", high))


def _is_exclusive(schema: Mapping[str, Any], keyword: str, bound: Fraction) -> bool:
    return keyword in schema and _exact(schema[keyword]) == bound


def _step(divisors: Sequence[Fraction], low: Fraction | None, high: Fraction | None) -> Fraction:
    """The distance between the numbers that may be chosen."""
    if divisors:
        step = divisors[0]
        for other in divisors[1:]:
            step = _common(step, other)
        return step
    if low is None or high is None or high - low >= 4 * _CENT:
        return _CENT
    return (high - low) / 4 or abs(high) or Fraction(1)


def _common(one: Fraction, other: Fraction) -> Fraction:
    """The least common multiple."""
    both = lcm(one.numerator * other.denominator, other.numerator * one.denominator)
    return Fraction(both, one.denominator * other.denominator)


def _exact(value: float) -> Fraction:
    return Fraction(Decimal(str(value)))
