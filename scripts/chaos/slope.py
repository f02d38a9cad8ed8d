"""The slope of measured values over time, and how certain it is, if some of them are outliers."""

from collections.abc import Sequence
from math import sqrt
from statistics import median
from typing import Final

from msgspec import Struct

_NORMAL_95: Final = 1.96


class Slope(Struct, frozen=True):
    """A slope per unit of time, with its confidence interval of 95 %."""

    value: float
    low: float
    high: float


def theil_sen(points: Sequence[tuple[float, float]]) -> Slope:
    """The median of the slopes between all pairs of points, with Sen's interval.

    P. K. Sen, "Estimates of the regression coefficient based on Kendall's tau", 1968. Values that
    depend on the ones before make the interval too narrow. Raises `ValueError` for fewer than three
    points.
    """
    if len(points) < 3:
        raise ValueError("a slope needs three points or more")
    slopes = sorted(
        (later - earlier) / (end - begin)
        for number, (begin, earlier) in enumerate(points)
        for end, later in points[number + 1 :]
    )
    count = len(points)
    width = _NORMAL_95 * sqrt(count * (count - 1) * (2 * count + 5) / 18)
    last = len(slopes) - 1
    low = max(0, round((len(slopes) - width) / 2))
    high = min(last, round((len(slopes) + width) / 2))
    return Slope(median(slopes), slopes[low], slopes[high])
