"""The scoring of quotes, as described in `docs/operate/connectors.md`.

`functions.sql` is the same function for PostgreSQL. Both use the same operations on IEEE 754
doubles in the same order, so that their results are identical.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import floor
from typing import Any, Final

from msgspec import Struct

Quote = Mapping[str, Any]

WEIGHTS: Final[Mapping[str, float]] = {
    "price": 0.30,
    "safety": 0.35,
    "speed": 0.15,
    "comfort": 0.20,
}
COMFORT: Final[Mapping[str, float]] = {
    "light": 40.0,
    "midsize": 60.0,
    "heavy": 80.0,
    "ultra-long-range": 100.0,
}
UNKNOWN: Final = 50.0
"""Points for a criterion for which the quote has no value."""
_BEST: Final = 100.0
_HIGHEST_RATING: Final = 5.0


class Preferences(Struct, frozen=True, kw_only=True):
    """The client's preferences that affect the scores; None for an absent one."""

    max_budget: float | None = None
    min_operator_rating: float | None = None
    aircraft_category: str | None = None
    amenities: tuple[str, ...] = ()


class QuoteField(Struct, frozen=True, kw_only=True):
    """The best values among the quotes, to which each quote is compared."""

    cheapest: float | None
    fastest: float | None


def calculate_quote_scores(
    quotes: Sequence[Quote], client_preferences: Mapping[str, Any], weights: Mapping[str, float]
) -> dict[str, Any]:
    """Scores from 0 to 100, totals and ranks, best first. `weights` sum to more than 0."""
    preferences = _preferences(client_preferences)
    field = QuoteField(
        cheapest=_least(quotes, "total_price_usd"), fastest=_least(quotes, "flight_minutes")
    )
    whole = weights["price"] + weights["safety"] + weights["speed"] + weights["comfort"]
    scores = [_score(quote, field, preferences, weights, whole) for quote in quotes]
    # Sorting is stable: equal scores keep the given order.
    scores.sort(key=lambda score: -score["total_score"])
    for index, score in enumerate(scores):
        is_tied = index > 0 and scores[index - 1]["total_score"] == score["total_score"]
        score["rank"] = scores[index - 1]["rank"] if is_tied else index + 1
    shares = {name: _rounded(weights[name] / whole, 10_000) for name in WEIGHTS}
    return {"scores": scores, "weights": shares}


def _score(
    quote: Quote,
    field: QuoteField,
    preferences: Preferences,
    weights: Mapping[str, float],
    whole: float,
) -> dict[str, Any]:
    found = {
        "price": _price(quote, field, preferences),
        "safety": _safety(quote, preferences),
        "speed": _speed(quote, field),
        "comfort": _comfort(quote, preferences),
    }
    points = {
        name: UNKNOWN if value is None else _rounded(value, 100) for name, value in found.items()
    }
    total = (
        points["price"] * weights["price"]
        + points["safety"] * weights["safety"]
        + points["speed"] * weights["speed"]
        + points["comfort"] * weights["comfort"]
    ) / whole
    return {
        "quote_id": quote.get("quote_id") or quote["id"],
        **{f"{name}_score": value for name, value in points.items()},
        "total_score": min(_rounded(total, 100), _BEST),
        "rank": 0,
        "missing": [name for name, value in found.items() if value is None],
    }


def _price(quote: Quote, field: QuoteField, preferences: Preferences) -> float | None:
    """The lowest price divided by this one. Above the budget, also times budget over price."""
    price, cheapest = _number(quote, "total_price_usd"), field.cheapest
    if price is None or cheapest is None:
        return None
    points = _BEST if price <= 0 else _BEST * cheapest / price
    budget = preferences.max_budget
    if budget is not None and price > budget:
        points = points * budget / price
    return points


def _safety(quote: Quote, preferences: Preferences) -> float | None:
    """The rating relative to the highest possible one, halved if below the client's minimum."""
    rating = _number(quote, "operator_rating")
    if rating is None:
        return None
    points = _BEST * rating / _HIGHEST_RATING
    least = preferences.min_operator_rating
    return points / 2 if least is not None and rating < least else points


def _speed(quote: Quote, field: QuoteField) -> float | None:
    """The shortest flight time divided by this one."""
    minutes, fastest = _number(quote, "flight_minutes"), field.fastest
    if minutes is None or fastest is None or minutes <= 0:
        return None
    return _BEST * fastest / minutes


def _comfort(quote: Quote, preferences: Preferences) -> float | None:
    """The points of the aircraft or, with requested amenities, the mean of both."""
    category = quote.get("aircraft_category")
    aircraft = COMFORT.get(category or "")
    if category is not None and category == preferences.aircraft_category:
        aircraft = _BEST
    if aircraft is None or not preferences.amenities:
        return aircraft
    on_board = set(quote.get("amenities") or ())
    share = len(on_board.intersection(preferences.amenities)) / len(preferences.amenities)
    return (aircraft + _BEST * share) / 2


def _preferences(given: Mapping[str, Any]) -> Preferences:
    return Preferences(
        max_budget=_number(given, "max_budget"),
        min_operator_rating=_number(given, "min_operator_rating"),
        aircraft_category=given.get("aircraft_category"),
        amenities=tuple(dict.fromkeys(given.get("amenities") or ())),
    )


def _least(quotes: Iterable[Quote], name: str) -> float | None:
    return min(
        (n for n in (_number(quote, name) for quote in quotes) if n is not None), default=None
    )


def _number(values: Mapping[str, Any], name: str) -> float | None:
    value = values.get(name)
    return None if value is None else float(value)


def _rounded(value: float, steps: float) -> float:
    """Round to 1/`steps`, half up, with `floor`, which is the same in every language."""
    return floor(value * steps + 0.5) / steps
