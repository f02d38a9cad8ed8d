"""Field functions of the connector `avinode`: what its field maps cannot say in one expression."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from statistics import fmean
from typing import Any

from gateway.contract.connector import mapping_function
from gateway.contract.fields.fieldmap import Unmappable, as_date, as_date_time
from gateway.errors import InvalidArguments

Lift = Mapping[str, Any]
"""One operator's place in a request for quotes; `answeredOn` once the operator has answered."""


@mapping_function
def days_in_order(days: Mapping[str, str]) -> dict[str, str]:
    """The first and the last day, as Avinode takes them.

    Raises `InvalidArguments` when the last is before the first: nothing could ever be found.
    """
    if days["to"] < days["from"]:
        raise InvalidArguments.at("/date_range/to", "order", "must not be before from")
    return {"from": days["from"], "to": days["to"]}


@mapping_function
def wishes(
    requirements: Sequence[str] | Mapping[str, str | float | bool] | None,
) -> list[str] | None:
    """Wishes as Avinode takes them: a list of texts. `{"wifi": true}` becomes `wifi: yes`."""
    if requirements is None:
        return None
    if isinstance(requirements, Mapping):
        return [f"{name}: {_requirement(value)}" for name, value in requirements.items()]
    return list(requirements)


def _requirement(value: str | float | bool) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


@mapping_function
def day_back(departure: str, back: str) -> str:
    """The day of the flight back, in UTC.

    Raises `InvalidArguments` when it departs before the flight there.
    """
    if _instant(back) < _instant(departure):
        raise InvalidArguments.at("/return_date", "order", "must not be before departure_date")
    return as_date(back)


@mapping_function
def minutes_between(start: str, end: str) -> int:
    """Whole minutes from one date-time to another; 0 when the clocks of the two disagree.

    Raises `Unmappable` for a date-time outside the years 1 to 9999.
    """
    return max((_instant(end) - _instant(start)) // timedelta(minutes=1), 0)


@mapping_function
def first_response_minutes(created_on: str, lifts: Sequence[Lift]) -> int | None:
    """Whole minutes until the first operator answered; None while none has."""
    return min(_response_minutes(created_on, lifts), default=None)


@mapping_function
def average_response_minutes(created_on: str, lifts: Sequence[Lift]) -> int | None:
    """Mean minutes until an operator answered, rounded; None while none has."""
    minutes = list(_response_minutes(created_on, lifts))
    return round(fmean(minutes)) if minutes else None


def _response_minutes(created_on: str, lifts: Sequence[Lift]) -> Iterator[int]:
    return (
        minutes_between(created_on, lift["answeredOn"])
        for lift in lifts
        if lift.get("answeredOn") is not None
    )


def _instant(text: str) -> datetime:
    try:
        return datetime.fromisoformat(as_date_time(text))
    except ValueError as error:
        raise Unmappable("", "is not a date-time of the years 1 to 9999") from error
